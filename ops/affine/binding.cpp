// The operator as Python sees it: every demand on the arguments is checked here, before anything is queued.
// Nothing is converted or copied behind the caller's back: what does not fit is refused.
//
// These three headers compile in a few seconds; <torch/extension.h> takes several times as long.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/utils/pybind.h>

#include <c10/core/DeviceGuard.h>
#include <c10/core/GradMode.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/StringUtil.h>

// Newer torch keeps the HIP names of c10::hip only for those who say that they compile for ROCm.
#if __has_include(<c10/hip/HIPStream.h>)
#ifndef USE_ROCM
#define USE_ROCM 1
#endif
#include <c10/hip/HIPStream.h>
#define AFFINE_HAS_HIP_STREAM 1
#endif

#include <cmath>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "op.h"

namespace {

/// What TORCH_CHECK does, without the C++ stack that its message may end in, and without __FILE__, which would
/// put this directory's name into the object.
template <class... Parts> void require(bool condition, const Parts&... parts) {
  if (!condition) {
    throw std::runtime_error(c10::str("affine: ", parts...));
  }
}

#ifndef AFFINE_HAS_HIP_STREAM
template <class Stream, class = void> struct HasNativeHandle : std::false_type {};
template <class Stream>
struct HasNativeHandle<Stream, std::void_t<decltype(std::declval<const Stream&>().native_handle())>>
    : std::true_type {};

// Templates, because only the discarded branch of one may name a member that this torch lacks.
template <class Stream> void* native_handle(const Stream& stream) {
  if constexpr (HasNativeHandle<Stream>::value) {
    return stream.native_handle();
  } else {
    throw std::runtime_error(
        "affine: cannot launch: this torch has neither <c10/hip/HIPStream.h> nor "
        "c10::Stream::native_handle(), so "
        "its current stream is unknown. Use a torch built for HIP and build the operator again.");
  }
}
#endif

/// The hipStream_t that torch's own kernels on `device` would be queued on now.
void* current_stream(const c10::Device& device) {
#ifdef AFFINE_HAS_HIP_STREAM
  return c10::hip::getCurrentHIPStream(device.index()).stream();
#else
  return native_handle(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
#endif
}

/// A HIP torch calls its devices "cuda"; "hip" is the name that c10 has reserved and that no build uses
/// today.
bool is_dcu(const c10::Device& device) {
  return device.is_cuda() || device.is_hip();
}

float to_float32(double value, const char* name) {
  const auto narrowed = static_cast<float>(value);
  require(std::isfinite(narrowed) || !std::isfinite(value), name, " = ", value, " does not fit in float32");
  return narrowed;
}

void check_tensor(const at::Tensor& x) {
  require(x.scalar_type() == at::kHalf, "x must be float16, got ", x.scalar_type());
  require(x.layout() == at::kStrided, "x must be strided, got layout ", x.layout());
  require(x.is_contiguous(), "x must be contiguous, got sizes ", x.sizes(), " with strides ", x.strides());
  require(!x.is_neg(), "x must not be a lazily negated view; call x.resolve_neg() first");
  require(!(x.requires_grad() && c10::GradMode::is_enabled()),
          "x requires grad, and affine has no backward; call it under torch.no_grad() or on x.detach()");
}

at::Tensor affine_forward(const at::Tensor& x, double scale, double bias) {
  require(is_dcu(x.device()), "x must be on a DCU device, got ", x.device());
  check_tensor(x);
  const float narrow_scale = to_float32(scale, "scale");
  const float narrow_bias = to_float32(bias, "bias");

  const c10::DeviceGuard guard(x.device());
  at::Tensor y = at::empty_like(x);
  if (x.numel() == 0) {
    return y;
  }
  const int error = affine_launch(x.data_ptr(), y.data_ptr(), x.numel(), narrow_scale, narrow_bias,
                                  current_stream(x.device()));
  require(error == 0, "launch on ", x.device(), " failed: ", affine_error_string(error));
  return y;
}

} // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  module.doc() = "y = x * scale + bias for FP16 tensors on a DCU";
  module.def("affine", &affine_forward, pybind11::arg("x"), pybind11::arg("scale"), pybind11::arg("bias"),
             "y = x * scale + bias: computed in float32 with one rounding, then rounded to float16.");
}
