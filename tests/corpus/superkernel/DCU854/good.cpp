#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void high(GM_ADDR x, uint32_t total) {
  int64_t core = AscendC::GetBlockIdx();
  int64_t each = total / AscendC::GetBlockNum();
}
