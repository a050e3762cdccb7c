// A lambda that is bound, a helper template that checks a pack of tensors.
#include <torch/extension.h>
#include <ATen/hip/HIPContext.h>
#include <c10/hip/HIPGuard.h>

namespace {

void check_one(const torch::Tensor& t, const char* name) {
  TORCH_CHECK(t.is_cuda(), name, " must be on the device"); //! without DCU901
  TORCH_CHECK(t.is_contiguous(), name, " must be contiguous"); //! without DCU903
  TORCH_CHECK(t.scalar_type() == torch::kFloat32, name, " must be float32");
}

template <typename... Tensors> void check_all(const Tensors&... tensors) {
  (check_one(tensors, "tensor"), ...);
}

__global__ void axpy(float a, const float* x, float* y, int64_t n) {
  for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < n; i += int64_t(gridDim.x) * blockDim.x) {
    y[i] += a * x[i];
  }
}

void launch_axpy(float a, const float* x, float* y, int64_t n, hipStream_t stream) {
  const int64_t blocks = std::min<int64_t>((n + 255) / 256, 65535);
  hipLaunchKernelGGL(axpy, dim3(blocks), dim3(256), 0, stream, a, x, y, n); //! or DCU910 hipLaunchKernelGGL(axpy, dim3(blocks), dim3(256), 0, 0, a, x, y, n);
  C10_HIP_CHECK(hipGetLastError()); //! without DCU911
}

} // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def(
      "axpy_",
      [](double a, const torch::Tensor& x, torch::Tensor& y) {
        check_all(x, y);
        TORCH_CHECK(x.sizes() == y.sizes(), "sizes differ");
        TORCH_CHECK(x.device() == y.device(), "devices differ");
        TORCH_CHECK(x.data_ptr() != y.data_ptr(), "x and y must not be the same"); //! without DCU906
        const c10::hip::HIPGuardMasqueradingAsCUDA guard(x.device()); //! without DCU913
        if (x.numel() != 0) {
          launch_axpy(static_cast<float>(a), x.data_ptr<float>(), y.data_ptr<float>(), x.numel(),
                      c10::hip::getCurrentHIPStream().stream());
        }
        return y;
      },
      py::arg("a"), py::arg("x"), py::arg("y"));
}
