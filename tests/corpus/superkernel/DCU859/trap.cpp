#include "kernel_operator.h"
using namespace AscendC;

// A search goes on to other places; a helper flushes; a local tensor has no cache; a bound is read once.
class Search {
 public:
  __aicore__ inline void Process(int32_t wanted) {
    uint32_t i = 0;
    while (listGm_.GetValue(i) != wanted) {
      ++i;
    }
    for (uint32_t row = 0; row < listGm_.GetValue(7 + row); ++row) {
      total_ += 1;
    }
    while (Fresh() != 1) {
    }
    LocalTensor<int32_t> local = queue_.AllocTensor<int32_t>();
    while (local.GetValue(0) != 1) {
      local.SetValue(0, 1);
    }
    while (total_ < wanted) {
      where_.row += 1;
      total_ = listGm_.GetValue(where_.row);
    }
    for (int32_t round = 0; round < wanted; ++round) {
      int32_t length = listGm_.GetValue(3);
      if (length <= 0) {
        return; // a mistake of the input, and no wait
      }
    }
    int32_t count = listGm_.GetValue(0);
    while (count > 0) {
      --count;
    }
  }

 private:
  __aicore__ inline int32_t Fresh() {
    DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(listGm_);
    return listGm_.GetValue(0);
  }
  GlobalTensor<int32_t> listGm_;
  TQue<QuePosition::VECIN, 1> queue_;
  struct Where {
    int32_t row;
  } where_;
  int32_t total_ = 0;
};
extern "C" __global__ __aicore__ void search(GM_ADDR x) {
  Search op;
  op.Process(3);
}
