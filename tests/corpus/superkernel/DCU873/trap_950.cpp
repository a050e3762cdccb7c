#include "kernel_operator.h"
using namespace AscendC;

// Ascend 950 has mode 4 and flags from 16 on.
extern "C" __global__ __aicore__ void newer(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  if ASCEND_IS_AIC {
    CrossCoreSetFlag<4, PIPE_FIX>(16);
  }
  if ASCEND_IS_AIV {
    CrossCoreWaitFlag<4, PIPE_S>(16);
  }
}
