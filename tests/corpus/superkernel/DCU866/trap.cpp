#include "kernel_operator.h"
using namespace AscendC;

// Without the calls nothing is asked; between local tensors nothing either.
extern "C" __global__ __aicore__ void plain(GM_ADDR x) {
  GlobalTensor<half> xGm;
  LocalTensor<half> local;
  DataCopy(local, xGm, 16);
  DataCopy(xGm, local, 16);
}
extern "C" __global__ __aicore__ void local_only(GM_ADDR x) {
  GlobalTensor<half> xGm;
  LocalTensor<half> a;
  LocalTensor<half> b;
  xGm.SetGlobalBuffer((__gm__ half*)x);
  DataCopy(a, b, 16);
  WaitPreTaskEnd();
  DataCopy(a, xGm, 16);
  SetNextTaskStart();
  DataCopy(b, a, 16);
}
