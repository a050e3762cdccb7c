#include "kernel_operator.h"
using namespace AscendC;
constexpr int ALL = 0;
enum class Mode : uint8_t { all = 0, pair = 2 };
extern "C" __global__ __aicore__ void converted(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  CrossCoreSetFlag<static_cast<uint8_t>(ALL), PIPE_MTE3>(0); //! DCU845
  CrossCoreWaitFlag(0);
  CrossCoreSetFlag<static_cast<uint8_t>(Mode::all), PIPE_MTE3>(1); //! DCU845
  CrossCoreWaitFlag(1);
  CrossCoreSetFlag<(uint8_t)ALL, PIPE_MTE3>(2); //! DCU845
  CrossCoreWaitFlag(2);
  CrossCoreSetFlag<uint8_t(ALL), PIPE_MTE3>(3); //! DCU845
  CrossCoreWaitFlag(3);
  CrossCoreSetFlag<uint8_t{ALL}, PIPE_MTE3>(4); //! DCU845
  CrossCoreWaitFlag(4);
}
