#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void list(GM_ADDR x, int32_t n) {
  GlobalTensor<int32_t> listGm;
  int32_t first = listGm.GetValue(0);
}
