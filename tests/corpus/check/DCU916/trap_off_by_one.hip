#include "kernels.h"
#include <torch/extension.h>

// Each of these ends at the last element, or counts what is between them.
__global__ void scale(const float* x, float* y, int64_t n) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = x[i] * 2;
  }
}
__global__ void scale_early(const float* x, float* y, int64_t n) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  y[i] = x[i] * 2;
}
__global__ void scale_strided(const float* x, float* y, int64_t n) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; n > i; i += step) {
    y[i] = x[i] * 2;
  }
}
void launch(const float* x, float* y, int64_t n, hipStream_t stream) {
  scale<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
  C10_HIP_KERNEL_LAUNCH_CHECK();
}
__global__ void rows(const int* row_offsets, int* counts, int64_t n) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i <= n) {
    atomicMax(counts, row_offsets[i]);
  }
}
__global__ void to_last(const float* x, float* y, int64_t last) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i <= last) {
    y[i] = x[i];
  }
}
__global__ void with_end(const float* x, float* y, int64_t n) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i <= n) {
    y[i] = i == n ? 0 : x[i];
  }
}
void launch_last(const float* x, float* y, int64_t n, hipStream_t stream) {
  to_last<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n - 1);
  C10_HIP_KERNEL_LAUNCH_CHECK();
}
