__global__ void reduce(float* s, int width) {
  if (threadIdx.x < width) {
    s[threadIdx.x] += s[threadIdx.x + width];
    __syncthreads(); //! DCU918
  }
}
__global__ void by_variable(float* s, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool active = i < n;
  if (active) {
    s[i] = 0;
    __syncthreads(); //! DCU918
  }
}
__device__ void meet() {
  __syncthreads();
}
__global__ void through_a_function(float* s) {
  if (threadIdx.x == 0) {
    meet(); //! DCU918
  }
}
__global__ void other_side(float* s) {
  if (threadIdx.x == 0) {
    s[0] = 1;
  } else {
    __syncthreads(); //! DCU918
  }
}
