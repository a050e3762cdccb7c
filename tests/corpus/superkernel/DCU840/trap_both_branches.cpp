#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void both(GM_ADDR x, uint32_t used, uint32_t rounds) {
  if (GetBlockIdx() < used) {
    for (uint32_t i = 0; i < rounds; ++i) {
      SyncAll();
    }
    SyncAll();
  } else {
    // for the SuperKernel: those that have no work wait as often
    for (uint32_t i = 0; i < rounds; ++i) {
      SyncAll();
    }
    SyncAll();
  }
}
