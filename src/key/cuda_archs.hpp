#pragma once
// Which of the archs that an op supports a CUDA build is for.

#include <string>
#include <vector>

#include "dcuop/key/facts.hpp"
#include "dcuop/op/op.hpp"

namespace dcuop::key {

/// Those that were selected (facts.cuda_archs), where a visible device stands for the op's code that runs on it; where
/// nothing was, the only one that the op names. Sorted. Throws Error(usage) for one outside of the op's set or unknown to
/// nvcc, and Error(environment) when nothing says one.
[[nodiscard]] std::vector<std::string> cuda_archs_of(const op::Op& op, const Facts& facts);

} // namespace dcuop::key
