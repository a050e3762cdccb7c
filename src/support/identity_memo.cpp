// The file: magic, digest of what follows, the question's digest, u32 length of the value, the value; then a record a
// path: the identity (all zero: nothing is there), the path, a zero byte. In this machine's byte order.

#include <fcntl.h>
#include <sys/stat.h>

#include <cstring>
#include <string_view>

#include "dcuop/support/error.hpp"
#include "dcuop/support/memo.hpp"
#include "descriptor.hpp"
#include "encoded_identity.hpp"
#include "file_status.hpp"

namespace dcuop {

namespace {

constexpr std::string_view magic = "dcuop identities 1\n";
constexpr std::size_t digest_size = sizeof(Digest::bytes);

std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest_size};
}

/// Takes `size` bytes off the front; fewer when there are no more.
std::string_view take(std::string_view& rest, std::size_t size) {
  const std::string_view piece = rest.substr(0, size);
  rest.remove_prefix(piece.size());
  return piece;
}

/// stat(2) of many paths. Of thousands of headers most lie in a few directories: asked for by name in one that is open,
/// each costs a third of what the walk from the root does.
class Asker {
 public:
  [[nodiscard]] EncodedIdentity identity_of(const char* path) {
    const char* const slash = std::strrchr(path, '/');
    if (slash == nullptr || slash[1] == '\0') {
      return stat_at(AT_FDCWD, path);
    }
    const std::string_view directory(path, static_cast<std::size_t>(slash - path) + 1);
    if (directory != directory_) {
      directory_ = directory;
      open_ = Descriptor();
      return stat_at(AT_FDCWD, path); // perhaps the only one in it
    }
    if (open_.get() < 0) {
      open_ = Descriptor(::open(directory_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    }
    return open_.get() < 0 ? stat_at(AT_FDCWD, path) : stat_at(open_.get(), slash + 1);
  }

 private:
  static EncodedIdentity stat_at(int directory, const char* path) {
    struct stat status {};
    return ::fstatat(directory, path, &status, 0) == 0 ? encoded(identity_from(status)) : EncodedIdentity{};
  }

  std::string directory_; ///< of the last path, with its "/"
  Descriptor open_;       ///< of it, once it was asked for twice
};

/// `records` is nothing but whole records.
bool all_hold(std::string_view records) {
  Asker asker;
  while (!records.empty()) {
    const std::string_view then = take(records, identity_size);
    const std::size_t end = records.find('\0');
    if (then.size() != identity_size || end == std::string_view::npos) {
      return false;
    }
    const EncodedIdentity now = asker.identity_of(records.data());
    if (std::memcmp(now.data(), then.data(), identity_size) != 0) {
      return false;
    }
    records.remove_prefix(end + 1);
  }
  return true;
}

} // namespace

IdentityMemo::IdentityMemo(std::filesystem::path file, const Digest& question)
    : file_(std::move(file)), question_(question) {}

std::optional<std::string> IdentityMemo::recall() const {
  const std::optional<std::string> content = read_file(file_);
  if (!content) {
    return std::nullopt;
  }
  std::string_view rest = *content;
  if (take(rest, magic.size()) != magic) {
    return std::nullopt;
  }
  const std::string_view checksum = take(rest, digest_size);
  if (checksum != bytes_of(digest_of(rest)) || take(rest, digest_size) != bytes_of(question_)) {
    return std::nullopt;
  }
  std::uint32_t size = 0;
  const std::string_view encoded_size = take(rest, sizeof size);
  if (encoded_size.size() != sizeof size) {
    return std::nullopt;
  }
  std::memcpy(&size, encoded_size.data(), sizeof size);
  std::string value(take(rest, size));
  return value.size() == size && all_hold(rest) ? std::optional(std::move(value)) : std::nullopt;
}

void IdentityMemo::look_at(const std::vector<std::filesystem::path>& paths) {
  seen_.clear();
  const std::int64_t now = now_ns();
  std::string records;
  std::filesystem::path directory;
  for (const std::filesystem::path& path : paths) {
    const std::optional<FileIdentity> identity = identity_of(path);
    const bool is_elsewhere = path.parent_path() != directory;
    if (path.native().find('\0') != std::string::npos ||
        (identity && (identity->ctime_ns + settling_ns > now || identity->mtime_ns > now)) ||
        (is_elsewhere && is_on_kernel_file_system(path))) {
      return;
    }
    directory = is_elsewhere ? path.parent_path() : directory;
    const EncodedIdentity bytes = identity ? encoded(*identity) : EncodedIdentity{};
    records.append(bytes.data(), bytes.size()).append(path.native()).push_back('\0');
  }
  seen_ = std::move(records);
}

void IdentityMemo::remember(const std::string& value) noexcept {
  if (seen_.empty() || file_.empty()) {
    return;
  }
  try {
    std::string rest(bytes_of(question_));
    const auto size = static_cast<std::uint32_t>(value.size());
    rest.append(reinterpret_cast<const char*>(&size), sizeof size).append(value).append(seen_);
    make_directories(file_.parent_path(), 0700);
    static_cast<void>(
        try_write_file_atomic(file_, std::string(magic).append(bytes_of(digest_of(rest))).append(rest)));
  } catch (const std::exception&) {
    // An unwritable place remembers nothing.
  }
  seen_.clear();
}

} // namespace dcuop
