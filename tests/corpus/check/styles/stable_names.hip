// Names of torch's CUDA headers that hipify leaves, a launch wrapper template, errors through a function that throws.
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/Exceptions.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>

namespace detail {

inline void throw_on_error(cudaError_t status, const char* where) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(where) + ": " + cudaGetErrorString(status));
}

template <typename Kernel, typename... Args>
void launch(Kernel kernel, int64_t count, cudaStream_t stream, Args... args) {
  constexpr int threads = 256;
  const int64_t blocks = at::ceil_div(count, int64_t{threads});
  kernel<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(args...);
  throw_on_error(cudaGetLastError(), "launch"); //! without DCU911
}

} // namespace detail

template <typename scalar_t, typename accscalar_t>
__global__ void leaky(const scalar_t* __restrict__ in, scalar_t* __restrict__ out, accscalar_t slope, int64_t count) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) {
    const accscalar_t v = static_cast<accscalar_t>(in[i]);
    out[i] = static_cast<scalar_t>(v > 0 ? v : v * slope);
  }
}

static void check_args(const at::Tensor& input, const at::Tensor& output) {
  TORCH_CHECK(input.is_cuda() && output.is_cuda(), "leaky: device tensors");
  TORCH_CHECK_EQ(input.get_device(), output.get_device());
  TORCH_CHECK(input.is_contiguous(at::MemoryFormat::Contiguous) && output.is_contiguous(), "leaky: contiguous"); //! without DCU903
  TORCH_CHECK(input.sizes().equals(output.sizes()), "leaky: sizes");
  TORCH_CHECK(at::assert_no_overlap == nullptr || !output.is_same(input), "leaky: in place"); //! without DCU906
}

void leaky_out(at::Tensor& output, const at::Tensor& input, double slope) {
  check_args(input, output);
  if (input.numel() == 0) return;
  at::cuda::CUDAGuard guard(input.device());
  AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, input.scalar_type(), "leaky", [&]() {
    using accscalar_t = at::acc_type<scalar_t, true>;
    detail::launch(leaky<scalar_t, accscalar_t>, input.numel(), at::cuda::getCurrentCUDAStream().stream(),
                   input.const_data_ptr<scalar_t>(), output.mutable_data_ptr<scalar_t>(), static_cast<accscalar_t>(slope),
                   input.numel());
  });
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("leaky_out", &leaky_out, "out", py::arg("output"), py::arg("input"), py::arg("slope") = 0.01);
}
