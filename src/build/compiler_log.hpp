#pragma once
// What a compiler said, for people: dcuop asks for more (-v) than they want to read.

#include <string>

#include "dcuop/support/process.hpp"

namespace dcuop::build {

/// The diagnostics of a -v run without the driver's own talk.
[[nodiscard]] std::string diagnostics_for_people(const std::string& diagnostics);

/// The command and what it printed.
[[nodiscard]] std::string log_of(const std::vector<std::string>& argv, const ProcessResult& process);

} // namespace dcuop::build
