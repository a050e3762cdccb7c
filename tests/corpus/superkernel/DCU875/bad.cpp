#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void explicit_type(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  SyncAll(); //! DCU875
}
__global__ __aicore__ __vector__ void by_qualifier(GM_ADDR x) {
  SyncAll(); //! DCU875
}
