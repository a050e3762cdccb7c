#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void early(float* y, unsigned tiles) {
  if (blockIdx.x >= tiles) {
    return;
  }
  y[blockIdx.x] = 1;
  cg::this_grid().sync(); //! DCU932
}
__global__ void guarded(float* y, unsigned tiles) {
  auto grid = cg::this_grid();
  const unsigned tile = blockIdx.x * 2;
  if (tile < tiles) {
    grid.sync(); //! DCU932
  }
}
