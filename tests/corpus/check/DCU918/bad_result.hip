// The condition is what a function, a member or a reference parameter gives, each of which differs among threads.
__device__ bool is_mine(int owner) {
  return owner == threadIdx.x;
}
__device__ bool is_leader() {
  if (threadIdx.x == 0) {
    return true;
  }
  return false;
}
__device__ bool leads() {
  return is_leader();
}
__device__ void locate(int& row, int& column) {
  row = threadIdx.y;
  column = blockIdx.x;
}
namespace tiles {
struct Lane {
  int index;
  __device__ Lane() : index(threadIdx.x % 64) {}
  __device__ bool is_first() const { return index == 0; }
};
} // namespace tiles
__global__ void by_owner(float* y, int owner) {
  if (is_mine(owner)) {
    __syncthreads(); //! DCU918
  }
}
__global__ void by_leader(float* y) {
  if (leads()) {
    __syncthreads(); //! DCU918
  }
}
__global__ void by_reference(float* y) {
  int row;
  int column;
  locate(row, column);
  if (row == 0) {
    __syncthreads(); //! DCU918
  }
}
__global__ void by_member(float* y) {
  tiles::Lane lane;
  if (lane.is_first()) {
    __syncthreads(); //! DCU918
  }
}
__global__ void by_flag(float* y, int n) {
  bool mine = false;
  if (threadIdx.x == n) {
    mine = true;
  }
  if (mine) {
    __syncthreads(); //! DCU918
  }
}
