#pragma once
// Scalars of global memory in the data cache: what goes wrong with them, and which operators to name in the dcci options.

#include <string>
#include <vector>

#include "dcuop/superkernel/plan.hpp"

namespace dcuop::superkernel {

[[nodiscard]] std::vector<CacheFault> cache_faults_of(const Scope& scope, const Judgement& judgement);

/// How a dcci list names the operator: its type (ge), a pattern of its kernel (npugraph_ex).
[[nodiscard]] std::string dcci_entry(const Scope& scope, const Operator& op);

/// Entries for the three lists: operator types, or patterns.
struct CacheAdvice {
  std::vector<std::string> before, after, disable;
};

/// With what the options name already.
[[nodiscard]] CacheAdvice cache_advice_of(const Scope& scope, const Judgement& judgement);

} // namespace dcuop::superkernel
