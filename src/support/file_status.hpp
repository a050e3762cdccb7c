#pragma once

#include <sys/stat.h>

#include "dcuop/support/files.hpp"

namespace dcuop {

/// Async-signal-safe.
inline FileIdentity identity_from(const struct stat& status) {
  const auto nanoseconds = [](const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; };
  FileIdentity identity;
  identity.device = status.st_dev;
  identity.inode = status.st_ino;
  identity.size = static_cast<std::uint64_t>(status.st_size);
  identity.mtime_ns = nanoseconds(status.st_mtim);
  identity.ctime_ns = nanoseconds(status.st_ctim);
  identity.mode = status.st_mode;
  identity.owner = status.st_uid;
  return identity;
}

} // namespace dcuop
