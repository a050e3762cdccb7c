#include <hip/hip_cooperative_groups.h>

__global__ void first(float* y) {
  cooperative_groups::this_grid().sync();
}
__global__ void second(float* y) {
  cooperative_groups::this_grid().sync();
}
__global__ void plain(float* y) {
  y[0] = 1;
}
hipError_t one_stream(float* y, hipStream_t stream, const hipDeviceProp_t& properties) {
  const int blocks = properties.multiProcessorCount;
  void* arguments[] = {&y};
  (void)hipLaunchCooperativeKernel(first, dim3(blocks), dim3(256), arguments, 0, stream);
  return hipLaunchCooperativeKernel(second, dim3(blocks), dim3(256), arguments, 0, stream);
}
hipError_t halves(float* y, hipStream_t a, hipStream_t b, const hipDeviceProp_t& properties) {
  const int half = properties.multiProcessorCount / 2;
  void* arguments[] = {&y};
  (void)hipLaunchCooperativeKernel(first, dim3(half), dim3(256), arguments, 0, a);
  return hipLaunchCooperativeKernel(second, dim3(half), dim3(256), arguments, 0, b);
}
hipError_t either(float* y, hipStream_t a, hipStream_t b, bool which, const hipDeviceProp_t& properties) {
  const int blocks = properties.multiProcessorCount;
  void* arguments[] = {&y};
  if (which) {
    return hipLaunchCooperativeKernel(first, dim3(blocks), dim3(256), arguments, 0, a);
  } else {
    return hipLaunchCooperativeKernel(second, dim3(blocks), dim3(256), arguments, 0, b);
  }
}
hipError_t small(float* y, hipStream_t a, hipStream_t b) {
  void* arguments[] = {&y};
  (void)hipLaunchCooperativeKernel(first, dim3(8), dim3(256), arguments, 0, a);
  return hipLaunchCooperativeKernel(second, dim3(8), dim3(256), arguments, 0, b);
}
void beside(float* y, hipStream_t a, hipStream_t b, const hipDeviceProp_t& properties) {
  const int blocks = properties.multiProcessorCount;
  void* arguments[] = {&y};
  (void)hipLaunchCooperativeKernel(first, dim3(blocks), dim3(256), arguments, 0, a);
  plain<<<blocks, 256, 0, b>>>(y);
}
