#pragma once
/* What the binding and op_kernel.hip agree on: plain C, so that the host compiler sees no HIP header and the
 * HIP compiler no torch header. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Queues y[i] = x[i] * scale + bias for i in [0, count) on `stream` (a hipStream_t) of the current device.
 * x and y hold FP16 and do not overlap. Returns the launch's hipError_t, 0 for success; count 0 launches
 * nothing. Faults inside the kernel appear later, at the stream's next synchronisation. */
int affine_launch(const void* x, void* y, int64_t count, float scale, float bias, void* stream);

/* hipGetErrorString of what affine_launch returned. */
const char* affine_error_string(int error);

/* What the kernel was compiled for: "hip", "cuda", or "host" (which emulates the grid: x and y are the host's,
 * there is no stream, and a fault inside the kernel is the launch's error). */
const char* affine_backend(void);

#ifdef __cplusplus
}
#endif
