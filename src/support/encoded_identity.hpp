#pragma once
// File identities as they lie in binary memos.

#include <array>
#include <cstdint>
#include <cstring>

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

/// `bytes`: identity_size of them.
[[nodiscard]] inline FileIdentity decoded(const char* bytes) {
  FileIdentity identity;
  const auto take = [&bytes](auto& number) {
    std::memcpy(&number, bytes, sizeof number);
    bytes += sizeof number;
  };
  take(identity.device);
  take(identity.inode);
  take(identity.size);
  take(identity.mtime_ns);
  take(identity.ctime_ns);
  take(identity.mode);
  take(identity.owner);
  return identity;
}

} // namespace dcuop
