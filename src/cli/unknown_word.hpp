#pragma once
// A command line that was not understood, in dcuop's words.

#include <CLI/CLI.hpp>

#include "dcuop/support/error.hpp"

namespace dcuop::cli {

/// Names the command or option that does not exist, and the one that is probably meant; else what CLI11 says.
/// `app` is the whole program's, after its parse ended with `fault`.
[[nodiscard]] Error misunderstood(const CLI::App& app, const CLI::ParseError& fault);

} // namespace dcuop::cli
