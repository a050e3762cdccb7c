// Methods of one name, of which one waits: which is meant is not known.
struct BlockStore {
  __device__ void store(float* y, float value) {
    __syncthreads();
    y[threadIdx.x] = value;
  }
};
struct WarpStore {
  __device__ void store(float* y, float value) {
    y[threadIdx.x] = value;
  }
};
__device__ float maybe(float value, bool shared) {
  if (shared) {
    __syncthreads();
  }
  return value;
}
template <class Store> __global__ void segments(float* y, const int* sizes, Store store) {
  if (sizes[threadIdx.x] < 3) {
    store.store(y, maybe(1, false));
  }
}
