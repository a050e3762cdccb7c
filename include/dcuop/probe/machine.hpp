#pragma once
// What every probe is given: the seams (processes, file system root, environment) and the memos.

#include <filesystem>

#include "dcuop/support/environment.hpp"
#include "dcuop/support/files.hpp"
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
  /// `root` holds another machine or a container's image (--root): nothing in it is started, and its devices are
  /// not opened.
  bool is_saved = false;
};

using dcuop::inside;

/// The tree that Python, torch and the libraries of a process are taken from: `root`, but "/" for a saved machine
/// of which only /sys, /dev, /proc, /opt and /etc were kept: it has neither ld.so nor a Python.
[[nodiscard]] std::filesystem::path process_root(const Machine& machine);

} // namespace dcuop::probe
