#pragma once
// File identities as they lie in binary memos, in this machine's byte order, and whether one may be trusted.

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>

#include "dcuop/support/files.hpp"

namespace dcuop {

inline constexpr std::size_t identity_size = 5 * sizeof(std::uint64_t) + 2 * sizeof(std::uint32_t);
using EncodedIdentity = std::array<char, identity_size>;

[[nodiscard]] inline EncodedIdentity encoded(const FileIdentity& identity) {
  EncodedIdentity bytes{};
  char* end = bytes.data();
  const auto append = [&end](const auto& number) {
    std::memcpy(end, &number, sizeof number);
    end += sizeof number;
  };
  append(identity.device);
  append(identity.inode);
  append(identity.size);
  append(identity.mtime_ns);
  append(identity.ctime_ns);
  append(identity.mode);
  append(identity.owner);
  return bytes;
}

/// A file that changed less than this before it was looked at may change again within the same tick of a clock.
inline constexpr std::int64_t settling_ns = 2'000'000'000;

/// Files that the kernel makes up change their content without a new mtime or ctime.
[[nodiscard]] bool is_on_kernel_file_system(const std::filesystem::path& path);

/// CLOCK_REALTIME.
[[nodiscard]] std::int64_t now_ns();

} // namespace dcuop
