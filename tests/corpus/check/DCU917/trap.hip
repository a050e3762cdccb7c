constexpr int tile = 32;
__global__ void transpose(const float* x, float* y) {
  __shared__ float part[tile][tile + 1];
  const int column = threadIdx.x % 32;
  part[threadIdx.x / 32][column] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = part[column][threadIdx.x / tile];
}
__device__ float half_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down(value, offset, 32); // means it
  }
  return value;
}
__device__ float scan(float value) {
  for (int offset = 1; offset < 16; offset *= 2) {
    value += __shfl_up(value, offset);
  }
  return value;
}
