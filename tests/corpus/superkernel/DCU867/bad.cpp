#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void before(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  SyncAll(); //! DCU867
  WaitPreTaskEnd();
}
extern "C" __global__ __aicore__ void behind(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  SetNextTaskStart();
  SyncAll(); //! DCU867
}
