#include "kernel_operator.h"
using namespace AscendC;

class Histogram {
 public:
  __aicore__ inline void Init(GM_ADDR counts, uint32_t used) {
    blockIdx_ = GetBlockIdx();
    used_ = used;
  }
  __aicore__ inline void Process() {
    if (blockIdx_ >= used_) {
      return;
    }
    Count();
    SyncAll(); //! DCU840
    Merge();
  }
  __aicore__ inline void Guarded() {
    if (GetBlockIdx() < used_) {
      Count();
      AscendC::SyncAll<true>(); //! DCU840
    }
  }

 private:
  __aicore__ inline void Count() { local_[0] = 0; }
  __aicore__ inline void Merge() { local_[1] = 0; }
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

extern "C" __global__ __aicore__ void histogram_guarded(GM_ADDR counts, uint32_t used) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  Histogram op;
  op.Init(counts, used);
  op.Guarded();
}

// A guard in the caller, the wait in a callee; and what a parameter brings along.
__aicore__ inline void Meet(bool takes_part) {
  if (takes_part) {
    SyncAll(); //! DCU840
  }
}
__aicore__ inline void Finish() {
  SyncAll(); //! DCU840
}
extern "C" __global__ __aicore__ void meet(GM_ADDR x, uint32_t tail) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  Meet(GetBlockIdx() == 0);
  if (GetSubBlockIdx() == 0) {
    Finish();
  }
}
