#include <hip/hip_runtime.h>

// Each grid has more than half of the threads that any device holds, and waits for all of them.
__device__ void meet(unsigned* count) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(count, 1);
    while (__hip_atomic_load(count, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
}
constexpr int blocks = 4096;
__global__ void step(float* y, unsigned* count) {
  y[blockIdx.x] = 1;
  meet(count);
}
void run(float* y, unsigned* counts, hipStream_t a, hipStream_t b) {
  step<<<blocks, 256, 0, a>>>(y, counts); //! DCU931
  step<<<dim3(64, 64), dim3(256), 0, b>>>(y, counts + 1); //! DCU931 DCU935
}
