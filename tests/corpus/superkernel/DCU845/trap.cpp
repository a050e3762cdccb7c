#include "kernel_operator.h"
using namespace AscendC;

// Names that end in 0, modes 1, 2 and 4, and helpers that are named like the calls.
constexpr uint8_t SYNC_MODE0 = 2;
constexpr uint8_t FIA_SYNC_MODE2 = 0x2;
__aicore__ inline void NotifyEvent(uint16_t flag) {
  CrossCoreSetFlag<SYNC_MODE0, PIPE_FIX>(flag);
}
__aicore__ inline void WaitEvent(uint16_t flag) {
  CrossCoreWaitFlag<0, PIPE_S>(flag); // the mode of a wait is not read
}
extern "C" __global__ __aicore__ void pair(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  if ASCEND_IS_AIC {
    NotifyEvent(1);
    CrossCoreSetFlag<FIA_SYNC_MODE2, PIPE_FIX>(2);
  }
  if ASCEND_IS_AIV {
    WaitEvent(1);
    CrossCoreWaitFlag(2);
    CrossCoreSetFlag<1, PIPE_MTE3>(3);
    CrossCoreWaitFlag(3);
  }
}
