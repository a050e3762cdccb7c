#include <hip/hip_cooperative_groups.h>
__global__ void all(float* y) {
  cooperative_groups::this_grid().sync();
}
hipError_t run(float* y, hipStream_t stream) {
  hipLaunchAttribute attribute;
  attribute.id = hipLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  hipLaunchConfig_t config{};
  config.gridDim = dim3(64);
  config.attrs = &attribute;
  config.numAttrs = 1;
  void* arguments[] = {&y};
  return hipLaunchKernelExC(&config, reinterpret_cast<const void*>(all), arguments);
}
