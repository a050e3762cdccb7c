#include "kernel_operator.h"
using namespace AscendC;

// Local tensors have the same operator; a helper or another name may flush; DMA needs none; a tiling may be called.
#include "op_common.h"
class Members {
 public:
  __aicore__ inline void Process(int32_t n) {
    LocalTensor<int32_t> local = queue_.AllocTensor<int32_t>();
    local(0) = n;
    auto again = queue_.DeQue<int32_t>();
    again(0) = n;
    auto as_float = again.ReinterpretCast<float>();
    as_float(1) = 1.0f;
    auto whole = buffer_.Get<int32_t>();
    whole(0) = n;
    offsetsGm(0) = 1; // a local tensor, whatever its name
    DataCopy(outGm_, local, 8);
    table_(0) = n;
  }
  __aicore__ inline void WithHelper(int32_t n) {
    outGm_(0) = n;
    Flush(outGm_);
  }
  __aicore__ inline void WithAlias(int32_t n) {
    GlobalTensor<int32_t> row = outGm_[64];
    row(0) = n;
    DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(outGm_[64]);
  }
  __aicore__ inline void Whole(int32_t n) {
    outGm_(0) = n;
    DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE>(other_);
  }

 private:
  __aicore__ inline void Flush(GlobalTensor<int32_t> tensor) {
    DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(tensor);
  }
  TQue<QuePosition::VECIN, 1> queue_;
  TBuf<QuePosition::VECCALC> buffer_;
  LocalTensor<int32_t> offsetsGm;
  GlobalTensor<int32_t> outGm_;
  GlobalTensor<int32_t> other_;
  Table table_;
};
extern "C" __global__ __aicore__ void traps(GM_ADDR x, int32_t n) {
  Members op;
  op.Process(n);
  op.WithHelper(n);
  op.WithAlias(n);
  op.Whole(n);
}
void Host(std::vector<int>& values, GlobalTensor<int32_t> hostGm) {
  hostGm(0) = values.size();
}
