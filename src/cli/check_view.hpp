#pragma once
// What `dcuop check` and `dcuop superkernel check` answer with.

#include <vector>

#include "command.hpp"
#include "dcuop/check/check.hpp"

namespace dcuop::cli {

void print_report(Context& context, const check::Report& report);
/// As text, JSON or SARIF; failed when there are errors.
[[nodiscard]] ExitCode answer_reports(Context& context, const std::vector<check::Report>& reports,
                                      bool as_sarif);

} // namespace dcuop::cli
