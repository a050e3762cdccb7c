__global__ void reduce(float* s, int width) {
  if (threadIdx.x < width) {
    s[threadIdx.x] += s[threadIdx.x + width];
  }
  __syncthreads();
}
