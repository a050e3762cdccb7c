__device__ float block_sum(float value) {
  __shared__ float all;
  __syncthreads();
  return all + value;
}
__global__ void relax(float* x, int n) {
  const int i = threadIdx.x;
  const bool changed = x[i] > 0;
  if (__syncthreads_or(changed)) {
    x[i] = 0;
    __syncthreads();
  }
  while (__syncthreads_count(x[i] > 1) > 0) {
    x[i] /= 2;
    __syncthreads();
  }
}
__global__ void padded(const float* x, float* y, int n) {
  __shared__ float tile[256];
  const int rounded = (n + blockDim.x - 1) / blockDim.x * blockDim.x;
  for (int i = threadIdx.x; i < rounded; i += blockDim.x) {
    tile[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    y[i] = tile[255 - threadIdx.x];
    __syncthreads();
  }
}
__device__ void uniform_width(float* s, int width) {
  if (width > 64) {
    __syncthreads();
  }
}
__global__ void caller(float* s, int width) {
  uniform_width(s, width);
}
