#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void block(float* y) {
  cg::thread_block all = cg::this_thread_block();
  all.sync();
  auto tile = cg::tiled_partition<32>(all);
  tile.sync();
}
__global__ void single(float* y) {
  cg::this_grid().sync();
}
__global__ void locked(unsigned* lock, float* y) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  y[0] += 1;
  atomicExch(lock, 0);
}
__global__ void look_back(unsigned* flags, float* y) {
  __shared__ unsigned ticket;
  if (threadIdx.x == 0) {
    ticket = atomicAdd(flags, 1); // counts, and waits for the one before it alone
    while (ticket > 0 && __hip_atomic_load(y + ticket - 1, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0) {
    }
  }
}
void run(float* y, unsigned* lock, hipStream_t stream) {
  block<<<64, 256, 0, stream>>>(y);
  single<<<1, 256, 0, stream>>>(y);
  locked<<<64, 256, 0, stream>>>(lock, y);
  look_back<<<64, 256, 0, stream>>>(lock, y);
}
