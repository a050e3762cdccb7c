#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void first(float* y) {
  cg::this_grid().sync();
}
__global__ void second(float* y) {
  cg::this_grid().sync();
}
hipError_t run(float* y, hipStream_t a, hipStream_t b) {
  int processors = 0;
  int each = 0;
  hipError_t error = hipDeviceGetAttribute(&processors, hipDeviceAttributeMultiprocessorCount, 0);
  error = error != hipSuccess ? error : hipOccupancyMaxActiveBlocksPerMultiprocessor(&each, first, 256, 0);
  if (error != hipSuccess) {
    return error;
  }
  const dim3 grid(processors * each);
  void* arguments[] = {&y};
  error = hipLaunchCooperativeKernel(first, grid, dim3(256), arguments, 0, a);
  if (error != hipSuccess) {
    return error;
  }
  return hipLaunchCooperativeKernel(second, grid, dim3(256), arguments, 0, b); //! DCU935
}
