// Functions with the same names as others, that give every thread the same.
__device__ bool is_mine(int owner) {
  return owner == static_cast<int>(blockIdx.x);
}
__device__ bool is_last(const int* counts, int n) {
  if (counts[0] == n) {
    return true;
  }
  return false;
}
__device__ void locate(int& row, int& column) {
  row = threadIdx.y;
  column = blockIdx.x;
}
struct Tile {
  int rows;
  int lane;
  __device__ explicit Tile(int n) : rows(n), lane(threadIdx.x) {}
  __device__ bool is_full(int n) const { return rows == n; }
};
__global__ void same(float* y, const int* counts, int n) {
  if (is_mine(n)) {
    __syncthreads();
  }
  if (is_last(counts, n)) {
    __syncthreads();
  }
  int row;
  int column;
  locate(row, column);
  if (column == 0) {
    __syncthreads();
  }
  y[row] = 0;
}
__global__ void members(float* y, int n) {
  Tile tile(n);
  if (tile.is_full(n)) {
    __syncthreads();
  }
}
