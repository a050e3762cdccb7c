__global__ void cast_before(float* y, int64_t n) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = 1;
  }
}
__global__ void cast_behind(float* y, size_t n) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i >= n) {
    return;
  }
  y[i] = 1;
}
__global__ void factor(float* y, long n) {
  const long i = 1L * blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = 1;
  }
}
__global__ void steps(float* y, int64_t n) { // as many threads as a grid has
  for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += int64_t(gridDim.x) * blockDim.x) {
    y[i] = 1;
  }
}
__global__ void walks(float* y, int64_t n) {
  int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  while (i < n) {
    y[i] = 1;
    i += int64_t(gridDim.x) * blockDim.x;
  }
}
__global__ void limited(float* y, int64_t n) {
  int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = 1;
  }
}
void run(at::Tensor& y) {
  TORCH_CHECK(y.is_cuda() && y.is_contiguous() && y.scalar_type() == at::kFloat);
  TORCH_CHECK(y.numel() <= std::numeric_limits<int>::max());
  if (y.numel() == 0) {
    return;
  }
  const c10::DeviceGuard guard(y.device());
  limited<<<(y.numel() + 255) / 256, 256, 0, c10::hip::getCurrentHIPStream()>>>(y.data_ptr<float>(), y.numel());
  C10_HIP_KERNEL_LAUNCH_CHECK();
}
PYBIND11_MODULE(extension, m) {
  m.def("run", &run);
}
