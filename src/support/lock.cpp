#include "dcuop/support/lock.hpp"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "dcuop/support/error.hpp"
#include "descriptor.hpp"

namespace dcuop {

namespace {

Descriptor open_lock_file(const std::filesystem::path& file, FileLock::Mode mode, unsigned permissions) {
  Descriptor opened(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, permissions));
  if (!opened && mode == FileLock::Mode::shared) {
    // A read-only cache (built into an image, or owned by somebody else) can still be locked for reading.
    const int first_error = errno;
    opened = Descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    errno = first_error;
  }
  if (!opened) {
    throw Error(ExitCode::environment,
                "cannot open the lock file " + file.string() + ": " + error_text(errno),
                "check the directory's permissions, or choose another cache with DCUOP_CACHE_DIR");
  }
  return opened;
}

int set_lock(int descriptor, short type, off_t offset, off_t length) {
  struct flock request {};
  request.l_type = type;
  request.l_whence = SEEK_SET;
  request.l_start = offset;
  request.l_len = length;
  request.l_pid = 0; // required for open-file-description locks
  int result = 0;
  do {
    result = ::fcntl(descriptor, F_OFD_SETLK, &request);
  } while (result != 0 && errno == EINTR);
  return result;
}

} // namespace

std::optional<FileLock> FileLock::try_acquire(const std::filesystem::path& file, std::uint64_t offset,
                                              Mode mode, unsigned permissions) {
  Descriptor descriptor = open_lock_file(file, mode, permissions);
  const short type = mode == Mode::shared ? F_RDLCK : F_WRLCK;
  if (set_lock(descriptor.get(), type, static_cast<off_t>(offset), 1) == 0) {
    return FileLock(descriptor.release());
  }
  if (errno == EAGAIN || errno == EACCES) {
    return std::nullopt;
  }
  throw Error(ExitCode::environment, "cannot lock " + file.string() + ": " + error_text(errno),
              "put the cache on a file system with POSIX locks (DCUOP_CACHE_DIR)");
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  // The temporary takes the old lock with it.
  FileLock taken(std::move(other));
  std::swap(descriptor_, taken.descriptor_);
  return *this;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) {
    // Explicitly, as a child that was forked but has not yet run exec still shares the description.
    static_cast<void>(set_lock(descriptor_, F_UNLCK, 0, 0));
    ::close(descriptor_);
  }
}

} // namespace dcuop
