#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include "dcuop/support/files.hpp"

namespace dcuop {

/// How this program stats what it will compare as an identity, times and all, so that its own tracer can tell that from
/// a look at whether a directory is there. As stat(2) and lstat(2) do anyhow (stat(2), NOTES).
inline constexpr int as_identity = AT_NO_AUTOMOUNT;

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
