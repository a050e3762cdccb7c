#pragma once
// Locks that die with their holder: open-file-description byte-range locks (fcntl F_OFD_SETLK, Linux 3.15)
// on files that are never unlinked. One descriptor a lock, so that one process never waits on itself.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace dcuop {

class FileLock {
 public:
  enum class Mode { shared, exclusive };

  /// nullopt when another holder has it. Throws Error(environment) when the lock file cannot be opened or
  /// the file system has no locks. `offset` is the byte of the file that is locked. A file that is not there
  /// is made with `permissions`: whoever can read it can take the lock shared, and so keep others waiting.
  [[nodiscard]] static std::optional<FileLock> try_acquire(const std::filesystem::path& file,
                                                           std::uint64_t offset, Mode mode,
                                                           unsigned permissions = 0600);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

} // namespace dcuop
