#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void order(GM_ADDR x, GM_ADDR y) {
  GlobalTensor<half> xGm;
  GlobalTensor<half> yGm;
  LocalTensor<half> local;
  DataCopy(local, xGm, 16); //! DCU866
  WaitPreTaskEnd();
  SetNextTaskStart();
  DataCopy(yGm, local, 16); //! DCU866
}
