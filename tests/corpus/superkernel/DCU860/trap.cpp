#include "kernel_operator.h"
using namespace AscendC;

// Behind the last wait, of a local tensor, and a copy of another tensor.
extern "C" __global__ __aicore__ void publish(GM_ADDR x, GM_ADDR y, int32_t n) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  GlobalTensor<int32_t> countGm;
  countGm.SetGlobalBuffer((__gm__ int32_t*)x);
  GlobalTensor<int32_t> otherGm;
  LocalTensor<int32_t> local;
  local.SetValue(0, n);
  SyncAll();
  countGm.SetValue(0, n);
  DataCopy(local, otherGm, 8);
}
