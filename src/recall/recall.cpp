// No C++ runtime and no symbol of a recent glibc: this is loaded into processes that have their own. What is called
// through syscall(2) has a new symbol version since glibc 2.33 (stat).

#include "dcuop/recall/recall.h"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "dcuop/recall/layout.hpp"

using namespace dcuop::recall;

/// One block: this, then the file's content and a zero byte.
struct dcuop_recalled {
  std::size_t size = 0;
  const char* answer = nullptr;
  std::size_t paths = 0;
  const char* records = nullptr;

  char* content() { return reinterpret_cast<char*>(this + 1); }
  [[nodiscard]] const char* end() const { return reinterpret_cast<const char*>(this + 1) + size; }
};

namespace {

bool status_of(int directory, const char* name, int flags, struct stat& status) {
#ifdef SYS_newfstatat
  return ::syscall(SYS_newfstatat, directory, name, &status, flags) == 0;
#else
  return ::syscall(SYS_fstatat, directory, name, &status, flags) == 0;
#endif
}

std::int64_t nanoseconds(const timespec& time) {
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

Identity identity_at(int directory, const char* name, bool follow) {
  struct stat status {};
  Identity identity;
  if (status_of(directory, name, follow ? 0 : AT_SYMLINK_NOFOLLOW, status)) {
    identity = {status.st_dev,
                status.st_ino,
                static_cast<std::uint64_t>(status.st_size),
                nanoseconds(status.st_mtim),
                nanoseconds(status.st_ctim),
                status.st_mode,
                status.st_uid};
  }
  return identity;
}

/// Reads on until the block is full or the file ends.
bool read_whole(int file, char* into, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = ::read(file, into + done, size - done);
    if (count <= 0) {
      return false;
    }
    done += static_cast<std::size_t>(count);
  }
  return true;
}

/// Takes pieces off the front of what was read.
class Reader {
 public:
  Reader(const char* begin, const char* end) : next_(begin), end_(end) {}

  [[nodiscard]] const char* bytes(std::size_t size) {
    if (size > static_cast<std::size_t>(end_ - next_)) {
      return nullptr;
    }
    const char* const taken = next_;
    next_ += size;
    return taken;
  }
  [[nodiscard]] bool number(std::uint32_t& value) {
    const char* const taken = bytes(sizeof value);
    if (taken != nullptr) {
      std::memcpy(&value, taken, sizeof value);
    }
    return taken != nullptr;
  }
  /// With its zero byte.
  [[nodiscard]] const char* text() {
    const auto left = static_cast<std::size_t>(end_ - next_);
    const void* const zero = left > 0 ? std::memchr(next_, '\0', left) : nullptr;
    return zero != nullptr ? bytes(static_cast<std::size_t>(static_cast<const char*>(zero) - next_) + 1)
                           : nullptr;
  }
  [[nodiscard]] bool at_end() const { return next_ == end_; }
  [[nodiscard]] const char* position() const { return next_; }

 private:
  const char* next_;
  const char* end_;
};

bool parse(dcuop_recalled& recalled) {
  const char* const begin = recalled.content();
  Reader reader(begin, recalled.end());
  const char* const found_magic = reader.bytes(magic_size);
  const char* const digest = reader.bytes(digest_size);
  if (digest == nullptr || std::memcmp(found_magic, magic, magic_size) != 0) {
    return false;
  }
  XXH128_canonical_t actual;
  XXH128_canonicalFromHash(
      &actual, XXH3_128bits(reader.position(), static_cast<std::size_t>(recalled.end() - reader.position())));
  std::uint32_t answer_size = 0;
  std::uint32_t paths = 0;
  if (std::memcmp(actual.digest, digest, digest_size) != 0 || !reader.number(answer_size)) {
    return false;
  }
  recalled.answer = reader.bytes(std::size_t{answer_size} + 1);
  if (recalled.answer == nullptr || recalled.answer[answer_size] != '\0' || !reader.number(paths)) {
    return false;
  }
  recalled.paths = paths;
  recalled.records = reader.position();
  return true;
}

/// The directory that names are looked up in; opened when the first is.
class Directory {
 public:
  explicit Directory(const char* path) : path_(path) {}
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() { close(); }

  void change_to(const char* path) {
    close();
    path_ = path;
  }
  /// The descriptor; -1 when there is no such directory.
  [[nodiscard]] int open() {
    if (!asked_) {
      asked_ = true;
      descriptor_ = ::open(path_, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    return descriptor_;
  }

 private:
  void close() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
    descriptor_ = -1;
    asked_ = false;
  }

  const char* path_;
  bool asked_ = false;
  int descriptor_ = -1;
};

bool holds(Directory& directory, Kind kind, const char* identity, const char* name) {
  Identity now;
  // A descriptor of -1 would be an error for a relative name, and none is absolute.
  if (const int there = directory.open(); there >= 0) {
    now = identity_at(there, name, kind != Kind::link && kind != Kind::real_place);
  }
  if (kind == Kind::place || kind == Kind::real_place) {
    now.size = 0;
    now.mtime_ns = now.ctime_ns = 0;
  }
  return std::memcmp(&now, identity, sizeof now) == 0;
}

} // namespace

dcuop_recalled* dcuop_recall_open(const char* file) {
  const int descriptor = ::open(file, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) {
    return nullptr;
  }
  struct stat status {};
  const bool is_ours = status_of(descriptor, "", AT_EMPTY_PATH, status) && S_ISREG(status.st_mode) &&
                       status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  const auto size = is_ours ? static_cast<std::size_t>(status.st_size) : 0;
  void* const block = is_ours ? std::malloc(sizeof(dcuop_recalled) + size) : nullptr;
  dcuop_recalled* recalled = nullptr;
  if (block != nullptr) {
    recalled = static_cast<dcuop_recalled*>(block);
    *recalled = {};
    recalled->size = size;
    if (!read_whole(descriptor, recalled->content(), size) || !parse(*recalled)) {
      std::free(block);
      recalled = nullptr;
    }
  }
  ::close(descriptor);
  return recalled;
}

void dcuop_recall_close(dcuop_recalled* recalled) {
  std::free(recalled);
}

size_t dcuop_recall_paths(const dcuop_recalled* recalled) {
  return recalled->paths;
}

int dcuop_recall_holds(const dcuop_recalled* recalled, size_t first, size_t last) {
  Reader reader(recalled->records, recalled->end());
  Directory directory("/");
  size_t index = 0;
  while (index < last && !reader.at_end()) {
    const auto kind = static_cast<Kind>(*reader.bytes(1));
    const char* const identity = kind == Kind::directory ? nullptr : reader.bytes(sizeof(Identity));
    const char* const text = reader.text();
    if (text == nullptr || (kind != Kind::directory && identity == nullptr)) {
      return 0;
    }
    if (kind == Kind::directory) {
      directory.change_to(text);
    } else if (index++ >= first && !holds(directory, kind, identity, text)) {
      return 0;
    }
  }
  return index >= last ? 1 : 0;
}

const char* dcuop_recall_answer(const dcuop_recalled* recalled) {
  return recalled->answer;
}
