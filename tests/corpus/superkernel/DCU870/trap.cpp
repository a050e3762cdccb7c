#include "kernel_operator.h"
using namespace AscendC;

// One branch or the other, a return behind the end, the last end, Reset(), a drain directly before, SyncAll(), another
// class with the same method, and a kernel whose code is a macro.
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
class Namespace {
 public:
  __aicore__ inline void Destroy() { gone_ = true; }

 private:
  bool gone_ = false;
};
extern "C" __global__ __aicore__ void branches(GM_ADDR x, uint32_t key) {
  if (key == 1) {
    TPipe pipe;
    Stage op;
    op.Init(&pipe);
    op.Process();
    pipe.Destroy();
  } else if (key == 2) {
    TPipe pipe;
    Stage op;
    op.Init(&pipe);
    op.Process();
  } else {
    TPipe pipe;
    Stage op;
    op.Init(&pipe);
  }
}
extern "C" __global__ __aicore__ void leaves(GM_ADDR x, uint32_t key) {
  TPipe pipe;
  Stage op;
  op.Init(&pipe);
  op.Process();
  if (key == 1) {
    pipe.Destroy();
    return;
  }
  pipe.Reset();
  op.Init(&pipe);
  op.Process();
  PipeBarrier<PIPE_ALL>();
  pipe.Destroy();
  TPipe second;
  op.Init(&second);
  op.Process();
  second.Destroy();
  SyncAll();
  TPipe third;
  op.Init(&third);
  Namespace other;
  other.Destroy();
  TPipe fourth;
}
#define RUN_STAGE(KEY)          \
  do {                          \
    TPipe pipe;                 \
    Stage op;                   \
    op.Init(&pipe);             \
    op.Process();               \
    pipe_barrier(PIPE_ALL);     \
  } while (0)
extern "C" __global__ __aicore__ void by_macro(GM_ADDR x) {
  RUN_STAGE(1);
  RUN_STAGE(2);
}
#define RUN_ALONE()  \
  do {               \
    TPipe pipe;      \
    Stage op;        \
    op.Init(&pipe);  \
    op.Process();    \
  } while (0)
extern "C" __global__ __aicore__ void by_key(GM_ADDR x) {
  if (TILING_KEY_IS(10)) {
    RUN_ALONE();
  } else if (TILING_KEY_IS(11)) {
    RUN_ALONE();
  }
}
