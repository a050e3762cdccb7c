#pragma once
// Kernels on several streams that wait for one another's cores.

#include "dcuop/superkernel/judge.hpp"

namespace dcuop::superkernel {

/// Pairs that may run at the same time, both with a synchronisation of all their cores, neither started all or nothing
/// (batch mode), and each able to hold cores that the other lacks. More than two at once are not looked at.
[[nodiscard]] std::vector<Clash> clashes_of(const Scope& scope, const std::vector<Segment>& segments);

} // namespace dcuop::superkernel
