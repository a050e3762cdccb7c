// Checks in a class that is made first, a launch in a switch of dtypes without torch's macros, streams kept in a variable.
#include <ATen/hip/HIPContext.h>
#include <c10/hip/HIPGuard.h>
#include <torch/extension.h>

#define HIP_CALL(expression)                                                              \
  do {                                                                                    \
    const hipError_t status_ = (expression);                                              \
    TORCH_CHECK(status_ == hipSuccess, #expression ": ", hipGetErrorString(status_));     \
  } while (0)

struct Input {
  explicit Input(const torch::Tensor& tensor) : tensor_(tensor) {
    TORCH_CHECK(tensor.is_cuda(), "a device tensor is needed"); //! without DCU901
    TORCH_CHECK(tensor.is_contiguous(), "a contiguous tensor is needed"); //! without DCU903
    TORCH_CHECK(tensor.numel() < (int64_t{1} << 31), "too large");
  }
  const torch::Tensor& tensor_;
};

template <class T> __global__ void relu_kernel(const T* x, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = x[i] > T(0) ? x[i] : T(0);
  }
}

template <class T> void relu_launch(const torch::Tensor& x, torch::Tensor& y, hipStream_t stream) {
  const int n = static_cast<int>(x.numel());
  const unsigned blocks = (n + 255) / 256;
  relu_kernel<T><<<blocks, 256, 0, stream>>>(static_cast<const T*>(x.data_ptr()), static_cast<T*>(y.data_ptr()), n);
  HIP_CALL(hipGetLastError()); //! without DCU911
}

torch::Tensor relu(const torch::Tensor& x) {
  const Input input(x);
  const at::DeviceGuard on(x.device()); //! without DCU913
  torch::Tensor y = torch::empty(x.sizes(), x.options());
  if (y.numel() < 1) {
    return y;
  }
  const auto stream = at::hip::getCurrentHIPStream(x.device().index());
  switch (x.scalar_type()) {
  case torch::kFloat:
    relu_launch<float>(x, y, stream);
    break;
  case torch::kHalf:
    relu_launch<__half>(x, y, stream);
    break;
  default:
    TORCH_CHECK(false, "relu: unsupported dtype ", x.scalar_type());
  }
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("relu", relu, py::call_guard<py::gil_scoped_release>());
}
