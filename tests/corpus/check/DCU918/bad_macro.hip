// Conditions, waits and ways out in macros, with and without parameters.
#define LANE (threadIdx.x % 64)
#define IS_LEADER (threadIdx.x == 0)
#define BLOCK_SYNC __syncthreads
#define MEET __syncthreads()
#define LEADER if (threadIdx.x == 0)
#define SYNC_LEADER         \
  if (threadIdx.x == 0) {   \
    __syncthreads();        \
  }
#define LEAVE if (threadIdx.x >= 7) return
#define LEAVE_IF(condition)  \
  do {                       \
    if (condition) {         \
      return;                \
    }                        \
  } while (0)
#define ONLY(condition) if (condition)
#define SYNC_TWICE { __syncthreads(); __syncthreads(); }
__global__ void names(float* y) {
  if (LANE == 0) {
    BLOCK_SYNC(); //! DCU918
  }
  if (IS_LEADER) {
    MEET; //! DCU918
  }
}
__global__ void heads(float* y, int n) {
  LEADER {
    y[0] = n;
    __syncthreads(); //! DCU918
  }
  LEADER MEET; //! DCU918
  ONLY(threadIdx.x < n) {
    __syncthreads(); //! DCU918
  }
}
__global__ void whole(float* y) {
  SYNC_LEADER //! DCU918
  if (threadIdx.x < 3) SYNC_TWICE //! DCU918
  y[0] = 1;
}
__global__ void leaves(float* y) {
  LEAVE;
  __syncthreads(); //! DCU918
}
__global__ void leaves_by_parameter(float* y, int n) {
  LEAVE_IF(n == 0);
  const int i = threadIdx.x;
  LEAVE_IF(i >= n);
  __syncthreads(); //! DCU918
}
