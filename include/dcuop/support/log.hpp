#pragma once
// A trace for those who debug dcuop itself: DCUOP_LOG=debug (to stderr) or DCUOP_LOG=debug:/path. spdlog
// does the work, in log.cpp alone. Users are spoken to through Terminal; warnings are kept for that.

#include <string>
#include <string_view>
#include <vector>

#include "dcuop/support/environment.hpp"

namespace dcuop {

/// Throws Error(usage) when DCUOP_LOG names no level.
void configure_log(const Environment& environment);
void log_debug(std::string_view message);
/// What users should know although it stopped nothing; also from other threads.
void log_warning(std::string_view message);
/// The warnings since the last call, each once, in their order; after the first twenty a line with the number
/// of the others.
[[nodiscard]] std::vector<std::string> take_warnings();

} // namespace dcuop
