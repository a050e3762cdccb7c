#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void list(GM_ADDR x, int32_t n) {
  GlobalTensor<int32_t> listGm;
  int32_t sum = 0;
  for (int32_t i = 0; i < n; ++i) {
    sum += listGm.GetValue(i); //! DCU861
    listGm.SetValue(i + n, sum);
  }
}
