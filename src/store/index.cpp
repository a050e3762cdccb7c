// The index: request -> input sets -> keys. A record is written once; which of several holds is the caller's
// to say.

#include <sys/stat.h>

#include <algorithm>

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/log.hpp"
#include "index.hpp"
#include "layout.hpp"
#include "sealed.hpp"

namespace dcuop::store {

namespace {

constexpr std::string_view suffix = ".json";
constexpr std::string_view key_head = R"({"key":")";
constexpr std::string_view key_tail = R"(","input_set":)";
constexpr std::size_t digest_length = 32;
constexpr std::size_t input_set_offset = key_head.size() + digest_length + key_tail.size();

Digest place_of(const Digest& request, const Digest& input_set) {
  return Hasher().text("kind", "record").digest("request", request).digest("input set", input_set).finish();
}

std::string payload_of(const IndexRecord& record) {
  std::string payload;
  payload.reserve(input_set_offset + record.input_set_json.size() + 1);
  payload.append(key_head)
      .append(record.key.hex())
      .append(key_tail)
      .append(record.input_set_json)
      .append("}");
  return payload;
}

std::optional<IndexRecord> record_from(std::string_view payload) {
  if (payload.size() <= input_set_offset || !payload.starts_with(key_head) || !payload.ends_with('}') ||
      payload.substr(key_head.size() + digest_length, key_tail.size()) != key_tail) {
    return std::nullopt;
  }
  const std::optional<Digest> key = Digest::from_hex(payload.substr(key_head.size(), digest_length));
  if (!key) {
    return std::nullopt;
  }
  const std::string_view input_set = payload.substr(input_set_offset);
  return IndexRecord{*key, std::string(input_set.substr(0, input_set.size() - 1))};
}

std::optional<Digest> input_set_of(const std::string& file_name) {
  return file_name.ends_with(suffix) ? Digest::from_hex(file_name.substr(0, file_name.size() - suffix.size()))
                                     : std::nullopt;
}

struct RecordFile {
  Digest input_set;
  std::int64_t modified = 0;
};

std::vector<RecordFile> newest_first(const fs::path& directory) {
  std::vector<RecordFile> files;
  for (const std::string& name : list_directory(directory)) {
    const std::optional<Digest> input_set = input_set_of(name);
    struct stat status {};
    if (input_set && lstat((directory / name).c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      files.push_back(
          {*input_set, std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec});
    }
  }
  std::stable_sort(files.begin(), files.end(),
                   [](const RecordFile& a, const RecordFile& b) { return a.modified > b.modified; });
  return files;
}

} // namespace

std::optional<IndexRecord> read_record(const Layout& layout, const Digest& request, const Digest& input_set) {
  const std::optional<std::string> text = read_file(layout.record(request, input_set));
  if (!text) {
    return std::nullopt;
  }
  const std::optional<std::string_view> payload = unseal(place_of(request, input_set), *text);
  return payload ? record_from(*payload) : std::nullopt;
}

std::optional<Digest> read_record_key(const Layout& layout, const Digest& request, const Digest& input_set) {
  const std::size_t offset = sealed_payload_offset() + key_head.size();
  const std::optional<std::string> text =
      read_file_prefix(layout.record(request, input_set), offset + digest_length);
  return text && text->size() == offset + digest_length
             ? Digest::from_hex(std::string_view(*text).substr(offset, digest_length))
             : std::nullopt;
}

std::vector<Digest> input_sets_of(const Layout& layout, const Digest& request) {
  std::vector<Digest> input_sets;
  for (const RecordFile& file : newest_first(layout.records(request))) {
    input_sets.push_back(file.input_set);
  }
  return input_sets;
}

std::vector<IndexRecord> Store::records(const Digest& request) const {
  std::vector<IndexRecord> all;
  (void)find_record(request, [&](const IndexRecord& record) {
    all.push_back(record);
    return false;
  });
  return all;
}

std::optional<IndexRecord> Store::find_record(const Digest& request,
                                              const std::function<bool(const IndexRecord&)>& fits) const {
  const Layout layout(root_);
  for (const Digest& input_set : input_sets_of(layout, request)) {
    std::optional<IndexRecord> record = read_record(layout, request, input_set);
    if (!record) {
      log_warning("damaged index record " + layout.record(request, input_set).string());
    } else if (fits(*record)) {
      return record;
    }
  }
  return std::nullopt;
}

void Store::add_record(const Digest& request, const Digest& input_set, const IndexRecord& record) {
  require_writable();
  const Layout layout(root_);
  make_directories(layout.records(request), directory_mode);
  // Also when it is there: the newest is read first, and what it leads to was asked for just now.
  write_file_atomic(layout.record(request, input_set),
                    seal(place_of(request, input_set), payload_of(record)));
}

} // namespace dcuop::store
