#include <hip/hip_cooperative_groups.h>

__global__ void first(float* y) {
  cooperative_groups::this_grid().sync();
}
__global__ void second(float* y) {
  cooperative_groups::this_grid().sync();
}
hipError_t run(float* y, hipStream_t a, hipStream_t b, hipEvent_t done, int processors) {
  (void)hipDeviceGetAttribute(&processors, hipDeviceAttributeMultiprocessorCount, 0);
  void* arguments[] = {&y};
  hipError_t error = hipLaunchCooperativeKernel(first, dim3(processors), dim3(256), arguments, 0, a);
  if (error != hipSuccess || hipEventRecord(done, a) != hipSuccess || hipStreamWaitEvent(b, done, 0) != hipSuccess) {
    return error;
  }
  return hipLaunchCooperativeKernel(second, dim3(processors), dim3(256), arguments, 0, b);
}
