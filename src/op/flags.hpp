#pragma once
// The flags of a manifest. An operator's directory cannot choose programs: a flag that loads code into the
// compiler or the linker, or replaces a part of it, is refused, as are those that dcuop sets itself.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dcuop/support/toml_file.hpp"

namespace dcuop::op {

/// A list of flags, and where it stands.
struct FlagList {
  const TomlFile& file;
  std::string name;                     ///< "'hip_flags' in [build]"
  std::filesystem::path directory;      ///< absolute; relative response files are taken from it
  std::filesystem::path workspace_root; ///< absolute; a response file must lie below it
  bool for_nvcc = false;                ///< which has options of its own, and hands its words to a shell
};

/// The flags in order, response files (@file) replaced by what they hold. Throws Error(usage).
[[nodiscard]] std::vector<std::string> read_flags(const TomlNode& node, const FlagList& list);

/// Why a manifest may not have this flag: "names the output, which dcuop sets". nullopt for all others.
[[nodiscard]] std::optional<std::string> why_refused(const std::string& flag);

} // namespace dcuop::op
