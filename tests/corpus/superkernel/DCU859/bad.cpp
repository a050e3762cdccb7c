#include "kernel_operator.h"
using namespace AscendC;

class Poll {
 public:
  __aicore__ inline void Process(uint32_t rank) {
    while (flagGm_.GetValue(rank) != 1) { //! DCU859
    }
    do {
      value_ = flagGm_.GetValue(0); //! DCU859
    } while (value_ == 0);
    while (true) {
      if (flagGm_(0) == 2) { //! DCU859
        break;
      }
    }
  }

 private:
  GlobalTensor<int32_t> flagGm_;
  int32_t value_ = 0;
};
extern "C" __global__ __aicore__ void poll(GM_ADDR x) {
  Poll op;
  op.Process(1);
}
