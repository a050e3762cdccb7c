#include <torch/extension.h>
#include "kernels.h"

// The tensors are checked by what is handed to an algorithm, in a loop over a list, or by a helper that takes any number.
__global__ void add(const float* x, const float* w, float* y, int64_t n);

static void check_one(const at::Tensor& t) {
  TORCH_CHECK(t.is_cuda());
  TORCH_CHECK(t.scalar_type() == at::kFloat);
  TORCH_CHECK(t.is_contiguous());
}
template <class... T> void check_all(const T&... tensors) {
  (check_one(tensors), ...);
}
static at::Tensor run(const at::Tensor& x, const at::Tensor& w) {
  TORCH_CHECK(x.device() == w.device());
  TORCH_CHECK(x.sizes() == w.sizes());
  const c10::DeviceGuard guard(x.device());
  at::Tensor y = at::empty_like(x);
  if (x.numel() == 0) {
    return y;
  }
  add<<<(x.numel() + 255) / 256, 256, 0, c10::hip::getCurrentHIPStream().stream()>>>(x.data_ptr<float>(), w.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  C10_HIP_KERNEL_LAUNCH_CHECK();
  return y;
}
at::Tensor by_another(const at::Tensor& x, const at::Tensor& w) { //! DCU901 DCU903 DCU901 DCU903
  const auto print = [](const at::Tensor& t) { std::cout << t.sizes(); };
  print(x);
  std::for_each(&w, &w + 1, print);
  return run(x, w);
}
at::Tensor by_one(const at::Tensor& x, const at::Tensor& w) { //! DCU903
  check_all(x);
  return run(x, w);
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("another", &by_another);
  m.def("one", &by_one);
}
