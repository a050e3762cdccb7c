#pragma once
/* What the binding and op_kernel.hip agree on: plain C, so that the host compiler sees no HIP header and the
 * HIP compiler no torch header. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* x and y are `rows` rows of `length` elements, one after another; weight has `length`. None overlaps y. */
struct rms_norm_call {
  const void* x;
  const void* weight;
  void* y;
  int64_t rows;
  int64_t length;
  float eps;
};

/* Queues y = x / sqrt(mean(x^2) + eps) * weight, a row at a time, on `stream` (a hipStream_t) of the current
 * device. Returns the launch's hipError_t, 0 for success; without elements nothing is launched. Faults inside the
 * kernel appear later, at the stream's next synchronisation. */
int rms_norm_float16(const struct rms_norm_call* call, void* stream);
int rms_norm_bfloat16(const struct rms_norm_call* call, void* stream);
int rms_norm_float32(const struct rms_norm_call* call, void* stream);

/* hipGetErrorString of what these have returned. */
const char* rms_norm_error_string(int error);

/* What the kernel was compiled for: "hip", "cuda", or "host" (which emulates the grid: the tensors are the host's,
 * there is no stream, and a fault inside the kernel is the launch's error). */
const char* rms_norm_backend(void);

#ifdef __cplusplus
}
#endif
