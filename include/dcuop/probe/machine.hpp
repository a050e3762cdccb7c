#pragma once
// What every probe is given: the seams (processes, file system root, environment) and the memos.

#include <filesystem>

#include "dcuop/support/environment.hpp"
#include "dcuop/support/memo.hpp"
#include "dcuop/support/process.hpp"

namespace dcuop::probe {

/// References are borrowed for the length of a call.
struct Machine {
  ProcessRunner& processes;
  const Environment& environment;
  const MemoStore& memos;
  std::filesystem::path working_directory;
  std::filesystem::path root = "/"; ///< another tree for /sys, /dev, /proc, /opt, /etc
  /// `root` holds another machine or a container's image (--root): nothing in it is started, its devices are
  /// not opened, and Python, torch and the libraries of a process are still this machine's.
  bool is_saved = false;
};

/// Where `path` lies in the tree `root`. Links are followed as if `root` were "/", so that none leads out of
/// it; what does not exist is kept as written. A path below `root` is taken as such. With "/", the path
/// itself.
[[nodiscard]] std::filesystem::path inside(const std::filesystem::path& root,
                                           const std::filesystem::path& path);

} // namespace dcuop::probe
