#pragma once
// Files of a ROCm or DTK installation that say what it is, and that HIP's compiler wrappers read.

#include <filesystem>
#include <string>
#include <vector>

#include "dcuop/support/environment.hpp"

namespace dcuop::probe {

/// `path` in the tree `root` ("/" for this machine itself).
[[nodiscard]] std::filesystem::path below_root(const std::filesystem::path& root,
                                               const std::filesystem::path& path);

/// Where a wrapper looks for its installation: above itself (as called, and with links resolved), HIP_PATH,
/// ROCM_PATH, HIP_ROCCLR_HOME. Unique, in this order; they may not exist.
[[nodiscard]] std::vector<std::filesystem::path> installation_roots(const std::filesystem::path& program,
                                                                    const Environment& environment);

/// Files below the roots that a wrapper reads; they may not exist.
[[nodiscard]] std::vector<std::filesystem::path>
wrapper_information_files(const std::vector<std::filesystem::path>& roots);
/// Paths below the roots whose mere existence changes what a wrapper calls.
[[nodiscard]] std::vector<std::filesystem::path>
wrapper_decision_paths(const std::vector<std::filesystem::path>& roots);

/// "5.2.21153" from .hipVersion, share/hip/version or hip_version.h below the first root that has one; else
/// "".
[[nodiscard]] std::string hip_version_below(const std::vector<std::filesystem::path>& roots);

} // namespace dcuop::probe
