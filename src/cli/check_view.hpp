#pragma once
// What `dcuop check` and `dcuop superkernel check` answer with.

#include <vector>

#include "command.hpp"
#include "dcuop/check/check.hpp"

namespace dcuop::cli {

void print_report(Context& context, const check::Report& report);
/// As text, JSON or SARIF; failed when there are errors. `has_ascend`, of `dcuop superkernel check`, is by report: one
/// whose sources have nothing of Ascend says so instead of "no error found", and is the usage's mistake.
[[nodiscard]] ExitCode answer_reports(Context& context, const std::vector<check::Report>& reports,
                                      bool as_sarif, const std::vector<bool>& has_ascend = {});

} // namespace dcuop::cli
