#include <torch/extension.h>
__global__ void scale(const float* x, float* y, int64_t n);
#define CHECK_INPUT(t)                           \
  do {                                           \
    TORCH_CHECK((t).is_cuda(), #t);              \
    TORCH_CHECK(t.is_contiguous(), "it is ", #t, '#'); \
  } while (0)

at::Tensor forward(const at::Tensor& x) {
  CHECK_INPUT(x);
  const c10::DeviceGuard guard(x.device());
  at::Tensor y = at::empty_like(x);
  if (x.numel() == 0) {
    return y;
  }
  const int64_t blocks = (x.numel() + 255) / 256;
  scale<<<blocks, 256, 0, c10::hip::getCurrentHIPStream().stream()>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  C10_HIP_KERNEL_LAUNCH_CHECK();
  return y;
}

TORCH_LIBRARY(ops, m) {
  m.def("scale(Tensor x) -> Tensor", &forward);
}
