#pragma once
// One kernel, operator by operator, each as if those before it had ended.

#include "dcuop/superkernel/simulate.hpp"
#include "simulate_shape.hpp"

namespace dcuop::superkernel {

/// Adds the faults of the kernel's operators, and those that are not reached.
void simulate_verdicts(const Scope& scope, const Options& options, const Kernel& kernel, Simulation& into);

} // namespace dcuop::superkernel
