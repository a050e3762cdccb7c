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
  const int64_t n = x.numel();
  const int blocks = (x.numel() + 255) / 256; //! DCU915
  const unsigned rows = static_cast<unsigned>(x.numel() / 64); //! DCU915
  const int share = 4096 / x.numel();
  scale<<<blocks, 256, 0, c10::hip::getCurrentHIPStream().stream()>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  C10_HIP_KERNEL_LAUNCH_CHECK();
  return y;
}

TORCH_LIBRARY(ops, m) {
  m.def("scale(Tensor x) -> Tensor", &forward);
}
