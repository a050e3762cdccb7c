// The file: a header (magic, count, digest of what follows), then the records in the order of their paths:
//   u32 length of the path, the path, the identity (five u64: device, inode, size, mtime, ctime; two u32:
//   mode, owner), 16 bytes of content digest.
// In this machine's byte order: it never leaves the machine. Thousands of records are read at every start, so
// they are used where they lie: parsing 5,000 as JSON takes longer than all the stat calls.
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string_view>

#include "byte_reader.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/memo.hpp"
#include "encoded_identity.hpp"

namespace dcuop {

namespace {

constexpr std::string_view magic = "dcuop digests 1\n";
/// Beyond this many, what this process did not ask for is forgotten.
constexpr std::size_t most_records = 50'000;

struct Record {
  EncodedIdentity identity{};
  Digest content;
};

/// A record where it lies in the file's bytes.
struct StoredRecord {
  std::string_view path;
  const char* identity = nullptr; ///< identity_size bytes, then digest_size bytes
  bool used = false;              ///< asked for in this process

  [[nodiscard]] bool is_of(const FileIdentity& now) const {
    return std::memcmp(identity, encoded(now).data(), identity_size) == 0;
  }
  [[nodiscard]] Digest content() const { return digest_in(identity + identity_size); }
};

/// The file as it was read. Empty when it is damaged.
class DigestFile {
 public:
  std::vector<StoredRecord> records;

  DigestFile() = default;
  explicit DigestFile(const std::filesystem::path& file) {
    // On the heap: the records point into it, also after a move.
    bytes_ = std::make_unique<std::string>(file.empty() ? std::string() : read_file(file).value_or(""));
    if (!parse()) {
      records.clear();
    }
  }

  /// nullptr when there is none.
  StoredRecord* find(std::string_view path) {
    // Mostly asked in the order of the file.
    if (next_ < records.size() && records[next_].path == path) {
      return &records[next_++];
    }
    const auto found = std::lower_bound(
        records.begin(), records.end(), path,
        [](const StoredRecord& record, std::string_view wanted) { return record.path < wanted; });
    if (found == records.end() || found->path != path) {
      return nullptr;
    }
    next_ = static_cast<std::size_t>(found - records.begin()) + 1;
    return &*found;
  }

 private:
  bool parse() {
    ByteReader reader(*bytes_);
    if (reader.bytes(magic.size()) != magic) {
      return false;
    }
    const std::optional<std::uint64_t> count = reader.number<std::uint64_t>();
    const std::optional<std::string_view> checksum = reader.bytes(digest_size);
    if (!count || !checksum || *checksum != bytes_of(digest_of(reader.rest()))) {
      return false;
    }
    records.reserve(std::min<std::size_t>(*count, reader.rest().size() / (identity_size + digest_size)));
    for (std::uint64_t i = 0; i < *count; ++i) {
      const std::optional<std::uint32_t> length = reader.number<std::uint32_t>();
      const std::optional<std::string_view> path = length ? reader.bytes(*length) : std::nullopt;
      const std::optional<std::string_view> rest = reader.bytes(identity_size + digest_size);
      if (!path || !rest) {
        return false;
      }
      records.push_back({*path, rest->data()});
    }
    return reader.rest().empty();
  }

  std::unique_ptr<std::string> bytes_;
  std::size_t next_ = 0;
};

} // namespace

struct DigestMemo::State {
  std::filesystem::path file;
  bool loaded = false;
  DigestFile stored;
  std::map<std::string, Record, std::less<>> learnt; ///< newer than `stored`

  [[nodiscard]] std::string bytes_to_save() const;
};

DigestMemo::DigestMemo(std::filesystem::path file) : state_(std::make_unique<State>()) {
  state_->file = std::move(file);
}
DigestMemo::~DigestMemo() = default;
DigestMemo::DigestMemo(DigestMemo&&) noexcept = default;
DigestMemo& DigestMemo::operator=(DigestMemo&&) noexcept = default;

std::optional<Digest> DigestMemo::digest(const std::filesystem::path& path) {
  if (!state_->loaded) {
    state_->stored = DigestFile(state_->file);
    state_->loaded = true;
  }
  const std::optional<FileIdentity> now = identity_of(path);
  if (!now) {
    return std::nullopt;
  }
  StoredRecord* const stored = state_->stored.find(path.native());
  if (stored != nullptr && stored->is_of(*now)) {
    stored->used = true;
    return stored->content();
  }
  const auto known = state_->learnt.find(path.native());
  if (known != state_->learnt.end() && known->second.identity == encoded(*now)) {
    return known->second.content;
  }
  const Witness witness = witness_of(path);
  if (witness.settled && witness.identity && witness.content) {
    state_->learnt.insert_or_assign(path.native(), Record{encoded(*witness.identity), *witness.content});
  }
  return witness.content;
}

bool DigestMemo::save() {
  if (state_->learnt.empty()) {
    return true;
  }
  if (state_->file.empty()) {
    return false;
  }
  try {
    make_directories(state_->file.parent_path(), 0700);
  } catch (const Error&) {
    return false;
  }
  if (!try_write_file_atomic(state_->file, state_->bytes_to_save())) {
    return false;
  }
  state_->stored = DigestFile(state_->file);
  state_->learnt.clear();
  return true;
}

std::string DigestMemo::State::bytes_to_save() const {
  // What another process saved meanwhile is kept; a record that is no longer true does no harm.
  const DigestFile current(file);
  std::map<std::string_view, std::string> merged;
  const auto add = [&merged](std::string_view path, std::string_view identity, std::string_view content) {
    merged.insert_or_assign(path, std::string(identity).append(content));
  };
  for (const DigestFile* source : {&stored, &current}) {
    for (const StoredRecord& record : source->records) {
      if (record.used || current.records.size() + learnt.size() <= most_records) {
        add(record.path, {record.identity, identity_size}, bytes_of(record.content()));
      }
    }
  }
  for (const auto& [path, record] : learnt) {
    add(path, {record.identity.data(), identity_size}, bytes_of(record.content));
  }
  std::string records;
  for (const auto& [path, rest] : merged) {
    append_number(records, static_cast<std::uint32_t>(path.size()));
    records += path;
    records += rest;
  }
  std::string bytes(magic);
  append_number(bytes, static_cast<std::uint64_t>(merged.size()));
  bytes += bytes_of(digest_of(records));
  return bytes + records;
}

} // namespace dcuop
