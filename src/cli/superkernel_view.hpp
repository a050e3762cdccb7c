#pragma once
// The plan of a SuperKernel for people.

#include "dcuop/finding/finding.hpp"
#include "dcuop/superkernel/plan.hpp"
#include "report_text.hpp"

namespace dcuop::cli {

/// Launches, operators, options, what can be saved, and the findings that the operators' lines do not show.
void print_plan(Terminal& terminal, const superkernel::Scope& scope, const superkernel::Plan& plan,
                const ReportStyle& style);

/// Who waits for whom, and whether the predicates say the same.
void print_simulation(Terminal& terminal, const superkernel::Scope& scope, const superkernel::Plan& plan,
                      const superkernel::Simulation& simulation, finding::LanguageOfText language);

} // namespace dcuop::cli
