#include "kernel_operator.h"
using namespace AscendC;

constexpr uint8_t kMode = 2;
extern "C" __global__ __aicore__ void pair(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  if ASCEND_IS_AIC {
    CrossCoreSetFlag<kMode, PIPE_FIX>(1);
  } else {
    CrossCoreWaitFlag(1);
  }
}
