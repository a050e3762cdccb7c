__global__ void all(float* y, int* arrived) {
  y[blockIdx.x] = 1;
  __threadfence();
  if (threadIdx.x == 0) {
    __hip_atomic_fetch_add(arrived, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    int seen = 0;
    do {
      seen = __hip_atomic_load(arrived, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
    } while (seen < (int)gridDim.x);
  }
  __syncthreads();
}
void run(float* y, int* arrived, hipStream_t stream) {
  hipLaunchKernelGGL(all, dim3(120), dim3(64), 0, stream, y, arrived); //! DCU931
}
