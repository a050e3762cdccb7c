#include <torch/extension.h>
__global__ void scale(const float* x, float* y, int64_t n);
template <class T, int N> __global__ void widened(const T* x, int64_t n);

at::Tensor forward(const at::Tensor& x) {
  TORCH_CHECK(x.is_cuda(), "x must be on a device");
  TORCH_CHECK(x.is_contiguous(), "x must be contiguous");
  const c10::DeviceGuard guard(x.device());
  at::Tensor y = at::empty_like(x);
  if (x.numel() == 0) {
    return y;
  }
  hipLaunchKernelGGL(HIP_KERNEL_NAME(widened<float, 4>), dim3(1), dim3(256), 0, nullptr, x.data_ptr<float>(), x.numel()); //! DCU910
  C10_HIP_KERNEL_LAUNCH_CHECK();
  return y;
}

TORCH_LIBRARY(ops, m) {
  m.def("scale(Tensor x) -> Tensor", &forward);
}
