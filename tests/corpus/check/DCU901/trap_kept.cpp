#include <torch/extension.h>
__global__ void scale(const float* x, float* y, int64_t n);

at::Tensor scaled(const at::Tensor& x) {
  TORCH_CHECK(x.is_contiguous(), "x must be contiguous");
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
at::Tensor of_a_truth(const at::Tensor& x) {
  bool ok = x.is_cuda();
  ok = ok && x.dim() == 1;
  TORCH_CHECK(ok, "x must be a vector on a device");
  return scaled(x);
}
at::Tensor of_a_device(const at::Tensor& x) {
  const auto device = x.device();
  TORCH_CHECK(device.type() == at::kCUDA, "x must be on a device");
  return scaled(x);
}
at::Tensor of_a_count(const at::Tensor& x) {
  int faults = 0;
  faults += !x.is_cuda();
  if (faults > 0) {
    throw std::invalid_argument("x");
  }
  return scaled(x);
}

PYBIND11_MODULE(extension, m) {
  m.def("of_a_truth", &of_a_truth);
  m.def("of_a_device", &of_a_device);
  m.def("of_a_count", &of_a_count);
}
