#include "kernel_operator.h"
using namespace AscendC;

template <uint8_t kMode>
__aicore__ inline void Notify(uint16_t flag) {
  CrossCoreSetFlag<kMode, PIPE_FIX>(flag); //! DCU846
}
extern "C" __global__ __aicore__ void pair(GM_ADDR x) {
  Notify<2>(1);
}
