#include "kernel_operator.h"
using namespace AscendC;

#include "args_of_another_directory.h"
struct SpelledArgs {
  GM_ADDR x;
  const std::uint32_t length;
};
__global__ __aicore__ __vector__ void scale(GM_ADDR x, uint32_t length) {}
__sk__ __aicore__ __vector__ void scale_sk(const SpelledArgs* args) {}
__sk__ __aicore__ __vector__ void elsewhere(const ForeignArgs* args) {}
SK_BIND(scale, 4, scale_sk, elsewhere);
