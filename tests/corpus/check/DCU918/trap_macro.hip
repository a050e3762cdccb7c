// The same macros where every thread goes the same way, and names that are no macros there.
#define LEADER if (threadIdx.x == 0)
#define LEAVE_IF(condition)  \
  do {                       \
    if (condition) {         \
      return;                \
    }                        \
  } while (0)
#define MEET __syncthreads()
#define SYNC_TWICE { __syncthreads(); __syncthreads(); }
#define EITHER if (threadIdx.x == 0) { __syncthreads(); } else { __syncthreads(); }
#define ROWS blockDim.y
struct Settings {
  bool LEADER_ONLY;
};
__global__ void all(float* y, int n) {
  LEAVE_IF(n == 0);
  LEADER {
    y[0] = n;
  }
  MEET;
  LEADER y[1] = n;
  SYNC_TWICE
  if (ROWS > 3) {
    MEET;
  }
  EITHER
}
