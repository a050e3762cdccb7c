#pragma once
// One kernel body, three compilers. A kernel includes this file and is written in HIP:
//   hipcc (5.2 and later, DTK)  this file adds the headers, and bfloat16;
//   nvcc                        CUDA under the few names of HIP that the operators use;
//   any C++17 compiler          the same names for a grid that is emulated on the host (emulated_grid.h).
// Launch with hipLaunchKernelGGL, return hipGetLastError(); dynamic shared memory is HIP_DYNAMIC_SHARED(type, name).

#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__HIP__) || defined(__HIPCC__)

#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#define GPU_BACKEND "hip"

#elif defined(__CUDACC__)

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#define GPU_BACKEND "cuda"

using hipError_t = cudaError_t;
using hipStream_t = cudaStream_t;
#define hipSuccess cudaSuccess
#define hipGetLastError cudaGetLastError
#define hipGetErrorString cudaGetErrorString
#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...)                                         \
  (kernel)<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__)
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];

#else

#include "emulated_grid.h"
#define GPU_BACKEND "host"
#define GPU_IS_EMULATED

#endif

namespace {

#ifdef GPU_IS_EMULATED

inline float __uint_as_float(uint32_t bits) {
  float value = 0.0F;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline uint32_t __float_as_uint(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// By hand: a kernel that reads a header of torch would have to be built again for each torch, and _Float16 takes GCC 12.
struct __half {
  uint16_t bits;
};

inline float __half2float(__half value) {
  const uint32_t sign = (value.bits & 0x8000U) << 16;
  const uint32_t exponent = value.bits >> 10 & 0x1fU;
  const uint32_t fraction = value.bits & 0x3ffU;
  if (exponent == 0) {
    return __uint_as_float(sign | __float_as_uint(static_cast<float>(fraction) * 0x1p-24F));
  }
  return __uint_as_float(sign | (exponent == 0x1f ? 0xffU : exponent + 127 - 15) << 23 | fraction << 13);
}

/// To nearest, ties to even; a NaN stays one.
inline __half __float2half_rn(float value) {
  const uint32_t bits = __float_as_uint(value);
  const uint32_t sign = bits >> 16 & 0x8000U;
  const uint32_t magnitude = bits & 0x7fffffffU;
  uint32_t rounded = 0;
  if (magnitude > 0x7f800000U) {
    rounded = 0x7e00;
  } else if (magnitude >= 0x47800000U) { // 2^16
    rounded = 0x7c00;
  } else if (magnitude < 0x38800000U) { // 2^-14: the last bit of 0.5 is worth what that of a subnormal is
    rounded = __float_as_uint(__uint_as_float(magnitude) + 0.5F) - __float_as_uint(0.5F);
  } else {
    rounded = (magnitude - ((127U - 15U) << 23) + 0xfffU + (magnitude >> 13 & 1U)) >> 13;
  }
  return {static_cast<uint16_t>(sign | rounded)};
}

#endif

/// HIP has <hip/hip_bf16.h> from ROCm 5.7 on (https://github.com/vllm-project/vllm/pull/1313) and an older type beside
/// it (https://github.com/ROCm/legacy-rocm-build/issues/2534), CUDA a third: two conversions are shorter than three names.
struct bfloat16 {
  uint16_t bits;
};

__device__ inline float to_float(float value) {
  return value;
}
__device__ inline float to_float(__half value) {
  return __half2float(value);
}
__device__ inline float to_float(bfloat16 value) {
  return __uint_as_float(static_cast<uint32_t>(value.bits) << 16);
}

/// To nearest, ties to even; a NaN stays one.
template <class T> __device__ inline T from_float(float value);

template <> __device__ inline float from_float<float>(float value) {
  return value;
}
template <> __device__ inline __half from_float<__half>(float value) {
  return __float2half_rn(value);
}
template <> __device__ inline bfloat16 from_float<bfloat16>(float value) {
  const uint32_t bits = __float_as_uint(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) {
    return {0x7fc0};
  }
  return {static_cast<uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16)};
}

} // namespace
