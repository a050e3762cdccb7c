#include <torch/extension.h>
__global__ void scale(const float* x, float* y, int64_t n);

struct Layout {
  int64_t step;
};
Layout layout_of(const at::Tensor& t) {
  return {t.stride(0)};
}

at::Tensor forward(const at::Tensor& x) {
  TORCH_CHECK(x.is_cuda());
  const c10::DeviceGuard guard(x.device());
  at::Tensor y = at::empty_like(x);
  if (x.numel() == 0) {
    return y;
  }
  const Layout layout = layout_of(x);
  scale<<<1, 256, 0, c10::hip::getCurrentHIPStream().stream()>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  C10_HIP_KERNEL_LAUNCH_CHECK();
  return y;
}

TORCH_LIBRARY(ops, m) {
  m.def("scale(Tensor x) -> Tensor", &forward);
}
