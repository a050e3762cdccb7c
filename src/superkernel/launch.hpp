#pragma once
// Scope splits and launches, as the two back ends make them.

#include "dcuop/superkernel/judge.hpp"

namespace dcuop::superkernel {

/// The kernels of the scope, with their launches; adds what is wrong with debug-aic-num and debug-aiv-num.
[[nodiscard]] std::vector<Segment> segments_of(const Scope& scope, const Options& options,
                                               std::vector<BuildError>& errors);

/// Whether `first` sends an event that `second` waits for.
[[nodiscard]] bool are_linked(const Operator& first, const Operator& second);

/// Whether anything in the kernel makes all cores of a side wait for one another between two operators.
[[nodiscard]] bool has_barrier(const Scope& scope, const Options& options, const Segment& segment);

} // namespace dcuop::superkernel
