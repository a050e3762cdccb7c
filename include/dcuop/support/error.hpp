#pragma once
// The one exception type of dcuop: thrown where the fault is found, caught once in main.

#include <stdexcept>
#include <string>

namespace dcuop {

/// Exit codes of the program; every Error carries the one it ends in.
enum class ExitCode : int {
  ok = 0,
  failed = 1,          ///< the build failed, or findings of severity error
  usage = 2,           ///< command line, manifest or configuration
  environment = 3,     ///< no compiler, no torch, no arch, unwritable cache
  lock_timeout = 4,    ///< --lock-timeout passed
  build_forbidden = 5, ///< a build would be needed but DCUOP_BUILD=never
};

/// What went wrong (message: what and where, one sentence), and what to do about it (hint: may be empty).
class Error : public std::runtime_error {
 public:
  Error(ExitCode exit_code, const std::string& message, std::string hint_text = {})
      : std::runtime_error(message), code(exit_code), hint(std::move(hint_text)) {}

  ExitCode code;
  std::string hint;
};

} // namespace dcuop
