// Bounds that stand in members, variables, clamps and quotients.
#include <hip/hip_runtime.h>
namespace {
struct Params { const float* x; float* y; int64_t n; __device__ bool inside(int64_t i) const { return i < n; } };
__global__ void a(Params p) {
  const int64_t idx = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= p.n) return; //! without DCU916
  p.y[idx] = p.x[idx];
}
__global__ void b(float* y, Params p) {
  const auto idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (!p.inside(idx)) return; //! without DCU916
  y[idx] = 1;
}
__global__ void c(float* y, int64_t n) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const bool valid = i < n;
  if (valid) y[i] = 1;
}
__global__ void d(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  i = i < n ? i : n - 1; //! without DCU916
  y[i] = x[i];
}
__global__ void e(const float* x, float* y, unsigned n) {
  const unsigned gid = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = gid; i < n; i += stride) y[i] = x[i];
}
template <int TILE> __global__ void f(const float* x, float* y, int n) {
  const int base = blockIdx.x * (TILE * 64) + threadIdx.x;
#pragma unroll
  for (int t = 0; t < TILE; ++t) {
    const int i = base + t * 64;
    if (i < n) y[i] = x[i];
  }
}
template <int TILE> __global__ void g(const float* x, float* y, int n) {
  const int tid = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = tid / n, col = tid % n;
  if (row < TILE) y[tid] = x[col];
}
__global__ void h(const int* offsets, const float* x, float* y) {
  const int b = blockIdx.x * blockDim.y + threadIdx.y;
  for (int i = offsets[b] + threadIdx.x; i < offsets[b + 1]; i += blockDim.x) y[i] = x[i];
}
__global__ void s(const float* x, float* y, int64_t n, float f) {
  for (auto i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < (size_t)n; i += (size_t)gridDim.x * blockDim.x) y[i] = x[i] * f;
}
__global__ void last(float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int left = n - i;
  if (left <= 0) return; //! without DCU916
  y[i] = 1;
}
__global__ void bounded(float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(i < n);
  switch (i / n) { case 0: y[i] = 1; }
}
}
