__device__ float sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) { //! DCU917
    value += __shfl_down(value, offset);
  }
  return value;
}
__global__ void partial(const float* x, float* y) {
  const int lane = threadIdx.x % 32; //! DCU917
  const int warp = threadIdx.x >> 5; //! DCU917
  const float value = __shfl_xor(x[threadIdx.x], 1);
  if (lane == 0) {
    y[warp] = value;
  }
}
#define WARP 32
__global__ void by_macro(const float* x, float* y) {
  const int lane = threadIdx.x & (WARP - 1); //! DCU917
  y[lane] = __shfl(x[threadIdx.x], 0);
}
