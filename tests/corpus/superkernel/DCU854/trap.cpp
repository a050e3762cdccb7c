#include "kernel_operator.h"
using namespace AscendC;

// get_block_idx() in a comment, names that contain it, strings, the host, and a variable block_num.
#include <cstdio>
extern "C" __global__ __aicore__ void high(GM_ADDR x, uint32_t block_num) {
  int64_t curBlockIdx = AscendC::GetBlockIdx(); /* was block_idx */
  int64_t tmp_block_idx_ = curBlockIdx + block_num;
  int64_t sub = get_subblockid();
  AscendC::printf("block_idx %d", 1);
}
int main() {
  int block_idx = 0;
  std::printf("%d", block_idx);
  return 0;
}
