#pragma once
// What the generator of ge refuses to build; npugraph_ex splits or warns instead.

#include "dcuop/superkernel/judge.hpp"

namespace dcuop::superkernel {

void add_build_errors(const Scope& scope, const Options& options, const std::vector<Segment>& segments,
                      std::vector<BuildError>& errors);

} // namespace dcuop::superkernel
