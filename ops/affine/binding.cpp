// The operator as Python sees it: every demand on the arguments is checked here, before anything is queued.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/utils/pybind.h>

#include "../common/binding.h"
#include "op.h"

namespace {

const Contract contract("affine", affine_backend());

void check_tensor(const at::Tensor& x) {
  contract.check_dtype(x, "x", {at::kHalf});
  contract.check_strided(x, "x");
  contract.check_contiguous(x, "x");
  contract.check_needs_no_grad(x, "x");
}

at::Tensor affine_forward(const at::Tensor& x, double scale, double bias) {
  contract.check_device(x, "x");
  check_tensor(x);
  const float narrow_scale = contract.to_float32(scale, "scale");
  const float narrow_bias = contract.to_float32(bias, "bias");

  const c10::DeviceGuard guard(x.device());
  at::Tensor y = at::empty_like(x);
  if (x.numel() == 0) {
    return y;
  }
  const int error = affine_launch(x.data_ptr(), y.data_ptr(), x.numel(), narrow_scale, narrow_bias,
                                  contract.current_stream(x.device()));
  contract.check_launch(error, affine_error_string(error), x.device());
  return y;
}

} // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  module.doc() = "y = x * scale + bias for FP16 tensors";
  // Without the GIL: a host build works for as long as the kernel does.
  module.def("affine", &affine_forward, pybind11::arg("x"), pybind11::arg("scale"), pybind11::arg("bias"),
             pybind11::call_guard<pybind11::gil_scoped_release>(),
             "y = x * scale + bias: computed in float32 with one rounding, then rounded to float16.");
}
