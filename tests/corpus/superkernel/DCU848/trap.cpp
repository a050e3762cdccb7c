#include "kernel_operator.h"
using namespace AscendC;

// Credit before the loop and waits behind it, an early way that sets and leaves, waits that are left out at first, and
// flags that alternate: none of them is provable, and none is an error.
constexpr uint16_t C2V_PING_FLAG = 4;
extern "C" __global__ __aicore__ void credit(GM_ADDR x, uint32_t tiles) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  if ASCEND_IS_AIV {
    CrossCoreSetFlag<2, PIPE_MTE3>(3);
    CrossCoreSetFlag<2, PIPE_MTE3>(3);
    for (uint32_t i = 0; i < tiles; ++i) {
      CrossCoreSetFlag<2, PIPE_MTE3>(3);
    }
  }
  if ASCEND_IS_AIC {
    for (uint32_t i = 0; i < tiles; ++i) {
      CrossCoreWaitFlag(3);
    }
    CrossCoreWaitFlag(3);
    CrossCoreWaitFlag(3);
  }
}
extern "C" __global__ __aicore__ void early(GM_ADDR x, uint32_t tiles) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  if ASCEND_IS_AIC {
    if (tiles == 0) {
      CrossCoreSetFlag<2, PIPE_FIX>(1);
      return;
    }
    CrossCoreSetFlag<2, PIPE_FIX>(1);
    CrossCoreSetFlag<2, PIPE_FIX>(1);
  }
  if ASCEND_IS_AIV {
    uint32_t loop = 0;
    for (uint32_t i = 0; i < tiles; ++i) {
      if (++loop > 2) {
        CrossCoreWaitFlag(1);
      }
    }
  }
}
extern "C" __global__ __aicore__ void alternating(GM_ADDR x, uint32_t pong) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  if ASCEND_IS_AIC {
    CrossCoreSetFlag<2, PIPE_FIX>(C2V_PING_FLAG | pong);
  }
  if ASCEND_IS_AIV {
    CrossCoreWaitFlag(C2V_PING_FLAG);
  }
}
