// Every thread jumps, or comes to the barrier after all.
__global__ void uniform(float* y, int n) {
  if (n < 3) {
    goto done;
  }
  __syncthreads();
done:
  y[threadIdx.x] = 1;
}
__global__ void before(float* y, int n) {
  if (threadIdx.x < 3) {
    goto wait;
  }
  y[threadIdx.x] = 1;
wait:
  __syncthreads();
}
__global__ void choices(float* y, int n) {
  n < 3 ? __syncthreads() : (void)0;
  n < 3 && (__syncthreads(), true);
  y[threadIdx.x] = threadIdx.x < 3 ? 1 : 0;
  threadIdx.x < 3 ? __syncthreads() : __syncthreads();
}
__global__ void loops(float* y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    if (y[i] < 0) {
      break;
    }
    if (i == 3) {
      continue;
    }
    y[i] = 0;
  }
  __syncthreads();
}
