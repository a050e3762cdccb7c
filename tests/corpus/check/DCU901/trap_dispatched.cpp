#include <torch/extension.h>
__global__ void scale(const float* x, float* y, int64_t n);

void launch(const float* x, float* y, int64_t n, void* stream);
at::Tensor forward(const at::Tensor& x) {
  TORCH_CHECK(x.is_contiguous());
  const c10::DeviceGuard guard(x.device());
  auto y = at::empty_like(x);
  if (x.numel() > 0) {
    scale<<<(x.numel() + 255) / 256, 256, 0, c10::hip::getCurrentHIPStream().stream()>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    C10_HIP_KERNEL_LAUNCH_CHECK();
  }
  return y;
}
TORCH_LIBRARY_IMPL(ops, CUDA, m) {
  m.impl("scale", TORCH_FN(forward));
}
