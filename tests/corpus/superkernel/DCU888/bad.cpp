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
__sk__ __aicore__ __vector__ void waits(const AddArgs* args) {
  WaitPreTaskEnd();
}
__sk__ __aicore__ __vector__ void silent(const AddArgs* args) {}
SK_BIND(add, 4, waits); //! DCU888
SK_BIND(add, 0x6, silent); //! DCU888
