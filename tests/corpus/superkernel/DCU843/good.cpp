#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void vectors(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  SyncAll();
}
extern "C" __global__ __aicore__ void mixed(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  SyncAll<false>();
}
