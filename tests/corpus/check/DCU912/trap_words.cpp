#include <torch/extension.h>
__global__ void scale(const float* x, float* y, int64_t n);

at::Tensor forward(const at::Tensor& x) {
  TORCH_CHECK(x.is_cuda() and x.is_contiguous(), "x must be on a device and contiguous");
  const c10::DeviceGuard guard(x.device());
  at::Tensor y = at::empty_like(x);
  if (not x.numel() or not x.dim()) {
    return y;
  }
  scale<<<x.numel() / 256 + 1, 256, 0, c10::hip::getCurrentHIPStream().stream()>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  C10_HIP_KERNEL_LAUNCH_CHECK();
  return y;
}

TORCH_LIBRARY(ops, m) {
  m.def("scale(Tensor x) -> Tensor", &forward);
}
