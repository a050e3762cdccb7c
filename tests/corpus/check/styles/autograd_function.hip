// torch::autograd::Function; the checks stand in the function that is bound.
#include <ATen/hip/HIPContext.h>
#include <c10/hip/HIPGuard.h>
#include <torch/extension.h>

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

__global__ void square_kernel(const float* __restrict__ in, float* __restrict__ out, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i >= n) return; //! without DCU916
  out[i] = in[i] * in[i];
}

static at::Tensor launch_square(const at::Tensor& x) {
  at::Tensor y = at::empty_like(x);
  if (!x.numel()) return y; //! without DCU912
  c10::DeviceGuard guard(x.device()); //! without DCU913
  hipStream_t s = c10::hip::getCurrentHIPStream(x.get_device());
  square_kernel<<<dim3((x.numel() + 127) / 128), dim3(128), 0, s>>>(x.const_data_ptr<float>(), y.mutable_data_ptr<float>(),
                                                                     x.numel());
  auto err = hipGetLastError(); //! or DCU911 hipGetLastError();
  TORCH_CHECK(err == hipSuccess, "square: ", hipGetErrorString(err));
  return y;
}

class Square : public torch::autograd::Function<Square> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x) {
    ctx->save_for_backward({x});
    return launch_square(x);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    return {2 * saved[0] * grads[0]};
  }
};

at::Tensor square(const at::Tensor& x) {
  TORCH_CHECK(x.device().type() == at::kCUDA, "square: device"); //! without DCU901
  TORCH_CHECK(x.is_contiguous(), "square: contiguous"); //! without DCU903
  return Square::apply(x);
}

TORCH_LIBRARY(my_ops, m) {
  m.def("square(Tensor x) -> Tensor");
  m.impl("square", c10::DispatchKey::CompositeImplicitAutograd, TORCH_FN(square));
}
