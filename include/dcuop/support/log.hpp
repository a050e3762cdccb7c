#pragma once
// A trace for those who debug dcuop itself: DCUOP_LOG=debug (to stderr) or DCUOP_LOG=debug:/path. spdlog
// does the work, in log.cpp alone. Users are spoken to through Terminal.

#include <string_view>

#include "dcuop/support/environment.hpp"

namespace dcuop {

/// Throws Error(usage) when DCUOP_LOG names no level.
void configure_log(const Environment& environment);
void log_debug(std::string_view message);
void log_warning(std::string_view message);

} // namespace dcuop
