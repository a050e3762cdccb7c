#pragma once
// What the bindings share: the demands on arguments, and the stream. Nothing is converted or copied behind the caller's
// back: what does not fit is refused before anything is queued.
//
// These headers compile in a few seconds; <torch/extension.h> takes several times as long.
#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/GradMode.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/StringUtil.h>

// Newer torch keeps the HIP names of c10::hip only for those who say that they compile for ROCm.
#if __has_include(<c10/hip/HIPStream.h>) && __has_include(<hip/hip_runtime_api.h>)
#ifndef USE_ROCM
#define USE_ROCM 1
#endif
#include <c10/hip/HIPStream.h>
#define BINDING_HAS_HIP_STREAM 1
#endif

#include <cmath>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace {

#ifndef BINDING_HAS_HIP_STREAM
template <class Stream, class = void> struct HasNativeHandle : std::false_type {};
template <class Stream>
struct HasNativeHandle<Stream, std::void_t<decltype(std::declval<const Stream&>().native_handle())>>
    : std::true_type {};

// A template, because only the discarded branch of one may name a member that this torch lacks.
template <class Stream> void* native_handle(const Stream& stream) {
  if constexpr (HasNativeHandle<Stream>::value) {
    return stream.native_handle();
  } else {
    // https://github.com/pytorch/pytorch/pull/171040
    throw std::runtime_error(
        "cannot launch: this torch has neither <c10/hip/HIPStream.h> nor "
        "c10::Stream::native_handle(), which torch 2.11 has, so its current stream is "
        "unknown. Use a torch built for HIP, or 2.11 and later, and build the operator again.");
  }
}
#endif

inline const char* name_of(at::ScalarType type) {
  switch (type) {
  case at::kHalf:
    return "float16";
  case at::kBFloat16:
    return "bfloat16";
  case at::kFloat:
    return "float32";
  default:
    return c10::toString(type);
  }
}

/// The demands of one operator, whose name every refusal begins with.
class Contract {
 public:
  /// `backend` is what the kernel was compiled for: "hip", "cuda" or "host".
  Contract(const char* name, std::string_view backend) : name_(name), backend_(backend) {}

  /// What TORCH_CHECK does, without the C++ stack that its message may end in, and without __FILE__, which would
  /// put this directory's name into the object.
  template <class... Parts> void require(bool condition, const Parts&... parts) const {
    if (!condition) {
      throw std::runtime_error(c10::str(name_, ": ", parts...));
    }
  }

  /// `x` lies where the kernel of this build can reach it.
  void check_device(const at::Tensor& x, const char* name) const {
    if (backend_ == "host") {
      require(x.device().is_cpu(), name, " must be on the CPU, where this build emulates the grid, got ",
              x.device());
    } else if (backend_ == "cuda") {
      require(x.device().is_cuda(), name, " must be on a CUDA device, got ", x.device());
    } else {
      // A HIP torch calls its devices "cuda"; "hip" is the name that c10 has reserved and that no build uses today.
      require(x.device().is_cuda() || x.device().is_hip(), name, " must be on a DCU device, got ",
              x.device());
    }
  }

  void check_same(const at::Tensor& x, const char* name, const at::Tensor& first,
                  const char* first_name) const {
    require(x.device() == first.device(), name, " must be on ", first.device(), " as ", first_name,
            " is, got ", x.device());
    require(x.scalar_type() == first.scalar_type(), name, " must be ", name_of(first.scalar_type()), " as ",
            first_name, " is, got ", name_of(x.scalar_type()));
  }

  void check_dtype(const at::Tensor& x, const char* name,
                   std::initializer_list<at::ScalarType> allowed) const {
    std::string wanted;
    for (const at::ScalarType type : allowed) {
      if (x.scalar_type() == type) {
        return;
      }
      wanted += (wanted.empty() ? "" : " or ") + std::string(name_of(type));
    }
    require(false, name, " must be ", wanted, ", got ", name_of(x.scalar_type()));
  }

  /// It has plain memory, and its elements are what lies there.
  void check_strided(const at::Tensor& x, const char* name) const {
    require(x.layout() == at::kStrided, name, " must be strided, got layout ", x.layout());
    require(!x.is_neg(), name, " must not be a lazily negated view; call ", name, ".resolve_neg() first");
  }

  void check_contiguous(const at::Tensor& x, const char* name) const {
    require(x.is_contiguous(), name, " must be contiguous, got sizes ", x.sizes(), " with strides ",
            x.strides());
  }

  void check_needs_no_grad(const at::Tensor& x, const char* name) const {
    require(!(x.requires_grad() && c10::GradMode::is_enabled()), name, " requires grad, and ", name_,
            " has no backward; call it under torch.no_grad() or on ", name, ".detach()");
  }

  float to_float32(double value, const char* name) const {
    const auto narrowed = static_cast<float>(value);
    require(std::isfinite(narrowed) || !std::isfinite(value), name, " = ", value, " does not fit in float32");
    return narrowed;
  }

  /// The stream that torch's own kernels on `device` would be queued on now; nullptr on the host, which has none.
  void* current_stream(const c10::Device& device) const {
    if (backend_ == "host") {
      return nullptr;
    }
#ifdef BINDING_HAS_HIP_STREAM
    return c10::hip::getCurrentHIPStream(device.index()).stream();
#else
    return native_handle(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
#endif
  }

  void check_launch(int error, const char* text, const c10::Device& device) const {
    require(error == 0, "launch on ", device, " failed: ", text);
  }

 private:
  const char* name_;
  std::string_view backend_;
};

} // namespace
