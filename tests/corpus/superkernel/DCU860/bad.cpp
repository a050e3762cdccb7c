#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void publish(GM_ADDR x, int32_t n) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  GlobalTensor<int32_t> countGm;
  countGm.SetGlobalBuffer((__gm__ int32_t*)x);
  countGm.SetValue(0, n); //! DCU860
  SyncAll();
  countGm.SetValue(8, n); //! DCU860
  LocalTensor<int32_t> local;
  DataCopy(local, countGm, 8);
}
