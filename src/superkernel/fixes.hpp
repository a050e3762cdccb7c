#pragma once
// Changes to a scope, tried on the judgement.

#include <set>
#include <string>
#include <vector>

#include "dcuop/superkernel/plan.hpp"

namespace dcuop::superkernel {

/// Of the operator's first fault: two at most, the smaller change first.
[[nodiscard]] std::vector<Fix> fixes_of(const Scope& scope, const Judgement& judgement, std::size_t op);

/// How much is wrong: faults, operators that are not reached, and what is not built.
[[nodiscard]] std::size_t count_faults(const Judgement& judgement);

/// The scope with an option set, whatever it was before.
[[nodiscard]] Scope with_option(const Scope& scope, const std::string& key, const std::string& value);
/// The scope of ge without options.
[[nodiscard]] Scope without_options(const Scope& scope, const std::set<std::string>& keys);

} // namespace dcuop::superkernel
