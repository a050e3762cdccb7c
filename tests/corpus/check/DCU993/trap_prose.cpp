#include <hip/hip_runtime.h>
// dcuop: allows a finding where a comment says why
// dcuop: allow whoever reads this to go on (it is prose)
// dcuop: see docs/check.md
// An example: dcuop: alow(DCU914)
// dcuop: alow(DCU840) is the other command's
void wait(hipStream_t stream) {
  hipStreamSynchronize(stream);
}
