#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void leak(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  if ASCEND_IS_AIC {
    CrossCoreSetFlag<2, PIPE_FIX>(1);
    CrossCoreSetFlag<2, PIPE_FIX>(1);
    CrossCoreWaitFlag(2); //! DCU848
  }
  if ASCEND_IS_AIV {
    CrossCoreWaitFlag(1); //! DCU848
  }
}
extern "C" __global__ __aicore__ void never_waited(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  CrossCoreSetFlag<1, PIPE_MTE3>(4); //! DCU848
}
