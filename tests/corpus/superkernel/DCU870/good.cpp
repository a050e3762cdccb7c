#include "kernel_operator.h"
using namespace AscendC;

class Stage {
 public:
  __aicore__ inline void Init(TPipe* pipe) { pipe->InitBuffer(queue_, 2, 256); }
  __aicore__ inline void Process() {
    LocalTensor<half> local = queue_.AllocTensor<half>();
    DataCopy(local, xGm_, 16);
  }

 private:
  TQue<QuePosition::VECIN, 2> queue_;
  GlobalTensor<half> xGm_;
};
extern "C" __global__ __aicore__ void drained(GM_ADDR x) {
  TPipe pipe;
  Stage op;
  op.Init(&pipe);
  op.Process();
  pipe.Destroy();
  PipeBarrier<PIPE_ALL>();
  TPipe second;
  op.Init(&second);
  op.Process();
}
