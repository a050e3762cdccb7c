#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void explicit_type(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  SyncAll();
}
