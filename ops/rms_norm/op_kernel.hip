#include "op.h"

#include "../common/gpu.h"

namespace {

constexpr int block_size = 256;
// Rows beyond the grid are reached by striding.
constexpr int64_t most_blocks = 4096;

// One block a row. All is float32, and fused where it says fmaf, until the result is rounded; so is reference.py.
template <class T>
__global__ __launch_bounds__(block_size) void rms_norm_kernel(const T* __restrict__ x,
                                                              const T* __restrict__ weight, T* __restrict__ y,
                                                              int64_t rows, int64_t length, float eps) {
  __shared__ float partial[block_size];
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const T* const from = x + row * length;
    T* const to = y + row * length;
    float sum = 0.0F;
    for (int64_t i = threadIdx.x; i < length; i += block_size) {
      const float value = to_float(from[i]);
      sum = fmaf(value, value, sum);
    }
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (uint32_t width = block_size / 2; width > 0; width /= 2) {
      if (threadIdx.x < width) {
        partial[threadIdx.x] += partial[threadIdx.x + width];
      }
      __syncthreads();
    }
    // Not rsqrtf(), which no two platforms round alike.
    const float scale = 1.0F / sqrtf(partial[0] / static_cast<float>(length) + eps);
    for (int64_t i = threadIdx.x; i < length; i += block_size) {
      to[i] = from_float<T>(to_float(from[i]) * scale * to_float(weight[i]));
    }
    // The next row writes to `partial`: not before every thread has read this one's sum.
    __syncthreads();
  }
}

template <class T> int launch(const rms_norm_call& call, void* stream) {
  if (call.rows == 0 || call.length == 0) {
    return hipSuccess;
  }
  const int64_t blocks = call.rows < most_blocks ? call.rows : most_blocks;
  hipLaunchKernelGGL(rms_norm_kernel<T>, dim3(static_cast<uint32_t>(blocks)), dim3(block_size), 0,
                     static_cast<hipStream_t>(stream), static_cast<const T*>(call.x),
                     static_cast<const T*>(call.weight), static_cast<T*>(call.y), call.rows, call.length,
                     call.eps);
  return hipGetLastError();
}

} // namespace

int rms_norm_float16(const rms_norm_call* call, void* stream) {
  return launch<__half>(*call, stream);
}

int rms_norm_bfloat16(const rms_norm_call* call, void* stream) {
  return launch<bfloat16>(*call, stream);
}

int rms_norm_float32(const rms_norm_call* call, void* stream) {
  return launch<float>(*call, stream);
}

const char* rms_norm_error_string(int error) {
  return hipGetErrorString(static_cast<hipError_t>(error));
}

const char* rms_norm_backend() {
  return GPU_BACKEND;
}
