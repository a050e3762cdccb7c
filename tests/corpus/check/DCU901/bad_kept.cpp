#include <torch/extension.h>
__global__ void add(const float* x, float* y, int64_t n);

at::Tensor forward(const at::Tensor& x, at::Tensor y) { //! DCU901 DCU901
  const auto device = x.device();
  TORCH_CHECK(device == y.device(), "x and y must be on one device");
  TORCH_CHECK(x.is_contiguous() && y.is_contiguous() && x.sizes() == y.sizes() && !x.is_alias_of(y));
  const c10::DeviceGuard guard(device);
  if (x.numel() == 0) {
    return y;
  }
  const int64_t blocks = (x.numel() + 255) / 256;
  add<<<blocks, 256, 0, c10::hip::getCurrentHIPStream().stream()>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  C10_HIP_KERNEL_LAUNCH_CHECK();
  return y;
}

PYBIND11_MODULE(extension, m) {
  m.def("forward", &forward);
}
