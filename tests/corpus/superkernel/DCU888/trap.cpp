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
constexpr uint64_t kCapabilities = 7;
__sk__ __aicore__ __vector__ void silent(const AddArgs* args) {}
SK_BIND(add, kCapabilities, silent);
SK_BIND(add, 8, silent);
