__global__ void early(float* s, int n) {
  const int i = threadIdx.x;
  if (i >= n) {
    return;
  }
  s[i] = 0;
  __syncthreads(); //! DCU918
}
__global__ void trips(float* s, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    s[i] = 0;
    __syncthreads(); //! DCU918
  }
}
