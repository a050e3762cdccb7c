#include "kernel_operator.h"
using namespace AscendC;

constexpr uint8_t ALL_CORES = 0x0;
enum SyncMode : uint8_t { EVERY_CORE, BETWEEN_VECTORS, WITH_CUBE };
#define ALLCUBE_READY(flag, pipe) ffts_cross_core_sync(pipe, GetffstMsg(0x0, flag)) //! DCU845
class Reduce {
 public:
  static constexpr uint8_t MODE = 0;
  __aicore__ inline void Process() {
    CrossCoreSetFlag<0, PIPE_MTE3>(1); //! DCU845
    CrossCoreWaitFlag(1);
    CrossCoreSetFlag<ALL_CORES, PIPE_MTE3>(2); //! DCU845
    CrossCoreWaitFlag(2);
    CrossCoreSetFlag<SyncMode::EVERY_CORE, PIPE_MTE3>(3); //! DCU845
    CrossCoreWaitFlag(3);
    AscendC::CrossCoreSetFlag<MODE, PIPE_MTE3>(4); //! DCU845
    AscendC::CrossCoreWaitFlag(4);
    ALLCUBE_READY(5, PIPE_MTE3);
    wait_flag_dev(5);
  }
};
extern "C" __global__ __aicore__ void reduce(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  Reduce op;
  op.Process();
}
