#include "kernel_operator.h"
using namespace AscendC;

class Count {
 public:
  __aicore__ inline void Init(GM_ADDR counts) { countGm_.SetGlobalBuffer((__gm__ int32_t*)counts); }
  __aicore__ inline void Process(int32_t n, bool flush) {
    countGm_(0) = n; //! DCU857
    countGm_(1) += n; //! DCU857
    this->countGm_(2)++; //! DCU857
    countGm_[8](0) = n; //! DCU857
    if (flush) {
      DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(countGm_);
    }
  }

 private:
  GlobalTensor<int32_t> countGm_;
};
extern "C" __global__ __aicore__ void count(GM_ADDR counts, int32_t n) {
  Count op;
  op.Init(counts);
  op.Process(n, n > 0);
}
