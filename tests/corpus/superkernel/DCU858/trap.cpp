#include "kernel_operator.h"
using namespace AscendC;

// Pointers to local memory, to tiling data, and another name of the one that is flushed.
extern "C" __global__ __aicore__ void store(GM_ADDR x, Tiling* tiling, int32_t n) {
  __ubuf__ int32_t* local = reinterpret_cast<__ubuf__ int32_t*>(0);
  *local = n;
  int32_t rows[4];
  rows[0] = n;
  tiling->rows = n;
  GlobalTensor<int32_t> flags;
  flags.SetGlobalBuffer((__gm__ int32_t*)x);
  __gm__ int32_t* p = const_cast<__gm__ int32_t*>(flags.GetPhyAddr());
  p[0] = n;
  DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(flags);
}
