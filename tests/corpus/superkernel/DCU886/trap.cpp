#include "kernel_operator.h"
using namespace AscendC;

// Where the back end compiles the operator GetBlockNum() stays what it was.
__global__ __aicore__ __vector__ void add(GM_ADDR x, uint32_t length) {
  uint32_t each = length / AscendC::GetBlockNum();
}
