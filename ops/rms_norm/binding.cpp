// The operator as Python sees it: every demand on the arguments is checked here, before anything is queued.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/utils/pybind.h>

#include "../common/binding.h"
#include "op.h"

namespace {

const Contract contract("rms_norm", rms_norm_backend());

void check_tensors(const at::Tensor& x, const at::Tensor& weight) {
  contract.check_device(x, "x");
  contract.check_dtype(x, "x", {at::kHalf, at::kBFloat16, at::kFloat});
  contract.check_same(weight, "weight", x, "x");
  contract.require(x.dim() > 0, "x must have a last dimension to normalise, got a scalar");
  contract.require(weight.dim() == 1 && weight.size(0) == x.size(-1),
                   "weight must have the size of x's last dimension, ", x.sizes().slice(x.dim() - 1),
                   ", got sizes ", weight.sizes());
  for (const auto& [tensor, name] : {std::pair(&x, "x"), std::pair(&weight, "weight")}) {
    contract.check_strided(*tensor, name);
    contract.check_contiguous(*tensor, name);
    contract.check_needs_no_grad(*tensor, name);
  }
}

int launch(at::ScalarType type, const rms_norm_call& call, void* stream) {
  switch (type) {
  case at::kHalf:
    return rms_norm_float16(&call, stream);
  case at::kBFloat16:
    return rms_norm_bfloat16(&call, stream);
  default:
    return rms_norm_float32(&call, stream);
  }
}

at::Tensor rms_norm_forward(const at::Tensor& x, const at::Tensor& weight, double eps) {
  check_tensors(x, weight);
  const float narrow_eps = contract.to_float32(eps, "eps");

  const c10::DeviceGuard guard(x.device());
  at::Tensor y = at::empty_like(x);
  if (x.numel() == 0) {
    return y;
  }
  const int64_t length = x.size(-1);
  const rms_norm_call call = {
      x.data_ptr(), weight.data_ptr(), y.data_ptr(), x.numel() / length, length, narrow_eps,
  };
  const int error = launch(x.scalar_type(), call, contract.current_stream(x.device()));
  contract.check_launch(error, rms_norm_error_string(error), x.device());
  return y;
}

} // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  module.doc() = "y = x / sqrt(mean(x^2) + eps) * weight over the last dimension";
  // Without the GIL: a host build works for as long as the kernel does.
  module.def("rms_norm", &rms_norm_forward, pybind11::arg("x"), pybind11::arg("weight"),
             pybind11::arg("eps") = 1e-6, pybind11::call_guard<pybind11::gil_scoped_release>(),
             "y = x / sqrt(mean(x^2) + eps) * weight over the last dimension: in float32, rounded once to "
             "x's type.");
}
