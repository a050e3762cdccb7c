#include "kernels.h"
#include <torch/extension.h>

__global__ void add(const float* a, const float* b, float* y, int64_t n) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = a[i] + b[i];
  }
}

at::Tensor forward(const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.is_cuda() && b.is_cuda());
  TORCH_CHECK(a.is_contiguous() && b.is_contiguous());
  TORCH_CHECK(a.device() == b.device());
  TORCH_CHECK(a.sizes() == b.sizes());
  const c10::DeviceGuard guard(a.device());
  at::Tensor y = at::empty_like(a);
  if (a.numel() == 0) {
    return y;
  }
  add<<<(a.numel() + 255) / 256, 256, 0, c10::hip::getCurrentHIPStream().stream()>>>(a.data_ptr<float>(), b.data_ptr<float>(), y.data_ptr<float>(), a.numel());
  C10_HIP_KERNEL_LAUNCH_CHECK();
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("add", &forward);
}
