__device__ void grid_barrier(unsigned* arrived, unsigned blocks) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    while (*arrived < blocks) { //! DCU934
    }
    __threadfence();
  }
  __syncthreads();
}
