#pragma once
// --arch of the commands that judge files: target ids, as they are, of devices or of code.

#include <string>
#include <vector>

#include "command_line.hpp"

namespace dcuop::cli {

/// Adds --arch; `into` must live as long.
void add_arch_option(const Subcommand& subcommand, std::vector<std::string>& into,
                     const std::string& meaning);

enum class ArchOf {
  device, ///< a processor: gfx936
  code,   ///< what code can be for, amdgcnspirv too
};
/// What --arch was given, split at commas and canonical. Throws Error(usage) for what is no target id.
[[nodiscard]] std::vector<std::string> checked_archs(const std::vector<std::string>& given, ArchOf of);

} // namespace dcuop::cli
