__global__ void sum(const float* x, float* partial, unsigned* count, float* y) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = x[blockIdx.x];
    last = atomicAdd(count, 1) == gridDim.x - 1; //! DCU934
  }
  __syncthreads();
  if (last) {
    y[0] = partial[0] + partial[1];
  }
}
