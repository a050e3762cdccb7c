#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void attention(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
  uint32_t rows = 0;
  if ASCEND_IS_AIV {
    CrossCoreWaitFlag(1);
    if (GetSubBlockIdx() == 0) {
      rows = 1;
    }
    CrossCoreSetFlag<2, PIPE_MTE3>(3);
  }
  if ASCEND_IS_AIC {
    CrossCoreSetFlag<2, PIPE_FIX>(1);
    CrossCoreWaitFlag(3);
  }
}
