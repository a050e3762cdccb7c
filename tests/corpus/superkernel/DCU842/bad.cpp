#include "kernel_operator.h"
using namespace AscendC;

constexpr SyncAllConfig kConfig = {PIPE_ALL, PIPE_ALL};
extern "C" __global__ __aicore__ void all(GM_ADDR x) {
  SyncAll<true, kConfig>(); //! DCU842
}
