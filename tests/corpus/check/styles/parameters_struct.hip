// FlashAttention's way: pointers go into a struct, a template tree launches with it.
#include <ATen/hip/HIPContext.h>
#include <c10/hip/HIPGuard.h>
#include <torch/extension.h>

#define CHECK_DEVICE(x) TORCH_CHECK(x.is_cuda(), #x " must be on CUDA")
#define CHECK_SHAPE(x, ...) TORCH_CHECK(x.sizes() == torch::IntArrayRef({__VA_ARGS__}), #x " must have shape (" #__VA_ARGS__ ")")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")

struct FwdParams {
  using index_t = int64_t;
  void* __restrict__ q_ptr;
  void* __restrict__ k_ptr;
  void* __restrict__ o_ptr;
  index_t q_batch_stride, k_batch_stride, o_batch_stride;
  int b, d;
  bool is_bf16;
};

template <typename Element, int kHeadDim> __global__ void fwd_kernel(const FwdParams params) {
  const int batch = blockIdx.x;
  const Element* q = reinterpret_cast<const Element*>(params.q_ptr) + batch * params.q_batch_stride;
  const Element* k = reinterpret_cast<const Element*>(params.k_ptr) + batch * params.k_batch_stride;
  Element* o = reinterpret_cast<Element*>(params.o_ptr) + batch * params.o_batch_stride;
  for (int i = threadIdx.x; i < kHeadDim; i += blockDim.x) {
    o[i] = q[i] * k[i];
  }
}

#define BOOL_SWITCH(COND, CONST_NAME, ...) \
  [&] {                                    \
    if (COND) {                            \
      constexpr bool CONST_NAME = true;    \
      return __VA_ARGS__();                \
    } else {                               \
      constexpr bool CONST_NAME = false;   \
      return __VA_ARGS__();                \
    }                                      \
  }()

template <int kHeadDim> void run_fwd(FwdParams& params, hipStream_t stream) {
  BOOL_SWITCH(params.is_bf16, IsBf16, [&] {
    using Element = std::conditional_t<IsBf16, c10::BFloat16, c10::Half>;
    auto kernel = &fwd_kernel<Element, kHeadDim>;
    kernel<<<params.b, 64, 0, stream>>>(params); //! or DCU910 kernel<<<params.b, 64>>>(params);
    C10_HIP_KERNEL_LAUNCH_CHECK(); //! without DCU911
  });
}

void set_params(FwdParams& params, const int b, const int d, const at::Tensor q, const at::Tensor k, at::Tensor out) {
  params = {};
  params.is_bf16 = q.dtype() == torch::kBFloat16;
  params.q_ptr = q.data_ptr();
  params.k_ptr = k.data_ptr();
  params.o_ptr = out.data_ptr();
  params.q_batch_stride = q.stride(0);
  params.k_batch_stride = k.stride(0);
  params.o_batch_stride = out.stride(0);
  params.b = b;
  params.d = d;
}

std::vector<at::Tensor> mha_fwd(at::Tensor& q, const at::Tensor& k, c10::optional<at::Tensor>& out_) {
  auto q_dtype = q.dtype();
  TORCH_CHECK(q_dtype == torch::kFloat16 || q_dtype == torch::kBFloat16, "fp16 and bf16 only");
  TORCH_CHECK(k.dtype() == q_dtype, "query and key must have the same dtype");
  CHECK_DEVICE(q);
  CHECK_DEVICE(k);
  TORCH_CHECK(q.device() == k.device());
  TORCH_CHECK(q.stride(-1) == 1, "Input tensor must have contiguous last dimension");
  TORCH_CHECK(k.stride(-1) == 1, "Input tensor must have contiguous last dimension");
  const auto sizes = q.sizes();
  const int batch_size = sizes[0];
  const int head_size = sizes[1];
  CHECK_SHAPE(q, batch_size, head_size);
  CHECK_SHAPE(k, batch_size, head_size);
  at::Tensor out;
  if (out_.has_value()) {
    out = out_.value();
    TORCH_CHECK(out.dtype() == q_dtype, "Output must have the same dtype as inputs");
    CHECK_DEVICE(out);
    TORCH_CHECK(out.device() == q.device());
    TORCH_CHECK(out.stride(-1) == 1);
    TORCH_CHECK(!out.is_alias_of(q) && !out.is_alias_of(k));
    CHECK_SHAPE(out, batch_size, head_size);
  } else {
    out = torch::empty_like(q);
  }
  at::cuda::CUDAGuard device_guard{q.device()}; //! without DCU913
  FwdParams params;
  set_params(params, batch_size, head_size, q, k, out);
  if (batch_size > 0) { //! or DCU912 {
    auto stream = at::cuda::getCurrentCUDAStream().stream();
    run_fwd<64>(params, stream);
  }
  return {out};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.doc() = "FlashAttention";
  m.def("fwd", &mha_fwd, "Forward pass");
}
