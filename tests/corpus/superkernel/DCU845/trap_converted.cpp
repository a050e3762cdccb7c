#include "kernel_operator.h"
using namespace AscendC;
constexpr int PAIR = 2;
enum class Mode : uint8_t { all = 0, pair = 2 };
extern "C" __global__ __aicore__ void converted(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  if ASCEND_IS_AIC {
    CrossCoreSetFlag<static_cast<uint8_t>(PAIR), PIPE_FIX>(3);
    CrossCoreSetFlag<uint8_t{static_cast<uint8_t>(Mode::pair)}, PIPE_FIX>(4);
  }
  if ASCEND_IS_AIV {
    CrossCoreWaitFlag(3);
    CrossCoreWaitFlag(4);
  }
}
