#include <hip/hip_runtime.h>

__global__ void fill(float* y, int64_t n) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = 1;
  }
}

int main() {
  float* y = nullptr;
  hipMalloc(&y, 1024);
  fill<<<1, 256>>>(y, 256);
  return hipDeviceSynchronize();
}
