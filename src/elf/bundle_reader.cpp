#include "bundle_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "ccob.hpp"

namespace dcuop::elf {

namespace {

constexpr std::string_view plain_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::uint64_t plain_header = 32; // magic and the number of entries
constexpr std::uint64_t entry_header = 24; // offset, size, length of the id
constexpr std::uint64_t entries_limit = 4096;
constexpr std::uint64_t id_limit = 4096;
constexpr std::size_t bundles_limit = 65536; // translation units of a file: far above any
constexpr std::uint64_t page = 4096;
constexpr std::uint64_t block = 64 << 10;
constexpr std::uint64_t unpack_limit = std::uint64_t{1} << 30;     // of one bundle
constexpr std::uint64_t unpack_all_limit = std::uint64_t{4} << 30; // of one file

std::uint64_t number_at(std::string_view bytes, std::size_t offset) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

/// <kind>-<triple>[-<target id>]: the triple has three or four fields, and generic processors hold dashes
/// themselves (gfx9-4-generic), so that neither the first nor the last dash tells where the target id begins.
std::string target_of(std::string_view entry_id) {
  if (entry_id.starts_with("host-")) {
    return {};
  }
  for (const std::string_view start : {"-gfx", "-amdgcnspirv"}) {
    if (const std::size_t at = entry_id.find(start); at != std::string_view::npos) {
      return std::string(entry_id.substr(at + 1));
    }
  }
  return {};
}

class BundleReader {
 public:
  BundleReader(const ByteSource& source, Between between, std::uint64_t base)
      : source_(source), between_(between), base_(base) {}

  std::vector<Bundle> read_all();

 private:
  std::uint64_t read_plain(const ByteSource& source, std::uint64_t at, Bundle& bundle);
  std::uint64_t read_compressed(std::uint64_t at, Bundle& bundle);
  [[nodiscard]] std::optional<std::uint64_t> next_bundle(std::uint64_t from) const;
  [[nodiscard]] std::uint64_t find_magic(std::uint64_t from) const;
  void add_unknown(std::uint64_t from, std::uint64_t to);

  const ByteSource& source_;
  Between between_;
  std::uint64_t base_;
  std::uint64_t unpack_left_ = unpack_all_limit;
  std::vector<Bundle> bundles_;
};

std::vector<Bundle> BundleReader::read_all() {
  std::uint64_t at = 0;
  while (const auto next = next_bundle(at)) {
    at = *next;
    if (bundles_.size() >= bundles_limit) {
      add_unknown(at, source_.size());
      break;
    }
    const std::string magic = source_.read(at, plain_magic.size());
    Bundle bundle;
    bundle.offset = base_ + at;
    if (magic == plain_magic) {
      bundle.size = read_plain(source_, at, bundle);
      if (!bundle.problem.empty()) { // its length is not to be relied on
        bundle.size = find_magic(at + bundle.size - 1) - at;
      }
    } else if (magic.starts_with(ccob_magic)) {
      bundle.size = read_compressed(at, bundle);
    } else {
      const std::uint64_t known = find_magic(at);
      add_unknown(at, known);
      at = known;
      continue;
    }
    at += bundle.size;
    bundles_.push_back(std::move(bundle));
  }
  return std::move(bundles_);
}

/// Past the padding; nullopt at the end.
std::optional<std::uint64_t> BundleReader::next_bundle(std::uint64_t from) const {
  if (between_ == Between::anything) {
    return find_bundle_page(source_, from);
  }
  while (source_.left(from) > 0) {
    const std::string bytes = source_.read(from, block);
    const std::size_t other = bytes.find_first_not_of('\0');
    if (other != std::string::npos) {
      return from + other;
    }
    if (bytes.empty()) {
      break; // the file shrank while it was read
    }
    from += bytes.size();
  }
  return std::nullopt;
}

/// The next magic after `from`, or the end.
std::uint64_t BundleReader::find_magic(std::uint64_t from) const {
  for (std::uint64_t at = from + 1; source_.left(at) > 0; at += block) {
    // The blocks overlap, so that a magic on their border is seen.
    const std::string bytes = source_.read(at, block + plain_magic.size() - 1);
    const std::size_t found = std::min(bytes.find(plain_magic), bytes.find(ccob_magic));
    if (found != std::string::npos) {
      return at + found;
    }
  }
  return source_.size();
}

void BundleReader::add_unknown(std::uint64_t from, std::uint64_t to) {
  Bundle bundle;
  bundle.offset = base_ + from;
  bundle.size = to - from;
  bundle.packing = Packing::unknown;
  bundle.problem = "these bytes are no offload bundle";
  bundles_.push_back(std::move(bundle));
}

/// Returns the bundle's length, at least that of its magic.
std::uint64_t BundleReader::read_plain(const ByteSource& source, std::uint64_t at, Bundle& bundle) {
  const std::string head = source.read(at, plain_header);
  if (head.size() < plain_header) {
    bundle.problem = "cut off in its header";
    return head.size();
  }
  const std::uint64_t count = number_at(head, plain_magic.size());
  if (count > entries_limit) {
    bundle.problem = "damaged: " + std::to_string(count) + " entries";
    return plain_header;
  }
  const std::uint64_t available = source.left(at);
  std::uint64_t header_end = plain_header;
  std::uint64_t end = plain_header;
  std::uint64_t entries_size = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string fields = source.read(at + header_end, entry_header);
    const std::uint64_t id_length = fields.size() == entry_header ? number_at(fields, 16) : id_limit + 1;
    CodeObject object;
    object.entry_id = id_length > id_limit ? "" : source.read(at + header_end + entry_header, id_length);
    if (object.entry_id.empty() || object.entry_id.size() != id_length || !is_printable(object.entry_id)) {
      bundle.problem = "damaged or cut off in entry " + std::to_string(i);
      break;
    }
    header_end += entry_header + id_length;
    object.target = target_of(object.entry_id);
    object.offset = number_at(fields, 0);
    object.size = number_at(fields, 8);
    if (object.offset > available || object.size > available - object.offset) {
      object.problem = "cut off: it lies past the end";
      bundle.problem = "cut off: " + object.entry_id + " lies past the end";
      end = available;
    } else if (object.size > available - entries_size) {
      object.problem = "damaged: the entries overlap"; // what keeps the reading linear in the file's length
      bundle.problem = object.problem;
    } else {
      entries_size += object.size;
      end = std::max(end, object.offset + object.size);
      if (!object.is_host() && object.size > 0) {
        read_code_object(source.read(at + object.offset, object.size), object);
      }
    }
    if (object.is_host() || object.size > 0) { // an empty device entry is legal and says nothing
      bundle.code_objects.push_back(std::move(object));
    }
  }
  return std::max(header_end, end);
}

/// Returns the length as stored.
std::uint64_t BundleReader::read_compressed(std::uint64_t at, Bundle& bundle) {
  const CcobHeader header = read_ccob_header(source_.read(at, ccob_header_limit));
  bundle.ccob_version = header.version;
  bundle.packing = header.packing;
  bundle.problem = header.problem;
  if (!header.problem.empty() || !header.total_size) {
    // Version 1 has no length: it lasts to the next bundle, and the decompressor knows its own end.
    bundle.size = find_magic(at) - at;
  } else {
    bundle.size = std::min(*header.total_size, source_.left(at));
    if (bundle.size < *header.total_size) {
      bundle.problem = "cut off: " + std::to_string(bundle.size) + " of " +
                       std::to_string(*header.total_size) + " bytes are there";
    }
  }
  const std::uint64_t stored = bundle.size;
  if (!bundle.problem.empty()) {
    return stored;
  }
  if (header.unpacked_size > std::min(unpack_limit, unpack_left_)) {
    bundle.problem = "not unpacked: it would take " + std::to_string(header.unpacked_size) + " bytes";
    return stored;
  }
  const std::string payload = source_.read(at + header.header_size, stored - header.header_size);
  const Unpacked unpacked = unpack_ccob(header, payload);
  unpack_left_ -= unpacked.bytes.size();
  bundle.problem = unpacked.problem;
  if (unpacked.problem.empty() && !std::string_view(unpacked.bytes).starts_with(plain_magic)) {
    bundle.problem = "damaged: what it unpacks to is no offload bundle";
  }
  if (bundle.problem.empty()) {
    // What can be read of a damaged one is read all the same: it tells which devices it was for.
    read_plain(ByteSource(unpacked.bytes), 0, bundle);
    if (const std::string damage = hash_problem(header, unpacked.bytes); !damage.empty()) {
      bundle.problem = damage;
    }
  }
  return stored;
}

} // namespace

std::vector<Bundle> read_bundles(const ByteSource& source, Between between, std::uint64_t base) {
  return BundleReader(source, between, base).read_all();
}

std::optional<std::uint64_t> find_bundle_page(const ByteSource& source, std::uint64_t from) {
  constexpr std::uint64_t pages = 256;
  for (std::uint64_t at = (from + page - 1) / page * page; source.left(at) > 0; at += pages * page) {
    const std::string bytes = source.read(at, pages * page);
    for (std::size_t offset = 0; offset < bytes.size(); offset += page) {
      const std::string_view there = std::string_view(bytes).substr(offset, plain_magic.size());
      // "CCOB" alone is but four bytes: by chance it is not followed by a version and a method that exist.
      const bool compressed =
          there.starts_with(ccob_magic) &&
          read_ccob_header(std::string_view(bytes).substr(offset, ccob_header_limit)).problem.empty();
      if (there == plain_magic || compressed) {
        return at + offset;
      }
    }
  }
  return std::nullopt;
}

std::vector<Bundle> read_bundles(std::string_view bytes) {
  return read_bundles(ByteSource(bytes), Between::padding, 0);
}

} // namespace dcuop::elf
