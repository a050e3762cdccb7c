__global__ void strided(const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = x[i];
  }
}
__global__ void clamped(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[min(i, n - 1)] = x[0];
}
__global__ void ternary(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float value = i < n ? x[i] : 0;
  if (value > 0) {
    y[i] = value;
  }
}
__global__ void row(const float* x, float* y) {
  y[blockIdx.x] = x[blockIdx.x];
}
__device__ void store(float* y, int i, int n) {
  if (i < n) {
    y[i] = 0;
  }
}
__global__ void handed_on(float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  store(y, i, n);
}
__global__ void unused(float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[0] = 1;
}
