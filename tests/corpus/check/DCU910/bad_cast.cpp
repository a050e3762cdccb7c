#include <torch/extension.h>
__global__ void scale(const float* x, float* y, int64_t n);

at::Tensor forward(const at::Tensor& x) {
  TORCH_CHECK(x.is_cuda(), "x must be on a device");
  TORCH_CHECK(x.is_contiguous(), "x must be contiguous");
  const c10::DeviceGuard guard(x.device());
  at::Tensor y = at::empty_like(x);
  if (x.numel() == 0) {
    return y;
  }
  scale<<<1, 256, 0, static_cast<hipStream_t>(nullptr)>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel()); //! DCU910
  C10_HIP_KERNEL_LAUNCH_CHECK();
  return y;
}

TORCH_LIBRARY(ops, m) {
  m.def("scale(Tensor x) -> Tensor", &forward);
}
