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
  std::filesystem::path root = "/"; ///< another tree for /sys, /dev, /opt, /etc: tests and saved machines
};

} // namespace dcuop::probe
