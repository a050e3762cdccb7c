#pragma once
// Which DTK or ROCm each variable of the environment points into: env.sh of one and a module of another leave
// some of both.

#include <filesystem>
#include <string>
#include <vector>

#include "dcuop/probe/machine.hpp"
#include "dcuop/probe/toolchain.hpp"

namespace dcuop::probe {

struct ToolkitUse {
  std::string variable;        ///< "ROCM_PATH", "LD_LIBRARY_PATH"
  std::filesystem::path value; ///< the variable's value, or the entry of a list
  std::filesystem::path root;  ///< the real directory of the toolkit; empty when `value` does not exist
  std::string version;         ///< "DTK 25.04", "ROCm 6.2.0"
};

struct ToolkitUses {
  std::vector<ToolkitUse> uses;
  std::vector<Rocm> installed; ///< below /opt and /usr/local, each once
  /// A directory of `installed` is named in /etc/ld.so.conf or its parts.
  bool in_loader_configuration = false;

  [[nodiscard]] bool sets_root() const;         ///< ROCM_PATH, ROCM_HOME or HIP_PATH is set
  [[nodiscard]] bool sets_library_path() const; ///< LD_LIBRARY_PATH names a directory of a toolkit
};

[[nodiscard]] ToolkitUses find_toolkit_uses(const Machine& machine);

} // namespace dcuop::probe
