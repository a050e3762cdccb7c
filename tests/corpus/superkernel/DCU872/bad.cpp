#include "kernel_operator.h"
using namespace AscendC;

constexpr uint16_t DONE = 12;
extern "C" __global__ __aicore__ void reserved(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  if ASCEND_IS_AIC {
    CrossCoreSetFlag<2, PIPE_FIX>(11); //! DCU872
  }
  if ASCEND_IS_AIV {
    CrossCoreWaitFlag(11); //! DCU872
  }
}
extern "C" __global__ __aicore__ void clashes(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  CrossCoreSetFlag<1, PIPE_MTE3>(DONE); //! DCU872
  CrossCoreWaitFlag(DONE); //! DCU872
  SyncAll();
}
