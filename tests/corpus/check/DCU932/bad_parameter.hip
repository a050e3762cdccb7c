#include <hip/hip_cooperative_groups.h>
__device__ void stage(float* y, bool active) {
  if (!active) {
    return;
  }
  y[blockIdx.x] = 1;
  cooperative_groups::this_grid().sync(); //! DCU932
}
__global__ void stages(float* y, unsigned tiles) {
  const bool mine = blockIdx.x < tiles;
  stage(y, mine);
}
