#include "kernel_operator.h"
using namespace AscendC;

// The soft form uses no flags; and a set alone minds no wait before it.
extern "C" __global__ __aicore__ void soft(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  GlobalTensor<int32_t> syncGm;
  LocalTensor<int32_t> syncLocal;
  SyncAll(syncGm, syncLocal);
  WaitPreTaskEnd();
}
extern "C" __global__ __aicore__ void set_alone(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  SyncAll();
  SetNextTaskStart();
}
