#include "kernel_operator.h"
using namespace AscendC;

// A guard is normal where the kernel is 1:2; both paths may set; and a counter may be named after blocks.
extern "C" __global__ __aicore__ void one_to_two(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  if ASCEND_IS_AIV {
    if (GetSubBlockIdx() == 0) {
      CrossCoreSetFlag<1, PIPE_MTE3>(3);
      CrossCoreWaitFlag(3);
    }
  }
}
extern "C" __global__ __aicore__ void both(GM_ADDR x, uint32_t rows, uint32_t used) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
  if ASCEND_IS_AIV {
    if (GetSubBlockIdx() == 0) {
      CrossCoreSetFlag<2, PIPE_MTE3>(3);
    } else {
      CrossCoreSetFlag<2, PIPE_MTE3>(3);
    }
    for (uint32_t rowOfSubBlock = 0; rowOfSubBlock < rows; ++rowOfSubBlock) {
      if (rowOfSubBlock % 2 == 0) {
        CrossCoreWaitFlag(1);
      }
    }
  }
  if ASCEND_IS_AIC {
    CrossCoreWaitFlag(3);
  }
}
extern "C" __global__ __aicore__ void unsaid(GM_ADDR x) {
  if ASCEND_IS_AIV {
    if (GetSubBlockIdx() == 0) {
      CrossCoreSetFlag<2, PIPE_MTE3>(3);
    }
  }
  if ASCEND_IS_AIC {
    CrossCoreWaitFlag(3);
  }
}
