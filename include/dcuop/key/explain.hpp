#pragma once
// What differs between an earlier build and what would be built now, in words.

#include <string>
#include <vector>

#include "dcuop/key/components.hpp"
#include "dcuop/key/input_set.hpp"

namespace dcuop::key {

struct Difference {
  Group group = Group::op;
  std::string name; ///< "op.h", "HIPCC_COMPILE_FLAGS_APPEND"
  std::string text; ///< one clause: "changed, read by binding.cpp and op_kernel.hip", "was empty, is \"-g\""
};

/// Components that differ: the backend first, then in the order of `now`, then those that only `before` has.
[[nodiscard]] std::vector<Difference> compare_components(const Components& before, const Components& now);

/// A comparison of files in the same words.
[[nodiscard]] std::vector<Difference> describe(const Comparison& comparison, const InputSet& set,
                                               const PathBase& base);

/// "op.h changed" or "op.h changed and 2 more": the one-line form.
[[nodiscard]] std::string summary(const std::vector<Difference>& differences);

} // namespace dcuop::key
