#include "kernel_operator.h"
using namespace AscendC;

// Events inside one core are numbered by themselves, and a number that is computed is not said.
extern "C" __global__ __aicore__ void inner(GM_ADDR x, uint32_t base) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  SetFlag<HardEvent::MTE2_V>(12);
  WaitFlag<HardEvent::MTE2_V>(12);
  CrossCoreSetFlag<1, PIPE_MTE3>(base + 12);
  CrossCoreWaitFlag(base + 12);
}
