#include "kernels.h"
#include <torch/extension.h>

// Pointers go to the kernel in a struct, behind launchers.
struct AddCall {
  const void* a;
  void* y;
  int64_t count;
};
__device__ int found;
template <class T, bool flat> __global__ void add_kernel(AddCall call) {
  const T* const a = static_cast<const T*>(call.a);
  const T* const y = static_cast<const T*>(call.y);
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < call.count) {
    atomicAdd(&found, y[i] == a[i] ? 1 : 0);
  }
}
template <class T> int launch(const AddCall& call, void* stream) {
  const auto kernel = call.count == 1 ? add_kernel<T, true> : add_kernel<T, false>;
  hipLaunchKernelGGL(kernel, dim3((call.count + 255) / 256), dim3(256), 0, static_cast<hipStream_t>(stream), call);
  return hipGetLastError();
}
int add_float(const AddCall* call, void* stream) {
  return launch<float>(*call, stream);
}

void forward(const at::Tensor& out, const at::Tensor& a) {
  TORCH_CHECK(a.is_cuda() && a.device() == out.device());
  TORCH_CHECK(a.is_contiguous() && out.is_contiguous());
  TORCH_CHECK(a.sizes() == out.sizes());
  TORCH_CHECK(a.scalar_type() == at::kFloat && out.scalar_type() == a.scalar_type());
  const c10::DeviceGuard guard(a.device());
  if (a.numel() == 0) {
    return;
  }
  AddCall call{a.data_ptr(), out.data_ptr(), a.numel()};
  TORCH_CHECK(add_float(&call, c10::hip::getCurrentHIPStream().stream()) == 0);
}

void assigned(const at::Tensor& out, const at::Tensor& a) {
  TORCH_CHECK(a.is_cuda() && a.device() == out.device());
  TORCH_CHECK(a.is_contiguous() && out.is_contiguous());
  TORCH_CHECK(a.sizes() == out.sizes());
  TORCH_CHECK(a.scalar_type() == at::kFloat && out.scalar_type() == a.scalar_type());
  const c10::DeviceGuard guard(a.device());
  if (a.numel() == 0) {
    return;
  }
  AddCall call;
  call.a = a.data_ptr();
  call.y = out.data_ptr();
  call.count = a.numel();
  TORCH_CHECK(launch<float>(call, c10::hip::getCurrentHIPStream().stream()) == 0);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("add", &forward);
  m.def("assigned", &assigned);
}
