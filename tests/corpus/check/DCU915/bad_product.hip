__global__ void fill(float* y, int64_t n) {
  const int64_t i = blockIdx.x * blockDim.x + threadIdx.x; //! DCU915
  if (i < n) {
    y[i] = 1;
  }
}
