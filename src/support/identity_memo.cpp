// The file: magic, digest of what follows, the question's digest, u32 length of the value, the value; then a record a
// path: the identity (all zero: nothing is there), the path, a zero byte.

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <future>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "byte_reader.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/memo.hpp"
#include "dcuop/support/settled.hpp"
#include "descriptor.hpp"
#include "encoded_identity.hpp"
#include "file_status.hpp"

namespace dcuop {

namespace {

constexpr std::string_view magic = "dcuop identities 1\n";
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
    return ::fstatat(directory, path, &status, as_identity) == 0 ? encoded(identity_from(status))
                                                                 : EncodedIdentity{};
  }

  std::string directory_; ///< of the last path, with its "/"
  Descriptor open_;       ///< of it, once it was asked for twice
};

struct Record {
  const char* identity; ///< identity_size bytes
  const char* path;     ///< ends in a zero byte
};

std::optional<std::vector<Record>> records_in(ByteReader reader) {
  std::vector<Record> records;
  while (!reader.rest().empty()) {
    const std::optional<std::string_view> identity = reader.bytes(identity_size);
    const std::optional<std::string_view> path = identity ? reader.text_with_zero() : std::nullopt;
    if (!path) {
      return std::nullopt;
    }
    records.push_back({identity->data(), path->data()});
  }
  return records;
}

bool hold(std::span<const Record> records) {
  Asker asker;
  return std::all_of(records.begin(), records.end(), [&](const Record& record) {
    const EncodedIdentity now = asker.identity_of(record.path);
    return std::memcmp(now.data(), record.identity, identity_size) == 0;
  });
}

/// By several threads where it pays: 5,000 of torch's headers take one 4 ms, and starting another takes 0.05.
bool all_hold(std::span<const Record> records) {
  constexpr std::size_t worth_a_thread = 1000;
  constexpr std::size_t most_threads = 4;
  const std::size_t threads =
      std::clamp<std::size_t>(records.size() / worth_a_thread, 1,
                              std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, most_threads));
  const std::size_t share = (records.size() + threads - 1) / threads;
  std::vector<std::future<bool>> others;
  for (std::size_t first = share; first < records.size(); first += share) {
    const std::span<const Record> part = records.subspan(first, std::min(share, records.size() - first));
    others.push_back(std::async(std::launch::async, hold, part));
  }
  bool all = hold(records.first(std::min(share, records.size())));
  for (std::future<bool>& other : others) {
    all = other.get() && all;
  }
  return all;
}

} // namespace

IdentityMemo::IdentityMemo(std::filesystem::path file, const Digest& question)
    : file_(std::move(file)), question_(question) {}

std::optional<std::string> IdentityMemo::recall() const {
  const std::optional<std::string> content = read_file(file_);
  ByteReader reader(content ? std::string_view(*content) : std::string_view());
  if (reader.bytes(magic.size()) != magic) {
    return std::nullopt;
  }
  const std::optional<std::string_view> checksum = reader.bytes(digest_size);
  if (checksum != bytes_of(digest_of(reader.rest())) || reader.bytes(digest_size) != bytes_of(question_)) {
    return std::nullopt;
  }
  const std::optional<std::uint32_t> size = reader.number<std::uint32_t>();
  const std::optional<std::string_view> value = size ? reader.bytes(*size) : std::nullopt;
  const std::optional<std::vector<Record>> records = value ? records_in(reader) : std::nullopt;
  return records && all_hold(*records) ? std::optional<std::string>(*value) : std::nullopt;
}

void IdentityMemo::look_at(const std::vector<std::filesystem::path>& paths) {
  seen_.clear();
  const std::int64_t now = clock_ns(CLOCK_REALTIME_COARSE);
  std::string records;
  std::filesystem::path directory;
  for (const std::filesystem::path& path : paths) {
    const std::optional<FileIdentity> identity = identity_of(path);
    const bool is_elsewhere = path.parent_path() != directory;
    if (path.native().find('\0') != std::string::npos || (identity && !is_settled(*identity, now)) ||
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
    append_number(rest, static_cast<std::uint32_t>(value.size()));
    rest.append(value).append(seen_);
    make_directories(file_.parent_path(), 0700);
    static_cast<void>(
        try_write_file_atomic(file_, std::string(magic).append(bytes_of(digest_of(rest))).append(rest)));
  } catch (const std::exception&) {
    // An unwritable place remembers nothing.
  }
  seen_.clear();
}

} // namespace dcuop
