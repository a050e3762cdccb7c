#include "kernels.h"
#include <torch/extension.h>

__global__ void add(const float* a, float* y, int64_t n) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] += a[i];
  }
}

void forward(at::Tensor out, const at::Tensor& a) {
  TORCH_CHECK(a.is_cuda() && a.device() == out.device());
  TORCH_CHECK(a.is_contiguous() && out.is_contiguous());
  TORCH_CHECK(a.sizes() == out.sizes());
  TORCH_CHECK(a.data_ptr() != out.data_ptr());
  const c10::DeviceGuard guard(a.device());
  if (a.numel() == 0) {
    return;
  }
  add<<<(a.numel() + 255) / 256, 256, 0, c10::hip::getCurrentHIPStream().stream()>>>(a.data_ptr<float>(), out.data_ptr<float>(), a.numel());
  C10_HIP_KERNEL_LAUNCH_CHECK();

}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("add", &forward);
}
