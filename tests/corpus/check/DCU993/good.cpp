#include <hip/hip_runtime.h>
void wait(hipStream_t stream) {
  hipStreamSynchronize(stream);
}
