#include "kernel_operator.h"
using namespace AscendC;

struct Header {
  uint32_t count;
};
extern "C" __global__ __aicore__ void store(GM_ADDR x, __gm__ int32_t* out, int32_t n) {
  __gm__ int32_t* p = reinterpret_cast<__gm__ int32_t*>(x);
  *p = n; //! DCU858
  p[1] = n; //! DCU858
  __gm__ Header* header = (__gm__ Header*)x;
  header->count = n; //! DCU858
  out[0] = n; //! DCU858
}
