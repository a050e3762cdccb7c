// Sizes checked one by one, a workspace of torch's, two kernels in turn, a macro for the launch's end.
#include <ATen/hip/HIPContext.h>
#include <c10/hip/HIPGuard.h>
#include <torch/extension.h>

#define CHECK_LAST_ERROR() TORCH_CHECK(hipPeekAtLastError() == hipSuccess, "a launch failed")

constexpr int kThreads = 256;

__global__ void histogram(const int* __restrict__ labels, int* __restrict__ counts, int n, int classes) {
  extern __shared__ int local[];
  for (int c = threadIdx.x; c < classes; c += blockDim.x) local[c] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int label = labels[i];
    if (label >= 0 && label < classes) atomicAdd(&local[label], 1);
  }
  __syncthreads();
  for (int c = threadIdx.x; c < classes; c += blockDim.x) atomicAdd(&counts[c], local[c]);
}

__global__ void normalise(const int* counts, float* weights, int classes, float total) {
  const auto c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= classes) { return; }
  weights[c] = total / fmaxf(counts[c], 1.f);
}

at::Tensor class_weights(const at::Tensor& labels, int64_t classes) {
  TORCH_CHECK(labels.defined(), "labels: undefined");
  TORCH_CHECK(labels.device().is_cuda(), "labels: device"); //! without DCU901
  TORCH_CHECK(labels.dtype() == torch::kInt32, "labels: int32");
  TORCH_CHECK(labels.is_contiguous(), "labels: contiguous"); //! without DCU903
  TORCH_CHECK(classes > 0 && classes <= 4096, "classes: 1 to 4096");
  const auto n = labels.numel();
  TORCH_CHECK(n <= std::numeric_limits<int>::max(), "labels: too many"); //! or DCU915 const int m = labels.numel();
  const c10::hip::OptionalHIPGuardMasqueradingAsCUDA guard(device_of(labels));
  auto counts = at::zeros({classes}, labels.options());
  auto weights = at::empty({classes}, labels.options().dtype(at::kFloat));
  auto stream = at::hip::getCurrentHIPStreamMasqueradingAsCUDA();
  if (n > 0) {
    const int blocks = std::min<int64_t>((n + kThreads - 1) / kThreads, 1024);
    histogram<<<blocks, kThreads, classes * sizeof(int), stream>>>(labels.data_ptr<int>(), counts.data_ptr<int>(),
                                                                    static_cast<int>(n), static_cast<int>(classes));
    CHECK_LAST_ERROR();
  }
  normalise<<<(classes + kThreads - 1) / kThreads, kThreads, 0, stream>>>(
      counts.data_ptr<int>(), weights.data_ptr<float>(), static_cast<int>(classes), static_cast<float>(n));
  CHECK_LAST_ERROR(); //! without DCU911
  return weights;
}

TORCH_LIBRARY_FRAGMENT(losses, m) {
  m.def(TORCH_SELECTIVE_SCHEMA("losses::class_weights(Tensor labels, int classes) -> Tensor"));
}
TORCH_LIBRARY_IMPL(losses, CompositeExplicitAutograd, m) {
  m.impl(TORCH_SELECTIVE_NAME("losses::class_weights"), TORCH_FN(class_weights));
}
