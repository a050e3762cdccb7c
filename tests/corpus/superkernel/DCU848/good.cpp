#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void pair(GM_ADDR x, uint32_t tiles) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  if ASCEND_IS_AIC {
    for (uint32_t i = 0; i < tiles; ++i) {
      CrossCoreSetFlag<2, PIPE_FIX>(1);
      CrossCoreWaitFlag(2);
    }
  }
  if ASCEND_IS_AIV {
    for (uint32_t i = 0; i < tiles; ++i) {
      CrossCoreWaitFlag(1);
      CrossCoreSetFlag<2, PIPE_MTE3>(2);
    }
  }
}
