// Lambdas that are only defined under a condition, that do not wait, or that all threads call.
template <class F> __device__ void run(F f) {
  f();
}
template <class F> __device__ void keep(F f, float* y) {
  y[0] = sizeof(f);
}
__global__ void defined(float* y) {
  if (threadIdx.x < 3) {
    auto flush = [&] { __syncthreads(); };
    keep(flush, y);
  }
}
__global__ void others(float* y, int n) {
  auto flush = [&] { __syncthreads(); };
  auto store = [&] { y[threadIdx.x] = 0; };
  if (threadIdx.x < n) {
    store();
    run(store);
    run([&] { y[threadIdx.x] += 1; });
  }
  flush();
  run(flush);
  if (n > 3) {
    run(flush);
  }
}
