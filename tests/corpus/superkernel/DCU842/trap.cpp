#include "kernel_operator.h"
using namespace AscendC;

template <bool kMix, int kStages>
__aicore__ inline void SyncAllOfProject() {
  SyncAll<kMix>();
}
extern "C" __global__ __aicore__ void all(GM_ADDR x) {
  SyncAllOfProject<true, 2>();
}
