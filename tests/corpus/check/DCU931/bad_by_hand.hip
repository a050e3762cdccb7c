__device__ void grid_barrier(unsigned* arrived, unsigned blocks) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    while (__hip_atomic_load(arrived, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < blocks) {
      __builtin_amdgcn_s_sleep(1);
    }
  }
  __syncthreads();
}
__global__ void stages(float* y, unsigned* arrived) {
  y[blockIdx.x] = 1;
  grid_barrier(arrived, gridDim.x);
}
void run(float* y, unsigned* arrived, hipStream_t stream) {
  stages<<<64, 256, 0, stream>>>(y, arrived); //! DCU931
}
