#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void all(float* y) {
  cg::grid_group grid = cg::this_grid();
  y[blockIdx.x] = 1;
  grid.sync();
}
void run(float* y, hipStream_t stream) {
  all<<<64, 256, 0, stream>>>(y); //! DCU931
}
__device__ void meet() {
  cg::this_grid().sync();
}
__global__ void stages(float* y) {
  meet();
}
void run_stages(float* y, hipStream_t stream) {
  hipLaunchKernelGGL(stages, dim3(64), dim3(256), 0, stream, y); //! DCU931
}
