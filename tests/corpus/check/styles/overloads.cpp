// Casts to choose an overload, wrap_pybind_function, a template's instance.
#include <c10/hip/HIPGuard.h>
#include <c10/hip/HIPStream.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/extension.h>

void launch_fill(float* data, float value, int64_t count, hipStream_t stream);

static void require_plain(const at::Tensor& x) {
  TORCH_CHECK_VALUE(x.is_cuda(), "fill: not on a device"); //! without DCU901
  TORCH_CHECK_VALUE(x.is_contiguous(), "fill: not contiguous"); //! without DCU903
}

at::Tensor& fill_(at::Tensor& x, double value) {
  require_plain(x);
  at::hip::HIPGuard guard(x.get_device());
  if (x.numel() > 0) {
    launch_fill(x.data_ptr<float>(), value, x.numel(), at::hip::getCurrentHIPStream());
  }
  return x;
}

at::Tensor& fill_(at::Tensor& x) {
  return fill_(x, 0.0);
}

template <typename T> at::Tensor& fill_with(at::Tensor& x, T value) {
  require_plain(x);
  at::hip::HIPGuard guard(x.get_device());
  if (x.numel() > 0) {
    launch_fill(x.data_ptr<float>(), static_cast<float>(value), x.numel(), at::hip::getCurrentHIPStream());
  }
  return x;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("fill_", static_cast<at::Tensor& (*)(at::Tensor&, double)>(&fill_));
  m.def("zero_", py::overload_cast<at::Tensor&>(&fill_));
  m.def("fill_int_", &fill_with<int64_t>);
  m.def("fill_checked_", torch::wrap_pybind_function(fill_with<double>));
}
