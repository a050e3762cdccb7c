#pragma once
// Who we are, for names in a cache that machines share.

#include <string>

namespace dcuop::store {

/// The host name, reduced to [A-Za-z0-9._-] so that it can be part of a file name; "unknown" without one.
[[nodiscard]] const std::string& this_host();

/// The kernel's boot id, without dashes: the same in all containers of one kernel, another after a restart.
/// Empty when /proc does not tell.
[[nodiscard]] const std::string& this_boot();

/// The kind of container that this process runs in ("docker", "podman", "apptainer"); "" outside one.
[[nodiscard]] std::string this_container();

/// 64 random bits in hex.
[[nodiscard]] std::string random_name();

} // namespace dcuop::store
