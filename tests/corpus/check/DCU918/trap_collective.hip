// A warning at most: what a function of the whole block returns may be the same for all its threads.
__device__ float block_sum(float value) {
  __shared__ float all;
  if (threadIdx.x == 0) {
    all = value;
  }
  __syncthreads();
  return all;
}
__global__ void normalise(float* x) {
  const float total = block_sum(x[threadIdx.x]);
  if (total > 0) {
    x[threadIdx.x] /= total;
    __syncthreads(); // dcuop: allow(DCU918) block_sum returns the same to all
  }
}
