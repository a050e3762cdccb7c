// Kernels out of classes, templates, lambdas and macros, as larger projects put them together.
#include <hip/hip_runtime.h>

#define WAVE 64
#define LANE_ID (threadIdx.x & (WAVE - 1))
#define IS_FIRST_THREAD (threadIdx.x == 0 && threadIdx.y == 0)
#define BLOCK_BARRIER() __syncthreads()
#define THREAD_LOOP(i, n) for (int i = threadIdx.x; i < (n); i += blockDim.x)
#define IF_FIRST if (IS_FIRST_THREAD)
#define RETURN_IF(condition) \
  do {                       \
    if (condition) return;   \
  } while (0)

namespace block {

struct Position {
  int thread, lane, wave;
  __device__ Position() : thread(threadIdx.x), lane(threadIdx.x % WAVE), wave(threadIdx.x / WAVE) {}
  __device__ bool is_first() const { return thread == 0; }
  __device__ bool leads_wave() const { return lane == 0; }
  __device__ bool is_wide() const { return blockDim.x > WAVE; }
};

template <class T> class Tile {
 public:
  __device__ explicit Tile(T* memory, int rows) : memory_(memory), rows_(rows) {}
  __device__ void load(const T* from, int count) {
    THREAD_LOOP(i, count) {
      memory_[i] = from[i];
    }
    BLOCK_BARRIER();
  }
  __device__ T at(int index) const { return memory_[index]; }
  __device__ bool is_empty() const { return rows_ == 0; }

 private:
  T* memory_;
  int rows_;
};

template <class F> __device__ void on_first(F&& f) {
  if (threadIdx.x == 0) {
    f();
  }
}
template <class F> __device__ void in_turn(int turns, F f) {
  for (int turn = 0; turn < turns; ++turn) {
    f(turn);
    __syncthreads();
  }
}
template <bool shared> __device__ float combined(float value, float* scratch) {
  if constexpr (shared) {
    scratch[threadIdx.x] = value;
    __syncthreads();
    value += scratch[threadIdx.x ^ 1];
  }
  return value;
}
__device__ inline float sum_of_block(float value, float* scratch) {
  const Position at;
  scratch[at.thread] = value;
  __syncthreads();
  for (int width = blockDim.x / 2; width > 0; width /= 2) {
    if (at.thread < width) {
      scratch[at.thread] += scratch[at.thread + width];
    }
    __syncthreads();
  }
  return scratch[0];
}

} // namespace block

template <class T> __global__ void normalise(const T* x, T* y, int n) {
  __shared__ float scratch[1024];
  const int row = blockIdx.x;
  float local = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    local += static_cast<float>(x[static_cast<int64_t>(row) * n + i]);
  }
  const float sum = block::sum_of_block(local, scratch); //! or DCU918 float sum = 0; if (threadIdx.x < n) sum = block::sum_of_block(local, scratch);
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    y[static_cast<int64_t>(row) * n + i] = static_cast<T>(x[static_cast<int64_t>(row) * n + i] / sum);
  }
}
__global__ void copy_tile(const float* x, float* y, int n) {
  extern __shared__ float memory[];
  block::Tile<float> tile(memory, n);
  RETURN_IF(n == 0); //! or DCU918 RETURN_IF(threadIdx.x >= n);
  tile.load(x, n); //! or DCU918 if (LANE_ID == 0) tile.load(x, n);
  const block::Position at;
  if (at.thread < n) { //! or DCU918 if (at.thread < n && (__syncthreads(), true)) {
    y[at.thread] = tile.at(at.thread);
  }
}
__global__ void with_lambda(float* y, int n) {
  __shared__ float total;
  auto store = [&](float value) { y[threadIdx.x] = value; };
  auto meet = [&] { BLOCK_BARRIER(); };
  block::on_first([&] { total = n; }); //! or DCU918 block::on_first([&] { total = n; meet(); });
  meet(); //! or DCU918 block::on_first(meet);
  if (threadIdx.x < n) { //! or DCU918 if (threadIdx.x < n) { meet();
    store(total);
  }
}
__global__ void turns(float* y, int n) {
  const block::Position at;
  block::in_turn(n, [&](int turn) {
    if (at.wave == turn) {
      y[at.thread] += turn;
    }
  });
  if (at.is_wide()) { //! or DCU918 if (at.leads_wave()) {
    __syncthreads();
  }
  y[0] = at.is_first() ? 1 : 2; //! or DCU918 y[0] = at.is_first() ? (__syncthreads(), 1) : 2;
}
__global__ void macros(float* y, int n) {
  IF_FIRST { //! or DCU918 IF_FIRST { BLOCK_BARRIER();
    y[0] = n;
  }
  BLOCK_BARRIER(); //! or DCU918 IF_FIRST BLOCK_BARRIER();
  THREAD_LOOP(i, n) { //! or DCU918 THREAD_LOOP(i, n) { BLOCK_BARRIER();
    y[i] += 1;
  }
}
__global__ void switched(float* scratch, float* y, int n, int mode) {
  float value = y[threadIdx.x];
  if (threadIdx.x < n) {
    value = block::combined<false>(value, scratch); //! or DCU918 value = block::combined<true>(value, scratch);
  }
  switch (mode) { //! or DCU918 switch (mode + threadIdx.x) {
  case 0:
    __syncthreads();
    break;
  default:
    y[threadIdx.x] = value;
  }
  if (mode == 3) goto done; //! or DCU918 if (mode == threadIdx.x) goto done;
  __syncthreads();
done:
  y[threadIdx.x] += value;
}
__global__ void grid_counts(const int* rows, float* y, int n) {
  __shared__ bool found;
  if (threadIdx.x == 0) {
    found = rows[blockIdx.x] > n;
  }
  __syncthreads();
  if (found) { //! or DCU918 bool mine = false; if (threadIdx.x == 3) mine = true; if (mine) {
    __syncthreads();
  }
  for (int step = 0; step < n; ++step) {
    __syncthreads();
    if (rows[step] < 0) { //! or DCU918 if (rows[step] < static_cast<int>(threadIdx.x)) {
      break;
    }
  }
  do {
    __syncthreads();
    --n;
  } while (n > 0); //! or DCU918 } while (n > static_cast<int>(threadIdx.x));
}
