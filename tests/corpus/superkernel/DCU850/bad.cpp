#include "kernel_operator.h"
using namespace AscendC;

class Attention {
 public:
  __aicore__ inline void Init() { subBlockIdx_ = GetSubBlockIdx(); }
  __aicore__ inline void Process() {
    if ASCEND_IS_AIV {
      if (subBlockIdx_ == 0) {
        Softmax();
        CrossCoreSetFlag<2, PIPE_MTE3>(3); //! DCU850
      }
    }
    if ASCEND_IS_AIC {
      CrossCoreWaitFlag(3);
    }
  }

 private:
  __aicore__ inline void Softmax() { rows_ = 1; }
  uint32_t subBlockIdx_ = 0;
  uint32_t rows_ = 0;
};
extern "C" __global__ __aicore__ void attention(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
  Attention op;
  op.Init();
  op.Process();
}
__global__ __aicore__ __mix__(1, 1) void by_index(GM_ADDR x) {
  if ASCEND_IS_AIC {
    CrossCoreSetFlag<2, PIPE_FIX>(1);
    return;
  }
  if (GetBlockIdx() % 2 != 0) {
    return;
  }
  CrossCoreWaitFlag(1); //! DCU850
}
