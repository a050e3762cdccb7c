// Detectron2's way: TensorArg and checkAllSameGPU, contiguous results of its own, ceil_div.
#include <ATen/ATen.h>
#include <ATen/TensorUtils.h>
#include <ATen/hip/HIPContext.h>
#include <c10/hip/HIPGuard.h>
#include <torch/extension.h>

#define CUDA_1D_KERNEL_LOOP(i, n) \
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += (int64_t)blockDim.x * gridDim.x)

template <typename T>
__global__ void RoIForward(const int64_t nthreads, const T* input, const T* rois, const T spatial_scale, const int channels,
                           T* top_data) {
  CUDA_1D_KERNEL_LOOP(index, nthreads) {
    int c = index % channels;
    int64_t n = index / channels;
    const T* current = rois + n * 5;
    top_data[index] = input[c] * current[1] * spatial_scale;
  }
}

namespace detectron2 {

at::Tensor ROIAlign_forward(const at::Tensor& input, const at::Tensor& rois, const float spatial_scale) {
  AT_ASSERTM(input.device().is_cuda(), "input must be a CUDA tensor");
  AT_ASSERTM(rois.device().is_cuda(), "rois must be a CUDA tensor");
  at::TensorArg input_t{input, "input", 1}, rois_t{rois, "rois", 2};
  at::CheckedFrom c = "ROIAlign_forward_cuda";
  at::checkAllSameGPU(c, {input_t, rois_t});
  at::checkAllSameType(c, {input_t, rois_t});
  TORCH_CHECK(input.is_contiguous() && rois.is_contiguous(), "contiguous tensors are needed");
  at::cuda::CUDAGuard device_guard(input.device());
  auto num_rois = rois.size(0);
  auto channels = input.size(1);
  auto output = at::empty({num_rois, channels}, input.options());
  auto output_size = num_rois * channels;
  hipStream_t stream = at::cuda::getCurrentCUDAStream();
  dim3 grid(std::min(at::ceil_div(output_size, (int64_t)512), (int64_t)4096));
  dim3 block(512);
  if (output.numel() == 0) {
    AT_CUDA_CHECK(hipGetLastError());
    return output;
  }
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "ROIAlign_forward", [&] {
    RoIForward<scalar_t><<<grid, block, 0, stream>>>(output_size, input.data_ptr<scalar_t>(), rois.data_ptr<scalar_t>(),
                                                     spatial_scale, channels, output.data_ptr<scalar_t>());
  });
  AT_CUDA_CHECK(hipGetLastError()); //! without DCU911
  return output;
}

} // namespace detectron2

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("roi_align_forward", &detectron2::ROIAlign_forward, "ROIAlign_forward");
}
