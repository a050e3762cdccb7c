#pragma once
// What dcuop knows about compiler and linker flags: which name files, which make a result uncacheable.
// One table; a flag that it does not know is passed on, and the result is not cached.

#include <filesystem>
#include <string>
#include <vector>

#include "dcuop/key/input_set.hpp"

namespace dcuop::key {

struct FlagReport {
  std::vector<std::string> flags; ///< in order; paths below the workspace relative to the op's directory
  std::vector<std::filesystem::path>
      files; ///< absolute: what the flags name as inputs (version scripts, profiles, ...)
  std::vector<std::string>
      uncacheable;     ///< "unknown flag --foo", "-save-temps writes other files"; empty: cacheable
  bool rdc = false;    ///< -fgpu-rdc
  bool silent = false; ///< -w: -Wdate-time cannot be relied on
  std::vector<std::string> host_flags; ///< of nvcc's: those that its host compiler gets
};

/// `directory`: where relative paths are taken from (the op's).
[[nodiscard]] FlagReport examine_flags(const std::vector<std::string>& flags, const PathBase& base);
/// The same of flags for nvcc.
[[nodiscard]] FlagReport examine_cuda_flags(const std::vector<std::string>& flags, const PathBase& base);

} // namespace dcuop::key
