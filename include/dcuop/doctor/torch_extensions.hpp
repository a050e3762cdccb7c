#pragma once
// torch's own JIT cache (torch.utils.cpp_extension.load): what in it is stale, half-built, or waits for ever on a
// lock that nobody holds. Layout and lock: torch/utils/cpp_extension.py (_get_build_directory) and
// torch/utils/file_baton.py of PyTorch 1.13 to 2.8.

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dcuop/doctor/doctor.hpp"
#include "dcuop/finding/finding.hpp"
#include "dcuop/probe/machine.hpp"

namespace dcuop::doctor {

struct TorchCacheRoot {
  std::filesystem::path path;
  std::string origin; ///< "TORCH_EXTENSIONS_DIR", "XDG_CACHE_HOME", "HOME"
};
/// Where a torch with this environment keeps its builds; symbolic links resolved as torch does it.
[[nodiscard]] TorchCacheRoot torch_cache_root(const Environment& environment);

/// One extension's build directory.
struct TorchCacheEntry {
  std::filesystem::path directory;
  std::string name;
  std::string tag; ///< "py311_cpu"; empty when it lies directly in the root
};
/// Sorted by path. Directories without build.ninja, lock, object or library are none.
[[nodiscard]] std::vector<TorchCacheEntry> torch_cache_entries(const std::filesystem::path& root);

struct TorchCacheQuestion {
  std::vector<std::string> archs; ///< --arch: judged instead of the visible devices
  bool fix = false;               ///< remove what is provably dead on this host
};

struct TorchCacheReport {
  TorchCacheRoot root;
  std::vector<TorchCacheEntry> entries;
  std::vector<finding::Finding> findings; ///< sorted; what still stands after a fix
  std::vector<finding::Finding> fixed;    ///< their cause was removed
  std::vector<std::filesystem::path> removed;
  struct Left {
    std::filesystem::path path;
    std::string reason, reason_chinese;
  };
  std::vector<Left> left; ///< what a fix did not touch, and why
};
/// Starts nothing and imports nothing. Never throws for what the cache is like.
[[nodiscard]] TorchCacheReport examine_torch_cache(const TorchCacheQuestion& question,
                                                   const EnvironmentFacts& facts,
                                                   const probe::Machine& machine);
[[nodiscard]] nlohmann::json to_json(const TorchCacheReport& report);

} // namespace dcuop::doctor
