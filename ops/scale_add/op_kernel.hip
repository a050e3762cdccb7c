#include "op.h"

#include "../common/gpu.h"

namespace {

constexpr int block_size = 256;
// The grid strides over what does not fit.
constexpr int64_t most_blocks = 4096;

// In float32: the second product is rounded, the first is added to it with one rounding (fmaf, said explicitly:
// contraction is the compiler's choice), and the result is rounded once more to T.
template <class T> __global__ __launch_bounds__(block_size) void scale_add_kernel(scale_add_call call) {
  const T* const a = static_cast<const T*>(call.a);
  const T* const b = static_cast<const T*>(call.b);
  T* const y = static_cast<T*>(call.y);
  const int64_t stride = static_cast<int64_t>(gridDim.x) * block_size;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * block_size + threadIdx.x; i < call.count; i += stride) {
    int64_t rest = i;
    int64_t at_a = 0;
    int64_t at_b = 0;
    int64_t at_y = 0;
    for (int d = call.rank - 1; d >= 0; --d) {
      const scale_add_dimension& dimension = call.dimensions[d];
      // What is left at the outermost dimension is the index along it: tensors that are contiguous divide nothing.
      const int64_t outer = d == 0 ? 0 : rest / dimension.size;
      const int64_t index = rest - outer * dimension.size;
      at_a += index * dimension.a;
      at_b += index * dimension.b;
      at_y += index * dimension.y;
      rest = outer;
    }
    y[at_y] = from_float<T>(fmaf(to_float(a[at_a]), call.alpha, to_float(b[at_b]) * call.beta));
  }
}

template <class T> int launch(const scale_add_call& call, void* stream) {
  if (call.count == 0) {
    return hipSuccess;
  }
  const int64_t wanted = (call.count - 1) / block_size + 1;
  const int64_t blocks = wanted < most_blocks ? wanted : most_blocks;
  hipLaunchKernelGGL(scale_add_kernel<T>, dim3(static_cast<uint32_t>(blocks)), dim3(block_size), 0,
                     static_cast<hipStream_t>(stream), call);
  return hipGetLastError();
}

} // namespace

int scale_add_float16(const scale_add_call* call, void* stream) {
  return launch<__half>(*call, stream);
}

int scale_add_bfloat16(const scale_add_call* call, void* stream) {
  return launch<bfloat16>(*call, stream);
}

int scale_add_float32(const scale_add_call* call, void* stream) {
  return launch<float>(*call, stream);
}

const char* scale_add_error_string(int error) {
  return hipGetErrorString(static_cast<hipError_t>(error));
}

const char* scale_add_backend() {
  return GPU_BACKEND;
}
