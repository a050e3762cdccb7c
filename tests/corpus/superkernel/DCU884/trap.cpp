#include "kernel_operator.h"
using namespace AscendC;

struct AddArgs {
  GM_ADDR x;
  GM_ADDR y;
  uint32_t length;
  alignas(4) int16_t flag;
};
__global__ __aicore__ __mix__(1, 2) void add(GM_ADDR x, GM_ADDR y, uint32_t length, int16_t flag) {}
__sk__ __aicore__ __mix__(1,2) void add_sk(const AddArgs* args) {}
SK_BIND(add, 4,
        add_sk);
#define SK_BIND_ALL(f, g) SK_BIND(f, 4, g)
