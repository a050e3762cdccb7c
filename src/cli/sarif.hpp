#pragma once
// --sarif, of every command that ends in findings: for code scanning services and editors.

#include <vector>

#include "command.hpp"

#include "dcuop/finding/finding.hpp"

namespace dcuop::cli {

/// Adds --sarif, which excludes --json; `into` must live as long.
void add_sarif_option(const Subcommand& subcommand, bool& into);
void answer_sarif(Context& context, const std::vector<finding::Finding>& findings);

} // namespace dcuop::cli
