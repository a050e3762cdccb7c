__global__ void fill(float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = 1;
  }
}
__global__ void rows(float* y, int64_t length) {
  for (int i = threadIdx.x; i < length; i += blockDim.x) { // one row of a block
    y[i] = 1;
  }
}
