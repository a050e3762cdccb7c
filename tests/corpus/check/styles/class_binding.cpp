// A class that is bound: kernels lie in another file, whose launcher returns an error.
#include <c10/hip/HIPGuard.h>
#include <c10/hip/HIPStream.h>
#include <torch/extension.h>

hipError_t launch_gemm(const void* a, const void* b, void* c, int m, int n, int k, hipStream_t stream);

class Gemm {
 public:
  explicit Gemm(int64_t limit) : limit_(limit) {}

  at::Tensor run(const at::Tensor& a, const at::Tensor& b) const {
    check(a);
    check(b);
    TORCH_CHECK(a.device() == b.device(), "devices differ"); //! without DCU905
    TORCH_CHECK(a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(0), "shapes do not fit");
    TORCH_CHECK(a.size(0) < limit_ && b.size(1) < limit_ && a.size(1) < limit_, "too large");
    const c10::DeviceGuard guard(a.device()); //! without DCU913
    at::Tensor c = at::empty({a.size(0), b.size(1)}, a.options());
    if (c.numel() == 0) { //! or DCU912 if (c.defined()) {
      return c;
    }
    const auto m = static_cast<int>(a.size(0));
    const auto n = static_cast<int>(b.size(1));
    const auto k = static_cast<int>(a.size(1));
    C10_HIP_CHECK(launch_gemm(a.const_data_ptr(), b.const_data_ptr(), c.mutable_data_ptr(), m, n, k,
                              c10::hip::getCurrentHIPStream().stream()));
    return c;
  }

 private:
  static void check(const at::Tensor& x) {
    TORCH_CHECK(x.is_cuda(), "a device is needed"); //! without DCU901
    TORCH_CHECK(x.scalar_type() == at::kHalf, "float16 is needed"); //! without DCU902
    TORCH_CHECK(x.is_contiguous(), "contiguous memory is needed"); //! without DCU903
  }
  int64_t limit_;
};

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  pybind11::class_<Gemm>(m, "Gemm").def(pybind11::init<int64_t>()).def("run", &Gemm::run);
}
