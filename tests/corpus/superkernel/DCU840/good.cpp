#include "kernel_operator.h"
using namespace AscendC;

class Histogram {
 public:
  __aicore__ inline void Init(GM_ADDR counts, uint32_t used) {
    blockIdx_ = GetBlockIdx();
    used_ = used;
  }
  __aicore__ inline void Process() {
    if (blockIdx_ < used_) {
      Count();
    }
    SyncAll();
    if (blockIdx_ >= used_) {
      return;
    }
    Count();
  }

 private:
  __aicore__ inline void Count() { local_[0] = 0; }
  uint32_t blockIdx_ = 0;
  uint32_t used_ = 0;
  int32_t local_[2];
};

extern "C" __global__ __aicore__ void histogram(GM_ADDR counts, uint32_t used) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  Histogram op;
  op.Init(counts, used);
  op.Process();
}
