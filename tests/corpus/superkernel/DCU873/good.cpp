#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void valid(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  CrossCoreSetFlag<1, PIPE_MTE3>(1);
  CrossCoreWaitFlag<1, PIPE_S>(1);
}
