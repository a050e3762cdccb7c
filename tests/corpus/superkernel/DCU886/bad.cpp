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
__sk__ __aicore__ __vector__ void add_sk(const AddArgs* args) {
  uint32_t each = args->length / AscendC::GetBlockNum(); //! DCU886
}
SK_BIND(add, 4, add_sk);
