#include "kernel_operator.h"
using namespace AscendC;

struct AddArgs {
  GM_ADDR x;
  GM_ADDR y;
  uint32_t length;
  alignas(4) int16_t flag;
};
__global__ __aicore__ __vector__ void add(GM_ADDR x, GM_ADDR y, uint32_t length, int16_t flag) {
  PipeBarrier<PIPE_ALL>();
}
__sk__ __aicore__ __vector__ void both(const AddArgs* args) {
  WaitPreTaskEnd();
  SetNextTaskStart();
}
SK_BIND(add, 3, both);
