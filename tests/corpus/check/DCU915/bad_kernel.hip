__global__ void fill(float* y, int64_t n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { //! DCU915
    y[i] = 1;
  }
}
