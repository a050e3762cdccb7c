// TORCH_LIBRARY with a schema, TORCH_LIBRARY_IMPL for the device: the dispatcher chooses by device.
#include <ATen/ATen.h>
#include <ATen/hip/impl/HIPGuardImplMasqueradingAsCUDA.h>
#include <ATen/hip/impl/HIPStreamMasqueradingAsCUDA.h>
#include <torch/library.h>

namespace extension_cpp {

__global__ void muladd_kernel(int64_t numel, const float* a, const float* b, float c, float* result) {
  int64_t idx = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (idx < numel) result[idx] = a[idx] * b[idx] + c;
}

at::Tensor mymuladd_cuda(const at::Tensor& a, const at::Tensor& b, double c) {
  TORCH_CHECK(a.sizes() == b.sizes());
  TORCH_CHECK(a.dtype() == at::kFloat); //! or DCU908 TORCH_CHECK(a.dtype() == at::kHalf);
  TORCH_CHECK(b.dtype() == at::kFloat);
  TORCH_INTERNAL_ASSERT(a.device().type() == at::DeviceType::CUDA);
  TORCH_INTERNAL_ASSERT(b.device().type() == at::DeviceType::CUDA);
  TORCH_CHECK(a.device() == b.device());
  TORCH_CHECK(a.is_contiguous() && b.is_contiguous()); //! or DCU903 TORCH_CHECK(a.is_contiguous());
  const c10::hip::HIPGuardMasqueradingAsCUDA guard(a.device()); //! without DCU913
  at::Tensor result = torch::empty(a.sizes(), a.options());
  const float* a_ptr = a.data_ptr<float>();
  const float* b_ptr = b.data_ptr<float>();
  float* result_ptr = result.data_ptr<float>();
  int64_t numel = a.numel(); //! or DCU915 int numel = a.numel();
  if (numel == 0) {
    return result;
  }
  muladd_kernel<<<(numel + 255) / 256, 256, 0, c10::hip::getCurrentHIPStream()>>>(numel, a_ptr, b_ptr, c, result_ptr);
  C10_HIP_KERNEL_LAUNCH_CHECK(); //! without DCU911
  return result;
}

TORCH_LIBRARY_IMPL(extension_cpp, CUDA, m) {
  m.impl("mymuladd", &mymuladd_cuda);
}

} // namespace extension_cpp
