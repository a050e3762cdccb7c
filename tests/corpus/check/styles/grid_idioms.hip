// Grids that wait for each other, the right way.
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_runtime.h>

namespace cg = cooperative_groups;

__global__ void two_phases(const float* x, float* partial, float* y, int n) {
  cg::grid_group grid = cg::this_grid();
  float sum = 0;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += x[i];
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
  grid.sync(); //! or DCU932 if (blockIdx.x > 0) { grid.sync(); }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    float total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += partial[b];
    *y = total;
  }
}

hipError_t run_two_phases(const float* x, float* partial, float* y, int n, hipStream_t stream) {
  int device = 0, processors = 0, per_processor = 0;
  (void)hipGetDevice(&device);
  (void)hipDeviceGetAttribute(&processors, hipDeviceAttributeMultiprocessorCount, device);
  (void)hipOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, two_phases, 256, 0);
  void* arguments[] = {&x, &partial, &y, &n};
  return hipLaunchCooperativeKernel(reinterpret_cast<void*>(two_phases), dim3(processors * per_processor), dim3(256), arguments, 0, stream); //! or DCU931 two_phases<<<processors, 256, 0, stream>>>(x, partial, y, n); return hipGetLastError();
}

__device__ void grid_barrier(unsigned* arrived, unsigned blocks) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence(); //! without DCU934
    const unsigned target = (atomicAdd(arrived, 1u) / blocks + 1) * blocks;
    while (__hip_atomic_load(arrived, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) < target) { //! or DCU934 while (*arrived < target) {
      __builtin_amdgcn_s_sleep(1);
    }
    __threadfence();
  }
  __syncthreads();
}

__global__ void stages(float* a, float* b, int n, unsigned* arrived) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i] * 2;
  grid_barrier(arrived, gridDim.x); //! or DCU932 if (i < n) { grid_barrier(arrived, gridDim.x); }
  if (i < n) a[i] = b[n - 1 - i];
}

hipError_t run_stages(float* a, float* b, int n, unsigned* workspace, hipStream_t stream) {
  hipError_t error = hipMemsetAsync(workspace, 0, sizeof(unsigned), stream);
  if (error != hipSuccess) return error;
  void* arguments[] = {&a, &b, &n, &workspace};
  return hipLaunchCooperativeKernel((void*)stages, dim3(64), dim3(256), arguments, 0, stream);
}

__global__ void last_block_sum(const float* x, float* partial, unsigned* count, float* y, int n) {
  __shared__ bool is_last;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence(); //! without DCU934
    is_last = atomicAdd(count, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    float total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += __hip_atomic_load(&partial[b], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    *y = total;
    *count = 0;
  }
}

// Waits for work of the host, not for other blocks.
__global__ void wait_for_flag(volatile int* flag, float* y) {
  if (threadIdx.x == 0) {
    while (*flag == 0) {
    }
  }
  __syncthreads();
  y[threadIdx.x] = 1;
}

// A lock, and a queue: atomics that are no barrier.
__global__ void locked(int* lock, float* y) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    y[0] += 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}
__global__ void queue(int* head, int count, float* y) {
  for (int task = atomicAdd(head, 1); task < count; task = atomicAdd(head, 1)) {
    y[task] = task;
  }
}

void run_others(int* lock, int* head, int count, float* y, hipStream_t stream) {
  locked<<<64, 64, 0, stream>>>(lock, y);
  queue<<<64, 64, 0, stream>>>(head, count, y);
}
