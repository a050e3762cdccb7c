__device__ void grid_barrier(unsigned* count, volatile unsigned* generation) {
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned before = *generation;
    __threadfence();
    if (atomicAdd(count, 1) == gridDim.x - 1) {
      *count = 0;
      __threadfence();
      *generation = before + 1;
    } else {
      while (*generation == before) {
      }
    }
    __threadfence();
  }
  __syncthreads();
}
__global__ void stages(float* y, unsigned* count, unsigned* generation) {
  y[blockIdx.x] = 1;
  grid_barrier(count, generation);
}
void run(float* y, unsigned* state, hipStream_t stream) {
  stages<<<120, 256, 0, stream>>>(y, state, state + 1); //! DCU931
}
