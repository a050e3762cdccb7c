#include "kernel_operator.h"
using namespace AscendC;

// The callee leaves early, its caller does not.
class Scatter {
 public:
  __aicore__ inline void Process(uint32_t used) {
    Load(used);
    SyncAll();
    Load(used);
    SyncAll();
  }

 private:
  __aicore__ inline void Load(uint32_t used) {
    if (GetBlockIdx() >= used) {
      return;
    }
    rows_ = GetBlockIdx() * 2;
  }
  uint32_t rows_ = 0;
};
extern "C" __global__ __aicore__ void scatter(GM_ADDR x, uint32_t used) {
  Scatter op;
  op.Process(used);
}
