#define DECLARE_PLUS(T)              \
  T plus(T a, T b) {                 \
    return a + b;                    \
  }
DECLARE_PLUS(int)
template <class T, int N> __global__ __launch_bounds__(256, 2) void kernel(const T* __restrict__ x) {}
void launch(const float* x) {
  kernel<float, 4><<<dim3(1), 256, 0, nullptr>>>(x);
  hipLaunchKernelGGL(HIP_KERNEL_NAME(kernel<float, 4>), dim3(1), dim3(256), 0, 0, x);
  hipLaunchKernelGGL((kernel<float, 4>), dim3(1), dim3(256), 0, 0, x);
}
