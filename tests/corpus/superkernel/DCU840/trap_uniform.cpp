#include "kernel_operator.h"
using namespace AscendC;

// Returns that all cores take, loops whose trips the tiling says, a choice in a loop without an end.
extern "C" __global__ __aicore__ void uniform(GM_ADDR x, GM_ADDR workspace, uint32_t usedCoreNum, uint32_t loops) {
  if (workspace == nullptr) {
    return;
  }
  if (usedCoreNum == 0 || GetBlockIdx() >= GetBlockNum()) {
    return;
  }
  if (TILING_KEY_IS(1)) {
    SyncAll();
  } else if (TILING_KEY_IS(2)) {
    for (uint32_t i = 0; i < loops; ++i) {
      SyncAll();
    }
  }
}
extern "C" __global__ __aicore__ void dynamic_count(GM_ADDR x, uint32_t limit) {
  uint32_t done = 0;
  while (true) {
    if (GetBlockIdx() == 0) {
      done += 1;
      SyncAll();
      continue;
    }
    SyncAll();
    if (done > limit) {
      break;
    }
  }
}
