#include <torch/extension.h>
void scale_launch(const float* x, float* y, int64_t n, hipStream_t stream);

static at::Tensor prepared(const at::Tensor& x) {
  TORCH_CHECK(x.is_cuda() && x.is_contiguous());
  return at::empty_like(x);
}
at::Tensor direct(const at::Tensor& x) {
  at::Tensor y = prepared(x);
  const c10::DeviceGuard guard(x.device());
  if (y.numel()) {
    scale_launch(x.data_ptr<float>(), y.data_ptr<float>(), x.numel(), c10::hip::getCurrentHIPStream());
  }
  return y;
}
at::Tensor counted(const at::Tensor& x) {
  at::Tensor y = prepared(x);
  const c10::DeviceGuard guard(x.device());
  const auto n = x.numel();
  if (n && x.dim()) {
    scale_launch(x.data_ptr<float>(), y.data_ptr<float>(), n, c10::hip::getCurrentHIPStream());
  }
  return y;
}
PYBIND11_MODULE(extension, m) {
  m.def("direct", &direct);
  m.def("counted", &counted);
}
