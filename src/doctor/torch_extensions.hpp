#pragma once
// What the files of an entry of torch's JIT cache say: where it is, what was built, and for what.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dcuop/doctor/torch_extensions.hpp"
#include "directory_users.hpp"

namespace dcuop::doctor {

/// build.ninja as torch writes it.
struct BuildFile {
  bool there = false;
  std::vector<std::string> artifacts; ///< of its `default` line: "k.so", "k_v1.so"
  std::vector<std::string> flags;     ///< words of cflags and cuda_cflags
};
[[nodiscard]] BuildFile read_build_file(const std::filesystem::path& directory);

/// Why the next load() finds no whole artifact; empty when it does, or nothing says what it should be.
[[nodiscard]] Phrase why_half_built(const TorchCacheEntry& entry, const BuildFile& build);
/// The libraries of an entry: those that build.ninja names, else all; older versions' too (k.so beside k_v1.so).
[[nodiscard]] std::vector<std::filesystem::path> libraries_of(const std::filesystem::path& directory,
                                                              const BuildFile& build);
/// What ninja and the compiler left in the directory. Sources, which others may have put there, are none.
[[nodiscard]] std::vector<std::filesystem::path> products_of(const std::filesystem::path& directory,
                                                             const BuildFile& build);

struct Mismatch {
  std::string built, here;
  std::string source; ///< what says so
};
[[nodiscard]] std::optional<Mismatch> python_mismatch(const TorchCacheEntry& entry, const BuildFile& build,
                                                      const EnvironmentFacts& facts);
[[nodiscard]] std::optional<Mismatch> torch_mismatch(const TorchCacheEntry& entry, const BuildFile& build,
                                                     const EnvironmentFacts& facts);

} // namespace dcuop::doctor
