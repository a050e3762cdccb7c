#include "trace_reader.hpp"

#include <cstring>
#include <string_view>

#include "tracer.hpp"

namespace dcuop {

using tracing::Record;
using tracing::Use;

void TraceReader::add(const std::string& bytes) {
  rest_ += bytes;
  std::size_t position = 0;
  Record record;
  while (rest_.size() - position >= sizeof record) {
    std::memcpy(&record, rest_.data() + position, sizeof record);
    if (rest_.size() - position < sizeof record + record.path_size) {
      break;
    }
    std::string path = rest_.substr(position + sizeof record, record.path_size);
    position += sizeof record + record.path_size;
    if (record.use == Use::foreign) {
      is_complete_ = false;
      continue;
    }
    const auto [place, is_new] = accesses_.try_emplace(path);
    FileAccess& access = place->second;
    if (is_new) {
      access.path = std::move(path);
      access.is_relative = record.is_relative;
      access.first = record.error == 0 ? std::optional(record.identity) : std::nullopt;
    }
    access.was_read |= record.use == Use::open || record.use == Use::execute;
    access.was_written |= record.use == Use::write;
    access.link_was_read |= record.use == Use::read_link;
  }
  rest_.erase(0, position);
}

std::optional<std::vector<FileAccess>> TraceReader::take() {
  if (!is_complete_ || !rest_.empty()) {
    return std::nullopt;
  }
  std::vector<FileAccess> accesses;
  accesses.reserve(accesses_.size());
  for (auto& [path, access] : accesses_) {
    accesses.push_back(std::move(access));
  }
  return accesses;
}

} // namespace dcuop
