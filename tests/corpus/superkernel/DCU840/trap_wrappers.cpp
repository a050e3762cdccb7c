#include "kernel_operator.h"
using namespace AscendC;

// A method named SyncAll, wrappers of a project, the soft form, a choice by the preprocessor, and text in comments.
class Base {
 public:
  __aicore__ inline void SyncAll() {
    AscendC::SyncAll();
  }
  __aicore__ inline void Run(uint32_t used) {
    if (GetBlockIdx() < used) {
      work_ = 1; // SyncAll();
    }
    SyncAll();
    Mc2SyncAll(0);
  }
  __aicore__ inline void Mc2SyncAll(int32_t) {
    SyncAll();
  }

 private:
  int32_t work_ = 0;
};
extern "C" __global__ __aicore__ void wrapped(GM_ADDR x, uint32_t used) {
  Base op;
  op.Run(used);
}
extern "C" __global__ __aicore__ void soft(GM_ADDR x, GM_ADDR sync, uint32_t used) {
  GlobalTensor<int32_t> syncGm;
  LocalTensor<int32_t> syncLocal;
  if (GetBlockIdx() < used) {
    SyncAll(syncGm, syncLocal, used);
  }
#if __CCE_AICORE__ == 200
  SyncAll(syncGm, syncLocal);
#elif __CCE_AICORE__ == 220
  SyncAll();
#endif
}
