// Indexes, bounds, reductions and tiles as they are written; none of it is a fault.
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

#ifdef __HIP_PLATFORM_AMD__
#define WARP_SIZE 64
#else
#define WARP_SIZE 32
#endif
#define KERNEL_LOOP(i, n) for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < (n); i += (int64_t)blockDim.x * gridDim.x)
#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

template <typename T, int Vec> struct alignas(sizeof(T) * Vec) Packed {
  T values[Vec];
};

__device__ __forceinline__ int64_t global_index() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__global__ void by_helper(const float* x, float* y, int64_t n) {
  const int64_t i = global_index();
  if (i >= n) { return; }
  y[i] = x[i];
}

__global__ void negated(const float* x, float* y, int64_t n) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (!(i < n)) //! or DCU916 if (x == nullptr)
    return;
  y[i] = x[i];
}

__global__ void two_dimensions(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return; //! without DCU916
  out[y * width + x] = in[y * width + x];
}

template <typename scalar_t>
__global__ void loop_macro(const scalar_t* x, scalar_t* y, const int64_t n) {
  KERNEL_LOOP(i, n) {
    y[i] = x[i];
  }
}

template <int Vec> __global__ void vectorised(const half* x, half* y, int64_t n) {
  using Pack = Packed<half, Vec>;
  const int64_t base = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * Vec;
  if (base + Vec <= n) {
    *reinterpret_cast<Pack*>(y + base) = *reinterpret_cast<const Pack*>(x + base);
  } else {
    for (int64_t i = base; i < n; ++i) y[i] = x[i];
  }
}

__global__ void while_loop(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  while (i < n) { //! or DCU916 while (true) {
    y[i] = x[i];
    i += (size_t)gridDim.x * blockDim.x;
  }
}

__device__ float warp_sum(float value) {
#pragma unroll
  for (int offset = WARP_SIZE / 2; offset > 0; offset >>= 1) { //! or DCU917 for (int offset = 16; offset > 0; offset >>= 1) {
    value += __shfl_down(value, offset);
  }
  return value;
}

__device__ float block_sum(float value) {
  __shared__ float partial[1024 / WARP_SIZE];
  const int lane = threadIdx.x % WARP_SIZE; //! or DCU917 const int lane = threadIdx.x & 31;
  const int warp = threadIdx.x / warpSize;
  value = warp_sum(value);
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  value = threadIdx.x < DIV_UP(blockDim.x, WARP_SIZE) ? partial[lane] : 0.f;
  if (warp == 0) value = warp_sum(value);
  return value;
}

__global__ void softmax_rows(const float* x, float* y, int columns) {
  __shared__ float total;
  const float* row = x + (int64_t)blockIdx.x * columns;
  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    sum += expf(row[c]);
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) {
    total = sum;
  }
  __syncthreads(); //! or DCU918 if (threadIdx.x == 0) { __syncthreads(); }
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    y[(int64_t)blockIdx.x * columns + c] = expf(row[c]) / total;
  }
}

template <unsigned BlockSize> __global__ void tree_reduction(const float* x, float* y, unsigned n) {
  __shared__ float cache[BlockSize];
  const unsigned tid = threadIdx.x;
  unsigned i = blockIdx.x * (BlockSize * 2) + tid;
  float sum = 0;
  while (i < n) {
    sum += x[i] + (i + BlockSize < n ? x[i + BlockSize] : 0);
    i += BlockSize * 2 * gridDim.x;
  }
  cache[tid] = sum;
  __syncthreads();
  for (unsigned s = BlockSize / 2; s > 0; s >>= 1) {
    if (tid < s) {
      cache[tid] += cache[tid + s];
    }
    __syncthreads();
  }
  if (BlockSize >= 512) {
    if (tid < 256) cache[tid] += cache[tid + 256];
    __syncthreads();
  }
  if (tid == 0) y[blockIdx.x] = cache[0];
}

template <int Tile> __global__ void transpose(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[Tile][Tile + 1];
  int x = blockIdx.x * Tile + threadIdx.x;
  int y = blockIdx.y * Tile + threadIdx.y;
  for (int j = 0; j < Tile; j += blockDim.y) {
    if (x < columns && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * columns + x];
  }
  __syncthreads();
  x = blockIdx.y * Tile + threadIdx.x;
  y = blockIdx.x * Tile + threadIdx.y;
  for (int j = 0; j < Tile; j += blockDim.y) {
    if (x < rows && y + j < columns) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
  }
}

__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[16][16], bs[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < (k + 15) / 16; ++t) {
    const int ka = t * 16 + threadIdx.x, kb = t * 16 + threadIdx.y;
    as[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0;
    bs[threadIdx.y][threadIdx.x] = kb < k && column < n ? b[kb * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

__global__ void persistent(const int* tasks, int count, float* y) {
  __shared__ int current;
  __shared__ int next;
  for (int task = blockIdx.x; task < count; task += gridDim.x) {
    if (threadIdx.x == 0) {
      current = tasks[task];
      next = current + 1;
    }
    __syncthreads();
    if (current < 0) {
      break;
    }
    y[task * blockDim.x + threadIdx.x] = next;
    __syncthreads();
  }
}

__global__ void early_block_exit(const float* x, float* y, const int* lengths, int columns) {
  const int row = blockIdx.x;
  if (lengths[row] == 0) {
    return;
  }
  __shared__ float s[256];
  s[threadIdx.x] = x[row * columns + threadIdx.x % columns];
  __syncthreads();
  y[row * blockDim.x + threadIdx.x] = s[255 - threadIdx.x];
}
