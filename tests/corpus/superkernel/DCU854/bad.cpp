#include "kernel_operator.h"
using namespace AscendC;

struct Slot {
  int32_t block_idx; //! DCU854
};
#define CORE_OF_TILE() (get_block_idx() % 8) //! DCU854
extern "C" __global__ __aicore__ void low(GM_ADDR x, uint32_t total) {
  int64_t core = get_block_idx(); //! DCU854
  int64_t cores = get_block_num(); //! DCU854
  int64_t ratio = get_task_ration(); //! DCU854
  int64_t mine = block_idx * 2; //! DCU854
  int64_t each = total / block_num; //! DCU854
}
__aicore__ inline uint32_t Own(uint32_t block_idx) { //! DCU854
  return 2;
}
