#include "dcuop/support/files.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include "dcuop/support/error.hpp"
#include "dcuop/support/steps.hpp"
#include "descriptor.hpp"
#include "file_status.hpp"

namespace dcuop {

namespace {

[[noreturn]] void fail(const std::string& what, const fs::path& path, int error) {
  std::string hint;
  if (error == ENOSPC || error == EDQUOT) {
    hint = "free some space, or choose another place with DCUOP_CACHE_DIR";
  } else if (error == EACCES || error == EPERM || error == EROFS) {
    hint = "check the permissions, or choose another place with DCUOP_CACHE_DIR";
  }
  throw Error(ExitCode::environment, what + " " + path.string() + ": " + error_text(error), hint);
}

struct DirectoryCloser {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, DirectoryCloser>;

/// Names in an open directory, without "." and "..", in no order.
std::vector<std::string> names_in(DIR* directory) {
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(directory)) { // NOLINT(concurrency-mt-unsafe): one stream a thread
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") {
      names.emplace_back(name);
    }
  }
  return names;
}

const char* kind_of(DIR* directory, const dirent& entry) {
  unsigned char type = entry.d_type;
  struct stat status {};
  if (type == DT_UNKNOWN && // the file system does not say
      ::fstatat(::dirfd(directory), entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
    type = static_cast<unsigned char>(IFTODT(status.st_mode));
  }
  switch (type) {
  case DT_DIR:
    return "/d";
  case DT_REG:
    return "/-";
  case DT_LNK:
    return "/l";
  default:
    return "/?";
  }
}

std::optional<std::string> read_at_most(const fs::path& path, std::size_t limit) {
  const Descriptor file = open_regular_file(path);
  if (!file) {
    return std::nullopt;
  }
  // The size is a guess to start from: /proc says 0, and /sys a page, whatever there is to read.
  struct stat status {};
  std::size_t expected = 0;
  if (::fstat(file.get(), &status) == 0) {
    expected = static_cast<std::size_t>(status.st_size);
  }
  std::string content;
  std::size_t used = 0;
  while (used < limit) {
    if (used == content.size()) {
      const std::size_t next = std::max<std::size_t>(used == 0 ? expected + 1 : used * 2, 4096);
      content.resize(std::min(next, limit));
    }
    const std::optional<std::size_t> count =
        read_some(file.get(), content.data() + used, content.size() - used);
    if (!count) {
      return std::nullopt;
    }
    if (*count == 0) {
      break;
    }
    used += *count;
  }
  content.resize(used);
  return content;
}

/// A new file beside the one that it will replace, gone unless it was renamed there.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& target) : target_(target) {
    static std::atomic<std::uint64_t> counter{0};
    constexpr int attempts = 100;
    for (int attempt = 0; attempt < attempts; ++attempt) {
      const auto now = std::chrono::system_clock::now().time_since_epoch().count();
      // O_EXCL decides; the parts only make a collision rare, also between hosts that share the directory.
      path_ = target.parent_path() / (".dcuop-tmp-" + std::to_string(::getpid()) + "-" + std::to_string(now) +
                                      "-" + std::to_string(counter++));
      file_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
      if (file_ || errno != EEXIST) {
        break;
      }
    }
    if (!file_) {
      const int error = errno;
      path_.clear();
      fail("cannot write", target, error);
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) {
      ::unlink(path_.c_str());
    }
  }

  void write(std::string_view content) {
    while (!content.empty()) {
      const ssize_t count = ::write(file_.get(), content.data(), content.size());
      if (count < 0 && errno != EINTR) {
        fail("cannot write", target_, errno);
      }
      content.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
    }
  }
  void sync() {
    if (::fsync(file_.get()) != 0) {
      fail("cannot write", target_, errno);
    }
  }
  void replace_target() {
    if (!file_.close()) {
      fail("cannot write", target_, errno);
    }
    reach_step();
    if (::rename(path_.c_str(), target_.c_str()) != 0) {
      fail("cannot replace", target_, errno);
    }
    path_.clear();
  }

 private:
  fs::path target_;
  fs::path path_;
  Descriptor file_;
};

/// A directory is made with its parents; one that exists is fine, also one that somebody else made meanwhile.
void make_directory(const fs::path& path, unsigned mode) {
  const std::optional<FileIdentity> there = identity_of(path);
  if (there && there->is_directory()) {
    return;
  }
  if (path.has_relative_path() && path.parent_path() != path && !path.parent_path().empty()) {
    make_directory(path.parent_path(), mode);
  }
  if (::mkdir(path.c_str(), static_cast<mode_t>(mode)) == 0) {
    return;
  }
  const int error = errno;
  const std::optional<FileIdentity> now = identity_of(path);
  if (!now || !now->is_directory()) {
    fail("cannot make the directory", path, error == EEXIST ? ENOTDIR : error);
  }
}

/// Removes what is below a directory, from its descriptor, so that a link put in place of a directory
/// meanwhile is never followed.
class TreeRemover {
 public:
  std::vector<fs::path> left;

  /// True when nothing is left there, or only what the NFS client itself removes later.
  bool remove(int parent, const std::string& name, const fs::path& path) {
    if (is_nfs_leftover(name)) {
      return true;
    }
    if (::unlinkat(parent, name.c_str(), 0) == 0 || is_gone(errno)) {
      return true;
    }
    if (errno != EISDIR && errno != EPERM && errno != EACCES) {
      left.push_back(path);
      return false;
    }
    return remove_directory(parent, name, path);
  }

 private:
  bool remove_directory(int parent, const std::string& name, const fs::path& path) {
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    // Its owner may have taken his own rights away; then nothing in it could be removed.
    struct stat status {};
    if (::fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode) &&
        (status.st_mode & S_IRWXU) != S_IRWXU) {
      static_cast<void>(::fchmodat(parent, name.c_str(), (status.st_mode & 07777U) | S_IRWXU, 0));
    }
    const int opened = ::openat(parent, name.c_str(), flags);
    if (opened < 0) {
      const bool gone = is_gone(errno);
      if (!gone) {
        left.push_back(path);
      }
      return gone;
    }
    const std::size_t left_before = left.size();
    const Directory directory(::fdopendir(opened));
    if (!directory) {
      ::close(opened);
      left.push_back(path);
      return false;
    }
    bool has_leftovers = false;
    for (const std::string& child : names_in(directory.get())) {
      has_leftovers = has_leftovers || is_nfs_leftover(child);
      remove(::dirfd(directory.get()), child, path / child);
    }
    if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || is_gone(errno)) {
      return true;
    }
    if (has_leftovers && left.size() == left_before) {
      return true;
    }
    left.push_back(path);
    return false;
  }

  static bool is_gone(int error) { return error == ENOENT || error == ESTALE; }

  /// An NFS client renames a file that is removed while open to ".nfs" and 24 hex digits, and removes it when
  /// it is closed; removing it by hand only makes the next one (fs/nfs/unlink.c in Linux).
  static bool is_nfs_leftover(std::string_view name) {
    return name.size() == 28 && name.starts_with(".nfs") &&
           name.find_first_not_of("0123456789abcdef", 4) == std::string_view::npos;
  }
};

fs::path without_trailing_slash(const fs::path& path) {
  return path.has_filename() || !path.has_relative_path() ? path : path.parent_path();
}

fs::path normal(const fs::path& path) {
  return without_trailing_slash(path.lexically_normal());
}

} // namespace

bool FileIdentity::is_directory() const {
  return S_ISDIR(mode);
}
bool FileIdentity::is_regular() const {
  return S_ISREG(mode);
}

std::optional<FileIdentity> identity_of(const fs::path& path) {
  struct stat status {};
  if (::fstatat(AT_FDCWD, path.c_str(), &status, as_identity) != 0) {
    return std::nullopt;
  }
  return identity_from(status);
}

std::optional<FileIdentity> link_identity_of(const fs::path& path) {
  struct stat status {};
  return ::fstatat(AT_FDCWD, path.c_str(), &status, AT_SYMLINK_NOFOLLOW | as_identity) == 0
             ? std::optional(identity_from(status))
             : std::nullopt;
}

std::optional<std::string> read_file(const fs::path& path) {
  return read_at_most(path, std::string().max_size());
}

std::optional<std::string> read_file_prefix(const fs::path& path, std::size_t limit) {
  return read_at_most(path, limit);
}

void write_file_atomic(const fs::path& path, std::string_view content, bool durable) {
  TemporaryFile temporary(path);
  temporary.write(content);
  if (durable) {
    temporary.sync();
  }
  temporary.replace_target();
  if (durable) {
    sync_path(path.has_parent_path() ? path.parent_path() : fs::path("."));
  }
}

bool try_write_file_atomic(const fs::path& path, std::string_view content) noexcept {
  try {
    write_file_atomic(path, content);
    return true;
  } catch (...) {
    return false;
  }
}

void sync_path(const fs::path& path) {
  const Descriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!opened) {
    fail("cannot open", path, errno);
  }
  if (::fsync(opened.get()) == 0) {
    return;
  }
  const int error = errno;
  const std::optional<FileIdentity> identity = identity_of(path);
  // Some network and FUSE file systems have no fsync for directories; there is nothing more one could do.
  if (identity && identity->is_directory() && (error == EINVAL || error == ENOTSUP || error == ENOSYS)) {
    return;
  }
  fail("cannot flush to disk", path, error);
}

void make_directories(const fs::path& path, unsigned mode) {
  if (path.empty()) {
    throw Error(ExitCode::environment, "cannot make a directory without a name");
  }
  make_directory(without_trailing_slash(path), mode);
}

std::vector<fs::path> remove_tree(const fs::path& path) noexcept {
  TreeRemover remover;
  try {
    if (!path.empty()) {
      remover.remove(AT_FDCWD, without_trailing_slash(path).string(), path);
    }
  } catch (...) {
    // Out of memory: what is left is found by the next sweep.
  }
  return std::move(remover.left);
}

std::vector<std::string> list_directory(const fs::path& path) {
  const Directory directory(::opendir(path.c_str()));
  if (!directory) {
    return {};
  }
  std::vector<std::string> names = names_in(directory.get());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> list_names_and_kinds(const fs::path& path) {
  const Directory directory(::opendir(path.c_str()));
  if (!directory) {
    return {};
  }
  std::vector<std::string> entries;
  while (const dirent* entry =
             ::readdir(directory.get())) { // NOLINT(concurrency-mt-unsafe): one stream a thread
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") {
      entries.push_back(std::string(name) + kind_of(directory.get(), *entry));
    }
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

fs::path absolute_from(const fs::path& path, const fs::path& base) {
  return normal(path.is_absolute() ? path : base / path);
}

fs::path relative_below(const fs::path& path, const fs::path& base) {
  return lies_below(path, base) ? normal(path).lexically_relative(normal(base)) : path;
}

bool lies_below(const fs::path& path, const fs::path& base) {
  const fs::path normal_path = normal(path);
  const fs::path normal_base = normal(base);
  return !base.empty() &&
         std::mismatch(normal_path.begin(), normal_path.end(), normal_base.begin(), normal_base.end())
                 .second == normal_base.end();
}

} // namespace dcuop
