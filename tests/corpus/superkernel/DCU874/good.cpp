#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void apart(GM_ADDR x, GM_ADDR workspace) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  TPipe pipe;
  matmul::Matmul<A, B, C> first;
  REGIST_MATMUL_OBJ(&pipe, workspace, first, &firstTiling);
  CrossCoreSetFlag<1, PIPE_MTE3>(2);
  CrossCoreWaitFlag(2);
}
