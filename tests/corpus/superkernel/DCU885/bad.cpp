#include "kernel_operator.h"
using namespace AscendC;

struct ShortArgs {
  GM_ADDR x;
};
struct SwappedArgs {
  uint32_t length; //! DCU885
  GM_ADDR x; //! DCU885
};
struct SmallArgs {
  GM_ADDR x;
  uint8_t flag; //! DCU885
};
__global__ __aicore__ __vector__ void scale(GM_ADDR x, uint32_t length) {}
__global__ __aicore__ __vector__ void mark(GM_ADDR x, uint8_t flag) {}
__sk__ __aicore__ __vector__ void scale_short(const ShortArgs* args) {}
__sk__ __aicore__ __vector__ void scale_swapped(const SwappedArgs* args) {}
__sk__ __aicore__ __vector__ void mark_sk(const SmallArgs* args) {}
SK_BIND(scale, 4, scale_short); //! DCU885
SK_BIND(scale, 4, scale_swapped);
SK_BIND(mark, 4, mark_sk);
