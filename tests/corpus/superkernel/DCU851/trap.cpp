#include "kernel_operator.h"
using namespace AscendC;

// On cube cores, in a kernel of 1:2, behind a return of the second core, and members of other classes.
class Iterator {
 public:
  __aicore__ inline void Iterate() { at_ += 1; }

 private:
  uint32_t at_ = 0;
};
class OnCube {
 public:
  MatmulImpl<AType, BType, CType, BiasType> mm_;
  Iterator rows_;
  __aicore__ inline void Process() {
    rows_.Iterate();
    if ASCEND_IS_AIC {
      mm_.IterateAll(cGm_);
    }
  }

 private:
  GlobalTensor<half> cGm_;
};
extern "C" __global__ __aicore__ void on_cube(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
  OnCube op;
  op.Process();
}
class OneToTwo {
 public:
  matmul::Matmul<AType, BType, CType, BiasType> mm_;
  __aicore__ inline void Process() { mm_.Iterate(); }
  __aicore__ inline void First() {
    if (GetSubBlockIdx() != 0) {
      return;
    }
    mm_.Iterate();
  }
};
extern "C" __global__ __aicore__ void one_to_two(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  OneToTwo op;
  op.Process();
}
extern "C" __global__ __aicore__ void first(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
  OneToTwo op;
  op.First();
}
