#include "op.h"

#include "../common/gpu.h"

namespace {

constexpr int block_size = 256;
// So many elements a thread loads before it stores the first: with one, most of the memory's bandwidth is left unused.
constexpr int per_thread = 8;
constexpr int64_t tile_size = block_size * per_thread;
// The grid strides over what does not fit.
constexpr int64_t most_blocks = 4096;

/// Where an element of the result lies, and the two that it is made of.
struct Places {
  int64_t a, b, y;
};

/// `flat`: there is one dimension, as of tensors that are contiguous.
template <bool flat> __device__ inline Places places_of(const scale_add_call& call, int64_t element) {
  if (flat) {
    const scale_add_dimension& only = call.dimensions[0];
    return {element * only.a, element * only.b, element * only.y};
  }
  Places places = {0, 0, 0};
  int64_t rest = element;
  for (int d = call.rank - 1; d >= 0; --d) {
    const scale_add_dimension& dimension = call.dimensions[d];
    // What is left at the outermost dimension is the index along it.
    const int64_t outer = d == 0 ? 0 : rest / dimension.size;
    const int64_t index = rest - outer * dimension.size;
    places.a += index * dimension.a;
    places.b += index * dimension.b;
    places.y += index * dimension.y;
    rest = outer;
  }
  return places;
}

// In float32: the second product is rounded, the first is added to it with one rounding (fmaf, said explicitly:
// contraction is the compiler's choice), and the result is rounded once more to T.
template <class T, bool flat>
__global__ __launch_bounds__(block_size) void scale_add_kernel(scale_add_call call) {
  const T* const a = static_cast<const T*>(call.a);
  const T* const b = static_cast<const T*>(call.b);
  T* const y = static_cast<T*>(call.y);
  const int64_t stride = gridDim.x * tile_size;
  for (int64_t first = blockIdx.x * tile_size + threadIdx.x; first < call.count; first += stride) {
    T loaded_a[per_thread];
    T loaded_b[per_thread];
    int64_t at_y[per_thread];
    for (int k = 0; k < per_thread; ++k) {
      const int64_t i = first + k * block_size;
      if (i < call.count) {
        const Places places = places_of<flat>(call, i);
        loaded_a[k] = a[places.a];
        loaded_b[k] = b[places.b];
        at_y[k] = places.y;
      }
    }
    for (int k = 0; k < per_thread; ++k) {
      if (first + k * block_size < call.count) {
        y[at_y[k]] =
            from_float<T>(fmaf(to_float(loaded_a[k]), call.alpha, to_float(loaded_b[k]) * call.beta));
      }
    }
  }
}

template <class T> int launch(const scale_add_call& call, void* stream) {
  if (call.count == 0) {
    return hipSuccess;
  }
  const int64_t wanted = (call.count - 1) / tile_size + 1;
  const int64_t blocks = wanted < most_blocks ? wanted : most_blocks;
  const auto kernel = call.rank == 1 ? scale_add_kernel<T, true> : scale_add_kernel<T, false>;
  hipLaunchKernelGGL(kernel, dim3(static_cast<uint32_t>(blocks)), dim3(block_size), 0,
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
