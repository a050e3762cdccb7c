#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void split(GM_ADDR x, uint32_t total) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
  uint32_t each = total / GetBlockNum();
  uint32_t from = each * GetBlockIdx(); //! DCU852
  GlobalTensor<half> xGm;
  xGm.SetGlobalBuffer((__gm__ half*)x + from, each);
}
