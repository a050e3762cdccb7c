#include <hip/hip_cooperative_groups.h>
#include <vector>

__global__ void all(float* y) {
  cooperative_groups::this_grid().sync();
}
hipError_t run(float* y, const std::vector<hipStream_t>& streams, const hipDeviceProp_t& properties) {
  void* arguments[] = {&y};
  for (const hipStream_t stream : streams) {
    const hipError_t error = hipLaunchCooperativeKernel(all, dim3(properties.multiProcessorCount), dim3(64), arguments, 0, stream); //! DCU935
    if (error != hipSuccess) {
      return error;
    }
  }
  return hipSuccess;
}
