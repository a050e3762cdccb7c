#pragma once
// A plan's findings, of the rules DCU80x to DCU83x.

#include "dcuop/superkernel/plan.hpp"

namespace dcuop::superkernel {

/// Of all that the plan holds but its findings.
[[nodiscard]] std::vector<finding::Finding> findings_of(const Scope& scope, const Plan& plan);

/// Of one fault, without evidence and fix.
[[nodiscard]] finding::Finding fault_finding(const Scope& scope, const Judgement& judgement, std::size_t op,
                                             const FaultAt& at);
/// "kernel.h:212", where the scope says that a source has the cause of a fault; else empty.
[[nodiscard]] std::string source_of(const Operator& op, Fault fault);

} // namespace dcuop::superkernel
