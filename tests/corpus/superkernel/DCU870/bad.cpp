#include "kernel_operator.h"
using namespace AscendC;

class Stage {
 public:
  __aicore__ inline void Init(TPipe* pipe) {
    pipe_ = pipe;
    pipe_->InitBuffer(queue_, 2, 256);
  }
  __aicore__ inline void Process() {
    LocalTensor<half> local = queue_.AllocTensor<half>();
    DataCopy(local, xGm_, 16);
    queue_.FreeTensor(local);
  }
  __aicore__ inline void End() { pipe_->Destroy(); }

 private:
  TPipe* pipe_;
  TQue<QuePosition::VECIN, 2> queue_;
  GlobalTensor<half> xGm_;
};
extern "C" __global__ __aicore__ void destroyed(GM_ADDR x) {
  TPipe pipe;
  Stage first;
  first.Init(&pipe);
  first.Process();
  first.End();
  TPipe second; //! DCU870
  Stage next;
  next.Init(&second);
  next.Process();
}
extern "C" __global__ __aicore__ void blocks(GM_ADDR x) {
  {
    TPipe pipe;
    Stage op;
    op.Init(&pipe);
    op.Process();
  }
  {
    TPipe other; //! DCU870
    Stage op;
    op.Init(&other);
    op.Process();
  }
}
extern "C" __global__ __aicore__ void without(GM_ADDR x, bool first) {
  TPipe pipe;
  Stage op;
  op.Init(&pipe);
  if (first) {
    op.Process();
    pipe.DestroyWithoutPipeAll();
  }
  TPipe other; //! DCU870
}
