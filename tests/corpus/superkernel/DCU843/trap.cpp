#include "kernel_operator.h"
using namespace AscendC;

// In a MIX kernel SyncAll() is for the vector cores; cube cores pass it. A type that is not said is not guessed.
extern "C" __global__ __aicore__ void mixed(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  SyncAll();
  if ASCEND_IS_AIV {
    SyncAll();
  }
  if (g_coreType == AIC) {
    SyncAll<false>();
  } else {
    SyncAll<false>();
  }
}
extern "C" __global__ __aicore__ void unsaid(GM_ADDR x) {
  SyncAll<false>();
}
