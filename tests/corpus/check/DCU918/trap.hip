__global__ void uniform(float* s, const int* flags, int n, float* p) {
  __shared__ int done;
  if (p == nullptr || n == 0) {
    return;
  }
  if (blockIdx.x >= n) {
    return;
  }
  if (threadIdx.x == 0) {
    done = flags[blockIdx.x];
  }
  __syncthreads();
  if (done) {
    __syncthreads();
  }
  for (int base = 0; base < n; base += blockDim.x) {
    const int i = base + threadIdx.x;
    if (i < n) {
      s[i] = 0;
    }
    __syncthreads();
  }
  for (int width = blockDim.x / 2; width > 0; width /= 2) {
    if (threadIdx.x < width) {
      s[threadIdx.x] += s[threadIdx.x + width];
    }
    __syncthreads();
  }
  while (true) {
    if (n > 3) {
      break;
    }
    __syncthreads();
  }
}
__global__ void both(float* s) {
  if (threadIdx.x < 64) {
    s[0] = 1;
    __syncthreads();
  } else {
    __syncthreads();
  }
}
// if (threadIdx.x == 0) { __syncthreads(); }
