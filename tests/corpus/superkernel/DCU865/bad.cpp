#include "kernel_operator.h"
using namespace AscendC;

class Grouped {
 public:
  __aicore__ inline void Process(GM_ADDR groups, uint32_t used) {
    if (GetBlockIdx() >= used) {
      return;
    }
    if (groups == nullptr) {
      return;
    }
    WaitPreTaskEnd(); //! DCU865 DCU865
  }
};
extern "C" __global__ __aicore__ void grouped(GM_ADDR groups, uint32_t used) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  Grouped op;
  op.Process(groups, used);
}
extern "C" __global__ __aicore__ void in_loop(GM_ADDR x, uint32_t tiles) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  for (uint32_t i = 0; i < tiles; ++i) {
    SetNextTaskStart(); //! DCU865
  }
}
extern "C" __global__ __aicore__ void by_key(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  if (TILING_KEY_IS(1)) {
    SetNextTaskStart(); //! DCU865
  } else if (TILING_KEY_IS(2)) {
    PipeBarrier<PIPE_ALL>();
  }
}
extern "C" __global__ __aicore__ void one_side(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  if ASCEND_IS_AIC {
    WaitPreTaskEnd(); //! DCU865
  }
}
extern "C" __global__ __aicore__ void twice(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  AscendC::SetNextTaskStart(); //! DCU865
  AscendC::SetNextTaskStart();
}
