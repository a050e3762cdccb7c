#include "kernel_operator.h"
using namespace AscendC;

class Fused {
 public:
  matmul::Matmul<AType, BType, CType, BiasType> mm_;
  __aicore__ inline void Process(uint32_t coreNum) {
    uint32_t coreIdx = GetBlockIdx() / GetTaskRatio();
    uint32_t subBlockIdx = GetSubBlockIdx();
    if (coreIdx < coreNum && subBlockIdx == 0) {
      mm_.SetTensorA(aGm_);
      mm_.IterateAll(cGm_);
    }
  }

 private:
  GlobalTensor<half> aGm_;
  GlobalTensor<half> cGm_;
};
extern "C" __global__ __aicore__ void fused(GM_ADDR x, GM_ADDR workspace, uint32_t cores) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
  TPipe pipe;
  Fused op;
  REGIST_MATMUL_OBJ(&pipe, workspace, op.mm_, nullptr);
  op.Process(cores);
}
