// Private directories: written by one process, swept by another only when the owner is provably gone.

#include "private_directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <system_error>

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/log.hpp"
#include "host.hpp"
#include "layout.hpp"

namespace dcuop::store {

namespace {

using std::chrono::system_clock;

constexpr std::size_t boot_digits = 8;
constexpr std::string_view kept_prefix = "kept-";
constexpr std::chrono::hours untouched_limit{24};

std::string short_boot() {
  return this_boot().substr(0, boot_digits);
}

fs::path lock_file(const Layout& layout) {
  return layout.locks() / "tmp";
}

std::uint64_t lock_offset_of(const std::string& name) {
  return Store::lock_offset(digest_of(name));
}

/// nullopt when somebody has it, or when nothing can be locked here.
std::optional<FileLock> try_lock_name(const Layout& layout, const std::string& name) {
  try {
    make_directories(layout.locks(), directory_mode);
    return FileLock::try_acquire(lock_file(layout), lock_offset_of(name), FileLock::Mode::exclusive);
  } catch (const Error& error) {
    log_debug(error.what());
    return std::nullopt;
  }
}

bool untouched_for_long(const fs::path& directory) {
  const std::optional<FileIdentity> identity = identity_of(directory);
  if (!identity) {
    return false;
  }
  const system_clock::time_point touched{
      std::chrono::duration_cast<system_clock::duration>(std::chrono::nanoseconds(identity->mtime_ns))};
  return touched + untouched_limit < system_clock::now();
}

/// Whether the lock, once it could be taken, is proof enough.
bool may_be_swept(const Store& store, const fs::path& directory, const std::string& name) {
  if (const std::optional<KeptName> kept = parse_kept_name(name)) {
    return kept->made_by.host == this_host() && untouched_for_long(directory) && !store.in_use(kept->key);
  }
  const std::optional<PrivateName> made_by = parse_private_name(name);
  if (!made_by) {
    return false;
  }
  // One boot is one kernel: its locks are seen by all its containers, whatever their host names. Another boot
  // with our host name is most likely ours before a restart, but could be another machine with the same name
  // behind a network file system whose locks stay on each node.
  const bool same_kernel = !this_boot().empty() && made_by->boot == short_boot();
  return same_kernel || (made_by->host == this_host() && untouched_for_long(directory));
}

} // namespace

std::optional<PrivateName> parse_private_name(std::string_view name) {
  const auto cut_last = [&]() {
    const std::size_t dash = name.rfind('-');
    if (dash == std::string_view::npos) {
      return std::string_view{};
    }
    const std::string_view part = name.substr(dash + 1);
    name = name.substr(0, dash);
    return part;
  };
  const auto is_hex = [](std::string_view part) {
    return std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
  };
  const std::string_view random = cut_last();
  const std::string_view pid = cut_last();
  const std::string_view boot = cut_last();
  if (random.empty() || pid.empty() || name.empty() || !is_hex(random) || !is_hex(boot) || !is_hex(pid)) {
    return std::nullopt;
  }
  return PrivateName{std::string(name), std::string(boot)};
}

std::string kept_name(Shelf shelf, const Digest& key, const std::string& private_name) {
  return std::string(kept_prefix) + letter_of(shelf) + key.hex() + "-" + private_name;
}

std::optional<KeptName> parse_kept_name(std::string_view name) {
  constexpr std::size_t key_length = 32;
  if (!name.starts_with(kept_prefix) || name.size() < kept_prefix.size() + key_length + 2) {
    return std::nullopt;
  }
  name.remove_prefix(kept_prefix.size() + 1);
  const std::optional<Digest> key = Digest::from_hex(name.substr(0, key_length));
  const std::optional<PrivateName> made_by = parse_private_name(name.substr(key_length + 1));
  if (!key || !made_by || name[key_length] != '-') {
    return std::nullopt;
  }
  return KeptName{*key, *made_by};
}

PrivateDirectory reserve_private_name(const fs::path& root) {
  const Layout layout(root);
  make_directories(layout.private_directories(), directory_mode);
  const std::string name =
      this_host() + "-" + short_boot() + "-" + std::to_string(getpid()) + "-" + random_name();
  return {layout.private_directories() / name, try_lock_name(layout, name)};
}

PrivateDirectory Store::private_directory() const {
  require_writable();
  // The lock comes first: a sweeper that sees the directory finds it locked.
  PrivateDirectory directory = reserve_private_name(root_);
  if (mkdir(directory.path().c_str(), 0700) != 0) {
    throw Error(
        ExitCode::environment,
        "cannot make " + directory.path().string() + ": " + std::generic_category().message(errno),
        "free space or permissions in the cache, or choose another with --cache-dir or DCUOP_CACHE_DIR");
  }
  return directory;
}

int Store::sweep_private_directories() noexcept {
  int swept = 0;
  if (read_only_) {
    return swept;
  }
  try {
    const Layout layout(root_);
    for (const std::string& name : list_directory(layout.private_directories())) {
      const fs::path directory = layout.private_directories() / name;
      if (!is_real_directory(directory) || !may_be_swept(*this, directory, name)) {
        continue;
      }
      if (const std::optional<FileLock> lock = try_lock_name(layout, name)) {
        swept += remove_tree(directory).empty() ? 1 : 0;
      }
    }
  } catch (const std::exception& error) {
    log_warning(error.what());
  }
  return swept;
}

PrivateDirectory::PrivateDirectory(fs::path path, std::optional<FileLock> lock)
    : path_(std::move(path)), lock_(std::move(lock)) {}

PrivateDirectory::~PrivateDirectory() {
  if (!path_.empty()) {
    // Before the lock goes with the members: nobody else may see it free while files are left.
    (void)remove_tree(path_);
  }
}

PrivateDirectory::PrivateDirectory(PrivateDirectory&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::move(other.lock_)) {
  other.path_.clear();
  other.lock_.reset();
}

PrivateDirectory& PrivateDirectory::operator=(PrivateDirectory&& other) noexcept {
  if (this != &other) {
    PrivateDirectory ended(std::move(*this));
    path_ = std::move(other.path_);
    lock_ = std::move(other.lock_);
    other.path_.clear();
    other.lock_.reset();
  }
  return *this;
}

} // namespace dcuop::store
