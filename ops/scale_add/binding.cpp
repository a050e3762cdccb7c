// The operator as Python sees it: every demand on the arguments is checked here, before anything is queued.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/utils/pybind.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../common/binding.h"
#include "op.h"

namespace {

const Contract contract("scale_add", scale_add_backend());

void check_tensors(const at::Tensor& a, const at::Tensor& b) {
  contract.check_device(a, "a");
  contract.check_dtype(a, "a", {at::kHalf, at::kBFloat16, at::kFloat});
  contract.check_same(b, "b", a, "a");
  for (const auto& [tensor, name] : {std::pair(&a, "a"), std::pair(&b, "b")}) {
    contract.check_strided(*tensor, name);
    contract.check_needs_no_grad(*tensor, name);
  }
}

/// https://pytorch.org/docs/stable/notes/broadcasting.html
std::vector<int64_t> broadcast_sizes(at::IntArrayRef a, at::IntArrayRef b) {
  std::vector<int64_t> sizes(std::max(a.size(), b.size()), 1);
  for (const at::IntArrayRef given : {a, b}) {
    const std::size_t missing = sizes.size() - given.size();
    for (std::size_t d = 0; d < given.size(); ++d) {
      int64_t& size = sizes[missing + d];
      contract.require(size == 1 || given[d] == 1 || size == given[d],
                       "a and b do not broadcast to one another: sizes ", a, " and ", b);
      size = size == 1 ? given[d] : size;
    }
  }
  return sizes;
}

/// By how many elements a step along dimension `d` of `rank` moves in `x`, which is broadcast to that many.
int64_t step(const at::Tensor& x, std::size_t d, std::size_t rank) {
  const std::size_t missing = rank - static_cast<std::size_t>(x.dim());
  if (d < missing || x.size(static_cast<int64_t>(d - missing)) == 1) {
    return 0;
  }
  return x.stride(static_cast<int64_t>(d - missing));
}

/// The dimensions that take a division each: those that all three tensors walk through as one are made one.
void set_dimensions(scale_add_call& call, const at::Tensor& a, const at::Tensor& b, const at::Tensor& y) {
  std::vector<scale_add_dimension> merged;
  const auto rank = static_cast<std::size_t>(y.dim());
  for (std::size_t d = 0; d < rank; ++d) {
    const int64_t size = y.size(static_cast<int64_t>(d));
    const scale_add_dimension inner = {size, step(a, d, rank), step(b, d, rank), step(y, d, rank)};
    if (size == 1) {
      continue;
    }
    if (!merged.empty() && merged.back().a == inner.a * size && merged.back().b == inner.b * size &&
        merged.back().y == inner.y * size) {
      merged.back() = {merged.back().size * size, inner.a, inner.b, inner.y};
    } else {
      merged.push_back(inner);
    }
  }
  if (merged.empty()) {
    merged.push_back({1, 0, 0, 0});
  }
  contract.require(merged.size() <= scale_add_most_dimensions, "a and b make up ", merged.size(),
                   " dimensions that cannot be merged, and the kernel takes ",
                   int{scale_add_most_dimensions});
  call.rank = static_cast<int>(merged.size());
  std::copy(merged.begin(), merged.end(), call.dimensions);
}

void launch_into(const at::Tensor& y, const at::Tensor& a, const at::Tensor& b, float alpha, float beta) {
  scale_add_call call{a.data_ptr(), b.data_ptr(), y.data_ptr(), alpha, beta, y.numel(), 0, {}};
  if (call.count == 0) {
    return;
  }
  set_dimensions(call, a, b, y);
  void* const stream = contract.current_stream(y.device());
  const int error = y.scalar_type() == at::kHalf       ? scale_add_float16(&call, stream)
                    : y.scalar_type() == at::kBFloat16 ? scale_add_bfloat16(&call, stream)
                                                       : scale_add_float32(&call, stream);
  contract.check_launch(error, scale_add_error_string(error), y.device());
}

at::Tensor scale_add(const at::Tensor& a, const at::Tensor& b, double alpha, double beta) {
  check_tensors(a, b);
  const float narrow_alpha = contract.to_float32(alpha, "alpha");
  const float narrow_beta = contract.to_float32(beta, "beta");
  const std::vector<int64_t> sizes = broadcast_sizes(a.sizes(), b.sizes());

  const c10::DeviceGuard guard(a.device());
  const at::Tensor y = at::empty(sizes, a.options());
  launch_into(y, a, b, narrow_alpha, narrow_beta);
  return y;
}

/// One past the last byte of `x`, which has elements. (torch has no negative strides.)
const char* end_of(const at::Tensor& x) {
  int64_t last = 0;
  for (int64_t d = 0; d < x.dim(); ++d) {
    last += (x.size(d) - 1) * x.stride(d);
  }
  return static_cast<const char*>(x.data_ptr()) + (last + 1) * static_cast<int64_t>(x.element_size());
}

/// Every element of `a` is read, then written, by one thread: `b` may be `a`, but no other view of its memory.
void check_shares_no_memory(const at::Tensor& a, const at::Tensor& b) {
  if (a.numel() == 0 || b.numel() == 0) {
    return;
  }
  const bool is_same = a.data_ptr() == b.data_ptr() && a.sizes() == b.sizes() && a.strides() == b.strides();
  const bool is_apart = end_of(a) <= static_cast<const char*>(b.data_ptr()) ||
                        end_of(b) <= static_cast<const char*>(a.data_ptr());
  contract.require(is_same || is_apart,
                   "a is written, and b lies in the same memory without being the very same "
                   "tensor: their elements overlap or interleave; pass b.clone()");
}

/// No two elements of `a` have the same place: each dimension's step goes beyond what the smaller ones reach.
void check_is_writable(const at::Tensor& a) {
  std::vector<std::pair<int64_t, int64_t>> steps;
  for (int64_t d = 0; d < a.dim(); ++d) {
    if (a.size(d) > 1) {
      steps.emplace_back(a.stride(d), a.size(d));
    }
  }
  std::sort(steps.begin(), steps.end());
  int64_t reach = 0;
  for (const auto& [stride, size] : steps) {
    contract.require(stride > reach, "a is written, and its elements overlap one another: sizes ", a.sizes(),
                     " with strides ", a.strides());
    reach += stride * (size - 1);
  }
}

at::Tensor scale_add_in_place(const at::Tensor& a, const at::Tensor& b, double alpha, double beta) {
  check_tensors(a, b);
  const float narrow_alpha = contract.to_float32(alpha, "alpha");
  const float narrow_beta = contract.to_float32(beta, "beta");
  contract.require(a.sizes() == at::IntArrayRef(broadcast_sizes(a.sizes(), b.sizes())),
                   "b does not broadcast to a, "
                   "which is written: sizes ",
                   a.sizes(), " and ", b.sizes());
  check_is_writable(a);
  check_shares_no_memory(a, b);

  const c10::DeviceGuard guard(a.device());
  // So that autograd finds it changed where it was saved; refuses inference tensors outside of inference mode.
  a.unsafeGetTensorImpl()->bump_version();
  launch_into(a, a, b, narrow_alpha, narrow_beta);
  return a;
}

} // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  module.doc() = "y = a * alpha + b * beta, where a and b are broadcast";
  // Without the GIL: a host build works for as long as the kernel does.
  module.def("scale_add", &scale_add, pybind11::arg("a"), pybind11::arg("b"), pybind11::arg("alpha"),
             pybind11::arg("beta"), pybind11::call_guard<pybind11::gil_scoped_release>(),
             "a * alpha + b * beta, a new contiguous tensor of the size that a and b are broadcast to.");
  module.def("scale_add_", &scale_add_in_place, pybind11::arg("a"), pybind11::arg("b"),
             pybind11::arg("alpha"), pybind11::arg("beta"),
             pybind11::call_guard<pybind11::gil_scoped_release>(),
             "a * alpha + b * beta into a, which is returned; b is broadcast to a's size.");
}
