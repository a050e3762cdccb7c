#include "kernel_operator.h"
using namespace AscendC;

class Poll {
 public:
  __aicore__ inline void Process() {
    do {
      DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(flagGm_);
    } while (flagGm_.GetValue(0) != 1);
  }

 private:
  GlobalTensor<int32_t> flagGm_;
};
extern "C" __global__ __aicore__ void poll(GM_ADDR x) {
  Poll op;
  op.Process();
}
