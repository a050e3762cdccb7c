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
__sk__ __aicore__ __cube__ void add_sk(const AddArgs* args) {}
__aicore__ __vector__ void plain(const AddArgs* args) {}
template <uint32_t kSplit>
__sk__ __aicore__ __vector__ void many(const AddArgs* args) {}
SK_BIND(add, 4, add_sk); //! DCU884
SK_BIND(add, 4, plain); //! DCU884
SK_BIND(add, 4, many<0>, many<1>, many<2>, many<3>, many<4>); //! DCU884
