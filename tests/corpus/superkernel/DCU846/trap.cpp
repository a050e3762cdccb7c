#include "kernel_operator.h"
using namespace AscendC;

// A wait has no mode; a set inside the core has none either.
extern "C" __global__ __aicore__ void pair(GM_ADDR x) {
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
}
