__device__ void halve(float* s, int lane, int width) {
  if (lane < width) {
    s[lane] += s[lane + width];
    __syncthreads(); //! DCU918
  }
}
__global__ void reduce(float* s) {
  const int lane = threadIdx.x;
  halve(s, lane, 128);
}
