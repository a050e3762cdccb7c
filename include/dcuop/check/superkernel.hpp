#pragma once
// Faults that an Ascend operator has, or gets, inside a SuperKernel, as its sources show them.

#include <optional>

#include "dcuop/check/check.hpp"
#include "dcuop/superkernel/scope.hpp"

namespace dcuop::check {

struct SuperKernelRequest : Request {
  std::optional<superkernel::Product> product; ///< none: what holds for any
};

/// Reads kernels, host tiling, build files and Python; runs nothing.
[[nodiscard]] Report check_superkernel(const SuperKernelRequest& request);

} // namespace dcuop::check
