#pragma once
// Findings of options and of what the back end refuses to build.

#include <vector>

#include "dcuop/finding/finding.hpp"
#include "dcuop/superkernel/judge.hpp"

namespace dcuop::superkernel {

void add_option_findings(const Scope& scope, const Judgement& judgement, std::vector<finding::Finding>& into);
void add_build_findings(const Scope& scope, const Judgement& judgement, std::vector<finding::Finding>& into);

} // namespace dcuop::superkernel
