// Checks of several tensors at once: a variadic macro, conditions kept in variables, references in a list.
#include <torch/extension.h>
#define CHECK_ALL(...) check_all_impl({__VA_ARGS__})
static void check_all_impl(std::initializer_list<at::Tensor> list) {
  for (auto t : list) {
    TORCH_CHECK(t.is_cuda()); //! without DCU901
    TORCH_CHECK(t.is_contiguous()); //! without DCU903
    TORCH_CHECK(t.scalar_type() == at::kFloat);
    TORCH_CHECK(t.get_device() == list.begin()->get_device());
  }
}
template <typename T> struct Launcher {
  static void go(const T* a, T* b, int64_t n, hipStream_t s);
};
__global__ void k(const float* a, float* b, int64_t n) {
  for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) b[i] = a[i];
}
template <> void Launcher<float>::go(const float* a, float* b, int64_t n, hipStream_t s) {
  k<<<64, 256, 0, s>>>(a, b, n);
  TORCH_CHECK(hipGetLastError() == hipSuccess);
}
torch::Tensor copy(torch::Tensor a, torch::Tensor b) {
  CHECK_ALL(a, b);
  TORCH_CHECK(a.sizes() == b.sizes());
  TORCH_CHECK(!a.is_alias_of(b)); //! without DCU906
  if (a.numel() == 0) return b;
  c10::DeviceGuard g(a.device());
  Launcher<float>::go(a.data_ptr<float>(), b.data_ptr<float>(), a.numel(), c10::hip::getCurrentHIPStream());
  return b;
}
torch::Tensor copy2(torch::Tensor a, torch::Tensor b) {
  const bool ok = a.is_cuda() && b.is_cuda() && a.is_contiguous() && b.is_contiguous() && a.device() == b.device();
  const bool fits = a.scalar_type() == at::kFloat && b.scalar_type() == at::kFloat && a.sizes() == b.sizes() && a.data_ptr() != b.data_ptr();
  TORCH_CHECK(ok && fits, "no");
  const auto n = a.numel();
  if (n <= 0) return b;
  c10::DeviceGuard g(a.device());
  k<<<64, 256, 0, c10::hip::getCurrentHIPStream()>>>(a.data_ptr<float>(), b.data_ptr<float>(), n);
  C10_HIP_KERNEL_LAUNCH_CHECK();
  return b;
}
torch::Tensor copy3(torch::Tensor a, torch::Tensor b) {
  for (auto& t : {std::ref(a), std::ref(b)}) {
    if (!t.get().is_cuda()) AT_ERROR("cuda");
    if (!t.get().is_contiguous()) AT_ERROR("contiguous"); //! without DCU903
  }
  at::checkAllSameGPU("copy3", {at::TensorArg(a, "a", 0), at::TensorArg(b, "b", 1)});
  TORCH_CHECK_NOT_IMPLEMENTED(a.sizes() == b.sizes(), "sizes");
  TORCH_CHECK(!at::is_same_tensor(a, b));
  const at::cuda::OptionalCUDAGuard g(at::device_of(a));
  if (const auto n = a.numel(); n != 0) {
    const auto stream = at::cuda::getCurrentCUDAStream();
    AT_DISPATCH_SWITCH(a.scalar_type(), "copy3", AT_DISPATCH_CASE(at::kFloat, [&] {
      k<<<64, 256, 0, stream>>>(a.data_ptr<scalar_t>(), b.data_ptr<scalar_t>(), n);
    }));
    AT_CUDA_CHECK(cudaGetLastError());
  }
  return b;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("copy", &copy).def("copy2", copy2);
  m.def("copy3", [](torch::Tensor a, torch::Tensor b) { return copy3(std::move(a), b); });
}
