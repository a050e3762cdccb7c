// The file: a header (magic, count, digest of what follows), then the records, one after another:
//   u32 length of the path, the path, five u64 (device, inode, size, mtime, ctime), two u32 (mode, owner),
//   16 bytes of content digest.
// In this machine's byte order: it never leaves the machine. Thousands of records are read at every start,
// which is why it is not JSON.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "dcuop/support/error.hpp"
#include "dcuop/support/memo.hpp"

namespace dcuop {

namespace {

constexpr std::string_view magic = "dcuop digests 1\n";
constexpr std::size_t header_size = magic.size() + sizeof(std::uint64_t) + sizeof(Digest::bytes);
/// Beyond this many, what this process did not ask for is forgotten.
constexpr std::size_t most_records = 50'000;

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <typename Number> Number number() {
    static_assert(std::is_integral_v<Number>);
    Number value{};
    copy(&value, sizeof value);
    return value;
  }
  std::string_view text(std::size_t size) {
    if (size > rest_.size()) {
      failed_ = true;
      return {};
    }
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }
  Digest digest() {
    Digest value;
    copy(value.bytes.data(), value.bytes.size());
    return value;
  }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  void copy(void* to, std::size_t size) {
    const std::string_view bytes = text(size);
    if (!bytes.empty()) {
      std::memcpy(to, bytes.data(), size);
    }
  }
  std::string_view rest_;
  bool failed_ = false;
};

class Writer {
 public:
  std::string bytes;

  template <typename Number> void number(Number value) {
    static_assert(std::is_integral_v<Number>);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void digest(const Digest& value) {
    bytes.append(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size());
  }
};

FileIdentity read_identity(Reader& reader) {
  FileIdentity identity;
  identity.device = reader.number<std::uint64_t>();
  identity.inode = reader.number<std::uint64_t>();
  identity.size = reader.number<std::uint64_t>();
  identity.mtime_ns = reader.number<std::int64_t>();
  identity.ctime_ns = reader.number<std::int64_t>();
  identity.mode = reader.number<std::uint32_t>();
  identity.owner = reader.number<std::uint32_t>();
  return identity;
}

void write_identity(Writer& writer, const FileIdentity& identity) {
  writer.number(identity.device);
  writer.number(identity.inode);
  writer.number(identity.size);
  writer.number(identity.mtime_ns);
  writer.number(identity.ctime_ns);
  writer.number(identity.mode);
  writer.number(identity.owner);
}

} // namespace

DigestMemo::DigestMemo(std::filesystem::path file) : file_(std::move(file)) {}

std::optional<Digest> DigestMemo::digest(const std::filesystem::path& path) {
  if (!loaded_) {
    records_ = read(file_);
    loaded_ = true;
  }
  const std::optional<FileIdentity> now = identity_of(path);
  const auto found = records_.find(path.native());
  if (now && found != records_.end() && found->second.identity == *now) {
    found->second.used = true;
    return found->second.content;
  }
  if (found != records_.end()) {
    records_.erase(found);
    changed_ = true;
  }
  if (!now) {
    return std::nullopt;
  }
  const Witness witness = witness_of(path);
  if (witness.settled && witness.content) {
    records_.emplace(path.native(), Record{*witness.identity, *witness.content, true});
    changed_ = true;
  }
  return witness.content;
}

bool DigestMemo::save() {
  if (!changed_) {
    return true;
  }
  if (file_.empty()) {
    return false;
  }
  // What another process learnt meanwhile is kept; a record that is no longer true does no harm.
  Records merged = read(file_);
  for (const auto& [path, record] : records_) {
    merged.insert_or_assign(path, record);
  }
  if (merged.size() > most_records) {
    std::erase_if(merged, [](const auto& entry) { return !entry.second.used; });
  }
  Writer records;
  for (const auto& [path, record] : merged) {
    records.number(static_cast<std::uint32_t>(path.size()));
    records.bytes += path;
    write_identity(records, record.identity);
    records.digest(record.content);
  }
  Writer file;
  file.bytes = magic;
  file.number(static_cast<std::uint64_t>(merged.size()));
  file.digest(digest_of(records.bytes));
  file.bytes += records.bytes;
  try {
    make_directories(file_.parent_path(), 0700);
  } catch (const Error&) {
    return false;
  }
  changed_ = !try_write_file_atomic(file_, file.bytes);
  return !changed_;
}

DigestMemo::Records DigestMemo::read(const std::filesystem::path& file) {
  const std::optional<std::string> content = file.empty() ? std::nullopt : read_file(file);
  if (!content || content->size() < header_size || !content->starts_with(magic)) {
    return {};
  }
  Reader reader(std::string_view(*content).substr(magic.size()));
  const auto count = reader.number<std::uint64_t>();
  const Digest checksum = reader.digest();
  if (checksum != digest_of(reader.rest())) {
    return {};
  }
  Records records;
  records.reserve(std::min<std::size_t>(count, content->size() / sizeof(FileIdentity)));
  for (std::uint64_t i = 0; i < count && !reader.failed(); ++i) {
    const std::string_view path = reader.text(reader.number<std::uint32_t>());
    const FileIdentity identity = read_identity(reader);
    records.emplace(path, Record{identity, reader.digest(), false});
  }
  return reader.failed() ? Records() : records;
}

} // namespace dcuop
