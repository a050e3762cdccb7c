#pragma once
// A program that goes on by itself: nobody waits for it, and it outlives dcuop.

#include <string>
#include <vector>

namespace dcuop::cli {

/// Starts /proc/self/exe with `arguments` in a session of its own, at low priority, with /dev/null for stdin,
/// stdout and stderr and in the root directory, so that it holds neither a terminal, a pipe nor a mount.
/// False when that cannot be done.
[[nodiscard]] bool start_self_detached(const std::vector<std::string>& arguments) noexcept;

} // namespace dcuop::cli
