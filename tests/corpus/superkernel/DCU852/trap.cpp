#include "kernel_operator.h"
using namespace AscendC;

// Halved by hand, by cube cores, in another type of kernel.
extern "C" __global__ __aicore__ void halved(GM_ADDR x, uint32_t total) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
  uint32_t core = GetBlockIdx();
  if ASCEND_IS_AIV {
    core = GetBlockIdx() / 2;
  }
  uint32_t from = core * (total / GetBlockNum());
}
extern "C" __global__ __aicore__ void cube(GM_ADDR x, uint32_t total) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
  if ASCEND_IS_AIC {
    uint32_t from = GetBlockIdx() * (total / GetBlockNum());
  }
}
extern "C" __global__ __aicore__ void vectors(GM_ADDR x, uint32_t total) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  uint32_t from = GetBlockIdx() * (total / GetBlockNum());
}
