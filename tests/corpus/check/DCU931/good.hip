#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void all(float* y) {
  cg::grid_group grid = cg::this_grid();
  grid.sync();
}
int run(float* y, hipStream_t stream) {
  void* arguments[] = {&y};
  return hipLaunchCooperativeKernel(all, dim3(64), dim3(256), arguments, 0, stream);
}
