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
  void* arguments[] = {y.data_ptr()};
  TORCH_CHECK(x.data_ptr<float>() != nullptr);
  hipLaunchCooperativeKernel(scale, dim3(1), dim3(256), arguments, 0, c10::hip::getCurrentHIPStream().stream()); //! DCU911
  return y;
}

TORCH_LIBRARY(ops, m) {
  m.def("scale(Tensor x) -> Tensor", &forward);
}
