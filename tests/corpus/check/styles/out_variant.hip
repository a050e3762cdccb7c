// vLLM's way: the result is an argument, a header's dispatch macro that is not here, guards from device_of().
#include <ATen/hip/HIPContext.h>
#include <c10/hip/HIPGuard.h>
#include <torch/all.h>
#include <torch/library.h>
#include "dispatch_utils.h"

namespace vllm {
template <typename scalar_t>
__global__ void rms_norm_kernel(scalar_t* __restrict__ out, const scalar_t* __restrict__ input, const int64_t input_stride,
                                const scalar_t* __restrict__ weight, const float epsilon, const int num_tokens,
                                const int hidden_size) {
  __shared__ float s_variance;
  float variance = 0.0f;
  for (int idx = threadIdx.x; idx < hidden_size; idx += blockDim.x) {
    const float x = (float)input[blockIdx.x * input_stride + idx];
    variance += x * x;
  }
  variance = block_sum(variance);
  if (threadIdx.x == 0) {
    s_variance = rsqrtf(variance / hidden_size + epsilon);
  }
  __syncthreads();
  for (int idx = threadIdx.x; idx < hidden_size; idx += blockDim.x) {
    out[blockIdx.x * hidden_size + idx] = (scalar_t)(input[blockIdx.x * input_stride + idx] * s_variance) * weight[idx];
  }
}
} // namespace vllm

void rms_norm(torch::Tensor& out, torch::Tensor& input, torch::Tensor& weight, double epsilon) {
  TORCH_CHECK(out.is_cuda() && input.is_cuda() && weight.is_cuda(), "rms_norm: tensors must be on a device");
  TORCH_CHECK(out.get_device() == input.get_device() && weight.get_device() == input.get_device());
  TORCH_CHECK(out.is_contiguous());
  TORCH_CHECK(input.stride(-1) == 1);
  TORCH_CHECK(weight.is_contiguous()); //! without DCU903
  TORCH_CHECK(!out.is_alias_of(input), "rms_norm: out must not be input"); //! without DCU906
  TORCH_CHECK(weight.size(0) == input.size(-1) && out.sizes() == input.sizes());
  TORCH_CHECK(weight.scalar_type() == input.scalar_type() && out.scalar_type() == input.scalar_type());
  int hidden_size = input.size(-1);
  int num_tokens = input.numel() / hidden_size;
  int64_t input_stride = input.stride(-2);
  if (num_tokens == 0) {
    return;
  }
  dim3 grid(num_tokens);
  dim3 block(std::min(hidden_size, 1024));
  const at::cuda::OptionalCUDAGuard device_guard(device_of(input));
  const hipStream_t stream = at::cuda::getCurrentCUDAStream();
  VLLM_DISPATCH_FLOATING_TYPES(input.scalar_type(), "rms_norm_kernel", [&] {
    vllm::rms_norm_kernel<scalar_t><<<grid, block, 0, stream>>>(out.data_ptr<scalar_t>(), input.data_ptr<scalar_t>(),
                                                                input_stride, weight.data_ptr<scalar_t>(), epsilon,
                                                                num_tokens, hidden_size);
    C10_HIP_KERNEL_LAUNCH_CHECK(); //! without DCU911
  });
}

TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) {
  ops.def("rms_norm(Tensor! out, Tensor input, Tensor weight, float epsilon) -> ()");
  ops.impl("rms_norm", torch::kCUDA, &rms_norm);
}
