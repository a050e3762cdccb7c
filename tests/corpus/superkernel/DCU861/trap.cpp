#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void list(GM_ADDR x, int32_t n) {
  TBuf<QuePosition::VECCALC> buffer;
  auto listGm = buffer.Get<int32_t>();
  int32_t sum = 0;
  for (int32_t i = 0; i < n; ++i) {
    sum += listGm.GetValue(i);
  }
}
