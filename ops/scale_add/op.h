#pragma once
/* What the binding and op_kernel.hip agree on: plain C, so that the host compiler sees no HIP header and the
 * HIP compiler no torch header. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As many as torch's own kernels of this kind take:
 * https://github.com/pytorch/pytorch/blob/v2.1.0/aten/src/ATen/cuda/detail/OffsetCalculator.cuh */
enum { scale_add_most_dimensions = 25 };

/* By how many elements one step along a dimension moves in each tensor; 0 where it is broadcast. */
struct scale_add_dimension {
  int64_t size;
  int64_t a;
  int64_t b;
  int64_t y;
};

/* The result has `count` elements, in `rank` dimensions, the outermost first. y may be a, with the same steps; it
 * shares no memory with a and b otherwise, and no two of its elements have the same place. */
struct scale_add_call {
  const void* a;
  const void* b;
  void* y;
  float alpha;
  float beta;
  int64_t count;
  int rank; /* at least 1 */
  struct scale_add_dimension dimensions[scale_add_most_dimensions];
};

/* Queues y = a * alpha + b * beta on `stream` (a hipStream_t) of the current device. Returns the launch's
 * hipError_t, 0 for success; count 0 launches nothing. Faults inside the kernel appear later, at the stream's next
 * synchronisation. */
int scale_add_float16(const struct scale_add_call* call, void* stream);
int scale_add_bfloat16(const struct scale_add_call* call, void* stream);
int scale_add_float32(const struct scale_add_call* call, void* stream);

/* hipGetErrorString of what these have returned. */
const char* scale_add_error_string(int error);

/* What the kernel was compiled for: "hip", "cuda", or "host" (which emulates the grid: the tensors are the host's,
 * there is no stream, and a fault inside the kernel is the launch's error). */
const char* scale_add_backend(void);

#ifdef __cplusplus
}
#endif
