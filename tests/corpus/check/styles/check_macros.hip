// The extension tutorial's macros, AT_DISPATCH, a launcher in a lambda without parameters.
#include <torch/extension.h>
#include <ATen/hip/HIPContext.h>
#include <c10/hip/HIPGuard.h>

#define CHECK_CUDA(x) TORCH_CHECK(x.device().is_cuda(), #x " must be a CUDA tensor") //! or DCU901 #define CHECK_CUDA(x)
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous") //! or DCU903 #define CHECK_CONTIGUOUS(x)
#define CHECK_INPUT(x) CHECK_CUDA(x); CHECK_CONTIGUOUS(x)

template <typename scalar_t>
__global__ void swish_kernel(const scalar_t* __restrict__ x, scalar_t* __restrict__ y, const int64_t size) {
  const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index < size) { //! or DCU916 {
    y[index] = x[index] / (1.0 + exp(-x[index]));
  }
}

torch::Tensor swish_cuda(torch::Tensor x) {
  const at::cuda::OptionalCUDAGuard device_guard(device_of(x)); //! without DCU913
  auto output = torch::empty_like(x);
  const auto size = x.numel();
  if (size == 0) return output; //! without DCU912
  const int threads = 256;
  const dim3 blocks((size + threads - 1) / threads);
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "swish", ([&] {
    swish_kernel<scalar_t><<<blocks, threads, 0, at::hip::getCurrentHIPStream()>>>( //! or DCU910 swish_kernel<scalar_t><<<blocks, threads>>>(
        x.data_ptr<scalar_t>(), output.data_ptr<scalar_t>(), size);
  }));
  AT_CUDA_CHECK(hipGetLastError()); //! without DCU911
  return output;
}

torch::Tensor swish_forward(torch::Tensor x) {
  CHECK_INPUT(x); //! without DCU901 DCU903
  return swish_cuda(x);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &swish_forward, "swish forward (HIP)");
}
