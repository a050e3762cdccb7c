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
template <uint32_t kSplit>
__sk__ __aicore__ __vector__ void add_sk(const AddArgs* args, sk::SkSystemArgs* sysArgs) {
  uint32_t blocks = sysArgs->skNumBlocks;
  TPipe pipe;
  PipeBarrier<PIPE_ALL>();
  pipe.DestroyWithoutPipeAll();
}
SK_BIND(add, 4, add_sk<0>, add_sk<1>, add_sk<2>, add_sk<3>);
