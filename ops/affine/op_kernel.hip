#include "op.h"

#include "../common/gpu.h"

namespace {

constexpr int block_size = 256;
// So many loads a thread has under way at a time: with one of 2 bytes, most of the memory's bandwidth is left unused.
constexpr int per_thread = 8;
constexpr int64_t tile_size = block_size * per_thread;
// The grid strides over what does not fit, so that a count beyond 2^31 needs no larger grid.
constexpr int64_t most_blocks = 4096;

// One rounding to float32 (fmaf, said explicitly: contraction is the compiler's choice) and one to FP16.
__global__ __launch_bounds__(block_size) void affine_kernel(const __half* __restrict__ x,
                                                            __half* __restrict__ y, int64_t count,
                                                            float scale, float bias) {
  const int64_t stride = gridDim.x * tile_size;
  for (int64_t first = blockIdx.x * tile_size + threadIdx.x; first < count; first += stride) {
    __half loaded[per_thread];
    for (int k = 0; k < per_thread; ++k) {
      const int64_t i = first + k * block_size;
      if (i < count) {
        loaded[k] = x[i];
      }
    }
    for (int k = 0; k < per_thread; ++k) {
      const int64_t i = first + k * block_size;
      if (i < count) {
        y[i] = __float2half_rn(fmaf(__half2float(loaded[k]), scale, bias));
      }
    }
  }
}

} // namespace

int affine_launch(const void* x, void* y, int64_t count, float scale, float bias, void* stream) {
  if (count == 0) {
    return hipSuccess;
  }
  const int64_t wanted = (count - 1) / tile_size + 1;
  const int64_t blocks = wanted < most_blocks ? wanted : most_blocks;
  hipLaunchKernelGGL(affine_kernel, dim3(static_cast<uint32_t>(blocks)), dim3(block_size), 0,
                     static_cast<hipStream_t>(stream), static_cast<const __half*>(x), static_cast<__half*>(y),
                     count, scale, bias);
  return hipGetLastError();
}

const char* affine_error_string(int error) {
  return hipGetErrorString(static_cast<hipError_t>(error));
}

const char* affine_backend() {
  return GPU_BACKEND;
}
