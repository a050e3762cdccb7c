#include "kernel_operator.h"
using namespace AscendC;

class Add {
 public:
  __aicore__ inline void Process(uint32_t used) {
    WaitPreTaskEnd();
    if (GetBlockIdx() < used) {
      Compute();
    }
    SetNextTaskStart();
    if (GetBlockIdx() >= used) {
      return;
    }
    Compute();
  }

 private:
  __aicore__ inline void Compute() { n_ = 1; }
  uint32_t n_ = 0;
};
extern "C" __global__ __aicore__ void add(GM_ADDR x, uint32_t used) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  Add op;
  op.Process(used);
}
