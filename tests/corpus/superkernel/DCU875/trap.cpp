#include "kernel_operator.h"
using namespace AscendC;

// Without a type the compiler takes a MIX one; a key may have its own; and the soft form needs none.
extern "C" __global__ __aicore__ void inferred(GM_ADDR x) {
  SyncAll();
}
extern "C" __global__ __aicore__ void by_key(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  KERNEL_TASK_TYPE(2, KERNEL_TYPE_MIX_AIV_1_0);
  if (TILING_KEY_IS(2)) {
    SyncAll();
  }
}
extern "C" __global__ __aicore__ void soft(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  GlobalTensor<int32_t> syncGm;
  LocalTensor<int32_t> syncLocal;
  SyncAll(syncGm, syncLocal);
}
