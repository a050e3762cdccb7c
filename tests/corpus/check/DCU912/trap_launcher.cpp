#include <torch/extension.h>
__global__ void scale(const float* x, float* y, int64_t n);

void launch(const float* x, float* y, int64_t n, hipStream_t stream) {
  if (!n) {
    return;
  }
  scale<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
  TORCH_CHECK(hipGetLastError() == hipSuccess);
}

at::Tensor forward(const at::Tensor& x) {
  TORCH_CHECK(x.is_cuda(), "x must be on a device");
  TORCH_CHECK(x.is_contiguous(), "x must be contiguous");
  const c10::DeviceGuard guard(x.device());
  at::Tensor y = at::empty_like(x);
  launch(x.data_ptr<float>(), y.data_ptr<float>(), x.numel(), c10::hip::getCurrentHIPStream().stream());
  return y;
}

TORCH_LIBRARY(ops, m) {
  m.def("scale(Tensor x) -> Tensor", &forward);
}
