#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void pair(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  if ASCEND_IS_AIC {
    CrossCoreSetFlag<2, PIPE_FIX>(1);
  }
  if ASCEND_IS_AIV {
    CrossCoreWaitFlag(1);
  }
}
