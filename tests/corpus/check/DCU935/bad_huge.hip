#include <hip/hip_cooperative_groups.h>

// The largest numbers that a constant can have: no product of them overflows.
__global__ void step(float* y) {
  cooperative_groups::this_grid().sync();
}
hipError_t run(float* y, hipStream_t a, hipStream_t b) {
  void* arguments[] = {&y};
  const dim3 block(1024, 9223372036854775807, 9223372036854775807);
  const hipError_t error = hipLaunchCooperativeKernel(step, dim3(9223372036854775807, 9223372036854775807, 1), block, arguments, 0, a);
  if (error != hipSuccess) {
    return error;
  }
  return hipLaunchCooperativeKernel(step, dim3(9223372036854775807, 9223372036854775807, 1), block, arguments, 0, b); //! DCU935
}
