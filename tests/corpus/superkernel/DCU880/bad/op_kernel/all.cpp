#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void all(GM_ADDR x) {
  SyncAll();
}
