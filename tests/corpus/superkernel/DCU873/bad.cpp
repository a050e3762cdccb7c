#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void invalid(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  CrossCoreSetFlag<1, PIPE_S>(1); //! DCU873
  CrossCoreWaitFlag(1);
  CrossCoreSetFlag<1, PIPE_MTE3>(17); //! DCU873
  CrossCoreWaitFlag(17); //! DCU873
  CrossCoreSetFlag<4, PIPE_MTE3>(2); //! DCU873
}
