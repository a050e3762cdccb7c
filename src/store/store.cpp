// Opening a store: made when missing, refused when it is not safe to trust or impossible to use.

#include "dcuop/store/store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/log.hpp"
#include "dcuop/support/process.hpp"
#include "host.hpp"
#include "layout.hpp"

namespace dcuop::store {

namespace {

constexpr const char* elsewhere = "choose another place with --cache-dir or DCUOP_CACHE_DIR";

std::string reason(int error) {
  return std::generic_category().message(error);
}

FileIdentity require_directory(const fs::path& path) {
  const std::optional<FileIdentity> identity = identity_of(path);
  if (!identity) {
    throw Error(ExitCode::environment, "cannot use the cache " + path.string() + ": " + reason(errno),
                elsewhere);
  }
  if (!identity->is_directory()) {
    throw Error(ExitCode::environment, "the cache " + path.string() + " is not a directory", elsewhere);
  }
  return *identity;
}

void require_no_other_writers(const fs::path& path, const FileIdentity& identity) {
  if ((identity.mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw Error(ExitCode::environment,
                "the cache " + path.string() + " can be written by " +
                    ((identity.mode & S_IWOTH) != 0 ? "everybody" : "its group") +
                    ", who could put code there that you would run",
                "chmod go-w " + shell_quoted({path.string()}) + ", after a look at what is in it; or " +
                    elsewhere);
  }
}

void require_own(const fs::path& path, const FileIdentity& identity) {
  if (identity.owner != geteuid()) {
    throw Error(ExitCode::environment,
                "the cache " + path.string() + " belongs to user id " + std::to_string(identity.owner) +
                    ", not to you (user id " + std::to_string(geteuid()) + ")",
                std::string(elsewhere));
  }
  require_no_other_writers(path, identity);
}

void require_trusted(const fs::path& path, const FileIdentity& identity,
                     const std::vector<std::uint32_t>& trusted_owners) {
  const bool trusted = identity.owner == 0 || std::find(trusted_owners.begin(), trusted_owners.end(),
                                                        identity.owner) != trusted_owners.end();
  if (!trusted) {
    throw Error(ExitCode::environment,
                "the cache " + path.string() + " belongs to user id " + std::to_string(identity.owner) +
                    ", who is neither root nor among trusted_owners",
                "name that user in trusted_owners, or remove the directory from system_caches");
  }
  require_no_other_writers(path, identity);
}

void require_readable(const fs::path& path) {
  if (faccessat(AT_FDCWD, path.c_str(), R_OK | X_OK, AT_EACCESS) != 0) {
    throw Error(ExitCode::environment, "cannot read the cache " + path.string() + ": " + reason(errno),
                "chmod u+rx " + shell_quoted({path.string()}) + ", or " + elsewhere);
  }
}

bool is_writable(const fs::path& path) {
  return faccessat(AT_FDCWD, path.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

void make_root(const fs::path& root) {
  try {
    make_directories(root, 0700);
  } catch (const Error& error) {
    throw Error(ExitCode::environment, "cannot make the cache " + root.string() + ": " + error.what(),
                elsewhere);
  }
}

/// Backup programs skip a directory with this file (https://bford.info/cachedir/). A root that held something
/// else before, such as a home directory given by mistake, must go on being backed up: only our own part is
/// tagged then.
void write_cachedir_tag(const fs::path& root, bool root_is_ours) {
  const fs::path directory = root_is_ours ? root : Layout(root).version();
  (void)try_write_file_atomic(directory / "CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n"
                                                          "# This directory is a cache made by dcuop.\n"
                                                          "# See https://bford.info/cachedir/\n");
}

/// False when the root is there but nothing can be written to it.
bool make_layout(const fs::path& root) {
  const Layout layout(root);
  if (access(layout.version().c_str(), F_OK) == 0) {
    return is_writable(layout.version());
  }
  const bool was_empty = list_directory(root).empty();
  if (mkdir(layout.version().c_str(), directory_mode) != 0 && errno != EEXIST) {
    const int error = errno;
    log_warning("the cache " + root.string() + " cannot be written: " + reason(error));
    return false;
  }
  write_cachedir_tag(root, was_empty);
  return true;
}

} // namespace

Store Store::open(const fs::path& given) {
  const fs::path root = absolute_from(given, fs::current_path());
  if (access(root.c_str(), F_OK) != 0) {
    make_root(root);
  }
  require_own(root, require_directory(root));
  require_readable(root);
  const bool writable = make_layout(root);
  const Layout layout(root);
  if (const std::optional<FileIdentity> version = identity_of(layout.version())) {
    require_own(layout.version(), *version);
  }
  return {root, layout.memos() / this_host(), !writable};
}

Store Store::open_shared(const fs::path& given, const std::vector<std::uint32_t>& trusted_owners,
                         const fs::path& memo_directory) {
  const fs::path root = absolute_from(given, fs::current_path());
  require_trusted(root, require_directory(root), trusted_owners);
  require_readable(root);
  const fs::path version = Layout(root).version();
  if (const std::optional<FileIdentity> identity = identity_of(version)) {
    require_trusted(version, *identity, trusted_owners);
  }
  return {root, memo_directory, true};
}

fs::path Store::answer_directory() const {
  return Layout(root_).memos() / "answers";
}

fs::path Store::use_stamp(Shelf shelf, const Digest& key) const {
  return Layout(root_).use_stamp(shelf, key);
}

std::vector<fs::path> Store::written_by_hits() const {
  return {Layout(root_).use(), Layout(root_).statistics(), Layout(root_).memos()};
}

Store::Store(fs::path root, fs::path memo_directory, bool read_only)
    : root_(std::move(root)), memo_directory_(std::move(memo_directory)), read_only_(read_only) {}

void Store::require_writable() const {
  if (read_only_) {
    throw Error(ExitCode::environment, "the cache " + root_.string() + " cannot be written",
                std::string("free space or permissions there, or ") + elsewhere);
  }
}

} // namespace dcuop::store
