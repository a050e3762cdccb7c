#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void vectors(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  SyncAll<false>(); //! DCU843
}
extern "C" __global__ __aicore__ void cubes(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  if ASCEND_IS_AIC {
    SyncAll(); //! DCU843
  }
}
