#include "trace_reader.hpp"

#include <cstring>

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
    const std::size_t size = sizeof record + record.path_size + record.real_size;
    if (rest_.size() - position < size) {
      break;
    }
    const char* const path = rest_.data() + position + sizeof record;
    note(record, std::string(path, record.path_size), std::string(path + record.path_size, record.real_size));
    position += size;
  }
  rest_.erase(0, position);
}

void TraceReader::note(const Record& record, std::string&& path, std::string&& real) {
  if (record.use == Use::unseen || record.use == Use::server || record.use == Use::obstructed) {
    trace_.is_complete &= record.use != Use::unseen;
    trace_.asked_a_server |= record.use == Use::server;
    trace_.was_obstructive |= record.use == Use::obstructed;
    return;
  }
  const auto [place, is_new] = accesses_.try_emplace(path);
  FileAccess& access = place->second;
  const bool writes = record.use == Use::write || record.use == Use::append || record.use == Use::read_write;
  if (is_new) {
    access.path = std::move(path);
    access.is_relative = record.is_relative != 0;
    access.first = record.error == 0 ? std::optional(record.identity) : std::nullopt;
    access.was_asked_first = record.use != Use::write && record.use != Use::append;
  }
  access.was_read |= record.use == Use::open || record.use == Use::execute || record.use == Use::read_write;
  access.was_written |= writes;
  access.was_appended |= record.use == Use::append;
  access.was_looked_up |=
      record.use == Use::look_up || record.use == Use::identify || record.use == Use::ask_to_run;
  access.was_identified |= record.use == Use::identify;
  access.link_was_read |= record.use == Use::read_link;
  access.may_run_was_asked |= record.use == Use::ask_to_run;
  if (!real.empty() && real != access.path) {
    access.real = std::move(real);
  }
}

std::optional<Trace> TraceReader::take() {
  if (!rest_.empty()) {
    return std::nullopt;
  }
  trace_.accesses.reserve(accesses_.size());
  for (auto& [path, access] : accesses_) {
    trace_.accesses.push_back(std::move(access));
  }
  return std::move(trace_);
}

} // namespace dcuop
