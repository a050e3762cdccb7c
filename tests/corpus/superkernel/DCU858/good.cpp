#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void store(GM_ADDR x, int32_t n) {
  __gm__ int32_t* p = reinterpret_cast<__gm__ int32_t*>(x);
  *p = n;
  dcci(p, 0, 2);
}
