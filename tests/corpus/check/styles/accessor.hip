// LLTM with packed accessors: sizes and strides go along, contiguity is not needed.
#include <ATen/hip/HIPContext.h>
#include <c10/hip/HIPGuard.h>
#include <torch/extension.h>
#include <vector>

template <typename scalar_t> __device__ __forceinline__ scalar_t sigmoid(scalar_t z) {
  return 1.0 / (1.0 + exp(-z));
}

template <typename scalar_t>
__global__ void lltm_forward_kernel(const torch::PackedTensorAccessor32<scalar_t, 3, torch::RestrictPtrTraits> gates,
                                    const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> old_cell,
                                    torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> new_h) {
  const int n = blockIdx.y;
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < gates.size(2)) {
    new_h[n][c] = sigmoid(gates[n][0][c]) * old_cell[n][c];
  }
}

static inline void check_input(const torch::Tensor& x, c10::string_view name) {
  if (!x.is_cuda()) { //! or DCU901 if (false) {
    throw std::invalid_argument(std::string(name) + " must be on the device");
  }
}

std::vector<torch::Tensor> lltm_cuda_forward(torch::Tensor input, torch::Tensor weights, torch::Tensor bias,
                                             torch::Tensor old_h, torch::Tensor old_cell) {
  const c10::cuda::CUDAGuard guard(input.device()); //! without DCU913
  auto X = torch::cat({old_h, input}, /*dim=*/1);
  auto gate_weights = torch::addmm(bias, X, weights.transpose(0, 1));
  const auto batch_size = old_cell.size(0);
  const auto state_size = old_cell.size(1);
  auto gates = gate_weights.reshape({batch_size, 3, state_size});
  auto new_h = torch::zeros_like(old_cell);
  if (new_h.numel() == 0) {
    return {new_h};
  }
  const int threads = 1024;
  const dim3 blocks((state_size + threads - 1) / threads, batch_size);
  AT_DISPATCH_FLOATING_TYPES(gates.type(), "lltm_forward_cuda", ([&] {
    lltm_forward_kernel<scalar_t><<<blocks, threads, 0, at::cuda::getCurrentCUDAStream()>>>(
        gates.packed_accessor32<scalar_t, 3, torch::RestrictPtrTraits>(),
        old_cell.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
        new_h.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>());
    C10_CUDA_KERNEL_LAUNCH_CHECK(); //! without DCU911
  }));
  return {new_h};
}

std::vector<torch::Tensor> lltm_forward(torch::Tensor input, torch::Tensor weights, torch::Tensor bias, torch::Tensor old_h,
                                        torch::Tensor old_cell) {
  const std::vector<std::pair<torch::Tensor, c10::string_view>> all = {
      {input, "input"}, {weights, "weights"}, {bias, "bias"}, {old_h, "old_h"}, {old_cell, "old_cell"}};
  for (const auto& one : {input, weights, bias, old_h, old_cell}) {
    check_input(one, "argument");
    TORCH_CHECK(one.device() == input.device());
  }
  return lltm_cuda_forward(input, weights, bias, old_h, old_cell);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &lltm_forward, "LLTM forward (HIP)");
}
