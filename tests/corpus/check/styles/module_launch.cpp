// A kernel from a module: hipModuleLaunchKernel through a macro that throws.
#include <c10/hip/HIPGuard.h>
#include <c10/hip/HIPStream.h>
#include <hip/hip_runtime.h>
#include <torch/extension.h>

#define HIP_DRIVER_CHECK(call)                                                  \
  do {                                                                          \
    hipError_t result = (call);                                                 \
    if (result != hipSuccess) {                                                 \
      throw std::runtime_error(std::string(#call) + hipGetErrorString(result)); \
    }                                                                           \
  } while (false)

static hipFunction_t function_of(const char* name);

at::Tensor negate(const at::Tensor& x) {
  TORCH_CHECK(x.is_cuda(), "negate: device");
  TORCH_CHECK(x.scalar_type() == at::kInt, "negate: int32"); //! without DCU902
  TORCH_CHECK(x.is_contiguous(), "negate: contiguous"); //! without DCU903
  c10::OptionalDeviceGuard device_guard(at::device_of(x));
  auto y = at::empty_like(x);
  int64_t n = x.numel();
  if (n == 0) {
    return y;
  }
  void* in = x.data_ptr();
  void* out = y.data_ptr();
  void* args[] = {&in, &out, &n};
  const auto stream = c10::hip::getCurrentHIPStream();
  HIP_DRIVER_CHECK(hipModuleLaunchKernel(function_of("negate"), (n + 255) / 256, 1, 1, 256, 1, 1, 0, stream, args, nullptr)); //! or DCU910 HIP_DRIVER_CHECK(hipModuleLaunchKernel(function_of("negate"), (n + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr, args, nullptr));
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("negate", &negate);
}
