#pragma once
// When an equal identity means equal content.

#include <cstdint>
#include <ctime>
#include <filesystem>

#include "dcuop/support/files.hpp"

namespace dcuop {

/// Of CLOCK_REALTIME or its coarse sister.
[[nodiscard]] std::int64_t clock_ns(clockid_t clock);

/// False for what changed shortly before `now` or in the future: it may change again within the same tick of a clock.
[[nodiscard]] bool is_settled(const FileIdentity& identity, std::int64_t now);

/// Files that the kernel makes up change their content without a new mtime or ctime.
[[nodiscard]] bool is_on_kernel_file_system(const std::filesystem::path& path);

} // namespace dcuop
