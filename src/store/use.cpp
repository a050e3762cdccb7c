// Use: when an entry was last asked for, and whether somebody has it open now.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "dcuop/store/store.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/log.hpp"
#include "layout.hpp"

namespace dcuop::store {

namespace {

using std::chrono::system_clock;

// Least-recently-used needs no finer order, and a warm run then writes nothing.
constexpr std::chrono::minutes stamp_period{1};

constexpr int exclusive_patience = 50;

system_clock::time_point modified(const struct stat& status) {
  return system_clock::time_point(std::chrono::duration_cast<system_clock::duration>(
      std::chrono::seconds(status.st_mtim.tv_sec) + std::chrono::nanoseconds(status.st_mtim.tv_nsec)));
}

/// Touching means the clock of this machine, as it is compared with that: a file server's may differ.
bool touch(const fs::path& path) {
  const auto now = system_clock::now().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now);
  timespec time{};
  time.tv_sec = seconds.count();
  time.tv_nsec = std::chrono::duration_cast<std::chrono::nanoseconds>(now - seconds).count();
  const std::array<timespec, 2> times{time, time};
  return utimensat(AT_FDCWD, path.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) == 0;
}

bool create(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  return descriptor >= 0 && close(descriptor) == 0;
}

} // namespace

void Store::stamp_use(Shelf shelf, const Digest& key) noexcept {
  if (read_only_) {
    return;
  }
  try {
    const std::optional<system_clock::time_point> last = last_use(shelf, key);
    const system_clock::time_point now = system_clock::now();
    // A stamp in the future is from before the clock was set back.
    if (last && *last <= now && now - *last < stamp_period) {
      return;
    }
    const fs::path stamp = Layout(root_).use_stamp(shelf, key);
    if (last ? touch(stamp) : create(stamp)) {
      return;
    }
    make_directories(stamp.parent_path(), directory_mode);
    (void)(create(stamp) && touch(stamp));
  } catch (const std::exception& error) {
    log_debug(error.what());
  }
}

std::optional<system_clock::time_point> Store::last_use(Shelf shelf, const Digest& key) const {
  struct stat status {};
  if (lstat(Layout(root_).use_stamp(shelf, key).c_str(), &status) != 0) {
    return std::nullopt;
  }
  return modified(status);
}

fs::path Store::use_lock_file() const {
  return Layout(root_).use() / "lock";
}

std::uint64_t Store::lock_offset(const Digest& key) {
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    offset = (offset << 8U) | key.bytes.at(i);
  }
  return offset >> 2U;
}

std::optional<FileLock> Store::lock_for_use(const Digest& key) const {
  try {
    if (!read_only_) {
      make_directories(use_lock_file().parent_path(), directory_mode);
    }
    // Whoever holds it exclusively only looks (in_use) or renames (remove).
    for (int attempt = 0; attempt < exclusive_patience; ++attempt) {
      std::optional<FileLock> lock = FileLock::try_acquire(use_lock_file(), lock_offset(key),
                                                           FileLock::Mode::shared, use_lock_permissions);
      if (lock) {
        return lock;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  } catch (const Error& error) {
    log_debug(error.what());
  }
  return std::nullopt;
}

bool Store::in_use(const Digest& key) const {
  try {
    if (!read_only_) {
      make_directories(use_lock_file().parent_path(), directory_mode);
    }
    return !FileLock::try_acquire(use_lock_file(), lock_offset(key), FileLock::Mode::exclusive,
                                  use_lock_permissions);
  } catch (const Error& error) {
    log_debug(error.what());
    return true;
  }
}

} // namespace dcuop::store
