#include "kernel_operator.h"
using namespace AscendC;

// In every key, on each side by a way of its own, and on both ways of a condition.
extern "C" __global__ __aicore__ void keys(GM_ADDR x, uint32_t used) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  if ASCEND_IS_AIC {
    WaitPreTaskEnd();
    if (TILING_KEY_IS(1)) {
      SetNextTaskStart();
    } else {
      SetNextTaskStart();
    }
    return;
  }
  if (GetBlockIdx() < used) {
    WaitPreTaskEnd();
    SetNextTaskStart();
  } else {
    WaitPreTaskEnd();
    SetNextTaskStart();
  }
}
