#include "kernel_operator.h"
using namespace AscendC;

// Without Matmul objects the low flags are free.
extern "C" __global__ __aicore__ void free_flags(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  CrossCoreSetFlag<1, PIPE_MTE3>(0);
  CrossCoreWaitFlag(0);
}
