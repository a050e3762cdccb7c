__device__ void grid_barrier(unsigned* arrived, unsigned blocks) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    while (__hip_atomic_load(arrived, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < blocks) {
    }
  }
  __syncthreads();
}

__global__ void sum(const float* x, float* partial, unsigned* count, float* y) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = x[blockIdx.x];
    __threadfence();
    const unsigned ticket = atomicAdd(count, 1);
    last = ticket == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    y[0] = partial[0];
  }
}
__global__ void counts(unsigned* histogram, const unsigned* x) {
  atomicAdd(histogram + x[threadIdx.x], 1);
}
