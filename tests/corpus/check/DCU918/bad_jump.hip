// goto, ?:, && and || decide who waits; some leave in an inner block, or a loop early.
__global__ void over(float* y) {
  if (threadIdx.x < 3) {
    goto done;
  }
  __syncthreads(); //! DCU918
done:
  y[threadIdx.x] = 1;
}
__global__ void again(float* y, int n) {
retry:
  __syncthreads(); //! DCU918
  if (threadIdx.x < n--) {
    goto retry;
  }
  y[0] = 1;
}
__global__ void choice(float* y) {
  threadIdx.x < 3 ? __syncthreads() : (void)0; //! DCU918
}
__global__ void shortened(float* y) {
  threadIdx.x < 3 && (__syncthreads(), true); //! DCU918
  const bool any = threadIdx.x < 3 || __syncthreads_or(y[0] > 0); //! DCU918
  y[0] = any;
}
__global__ void inner_leave(float* y, int n) {
  if (n > 3) {
    if (threadIdx.x < 3) {
      return;
    }
  }
  __syncthreads(); //! DCU918
}
__global__ void leaves_the_loop(float* y, int n) {
  for (int i = 0; i < n; ++i) {
    __syncthreads(); //! DCU918
    if (y[threadIdx.x] > 3 && threadIdx.x > 3) {
      break;
    }
  }
}
