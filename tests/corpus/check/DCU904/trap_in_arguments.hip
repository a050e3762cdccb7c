#include <torch/extension.h>
__global__ void add(const float* a, const float* b, float* y, int64_t n, int64_t m) {
  for (int64_t i = threadIdx.x; i < n && i < m; i += blockDim.x) {
    y[i] = a[i] + b[i];
  }
}
at::Tensor forward(const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.is_cuda() && a.is_contiguous() && b.is_contiguous() && a.device() == b.device());
  const c10::DeviceGuard guard(a.device());
  at::Tensor y = at::empty_like(a);
  if (y.numel() > 0) {
    add<<<1, 256, 0, c10::hip::getCurrentHIPStream()>>>(a.data_ptr<float>(), b.data_ptr<float>(), y.data_ptr<float>(), a.numel(), b.numel());
    C10_HIP_KERNEL_LAUNCH_CHECK();
  }
  return y;
}
PYBIND11_MODULE(extension, m) {
  m.def("add", &forward);
}
