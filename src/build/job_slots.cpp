#include "dcuop/build/job_slots.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::build {

namespace {

std::optional<std::uint64_t> number_in(const std::string& text) {
  std::uint64_t value = 0;
  const std::string_view digits = trimmed(text);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc{} && end != digits.data() ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> number_at(const fs::path& file) {
  const std::optional<std::string> text = read_file(file);
  return text ? number_in(*text) : std::nullopt; // "max" is no number: no limit
}

/// The directories of this process's cgroup for a v1 controller, or of the v2 hierarchy (controller ""), from the
/// innermost to the mount point. A limit of any of them holds.
std::vector<fs::path> cgroup_directories(const fs::path& root, const std::string& controller) {
  const std::string lines = read_file(root / "proc/self/cgroup").value_or("");
  std::vector<fs::path> directories;
  for (const std::string& line : split(lines, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    const std::vector<std::string> controllers = split(line.substr(first + 1, second - first - 1), ',');
    const bool mine = controller.empty() ? controllers.empty()
                                         : std::find(controllers.begin(), controllers.end(), controller) !=
                                               controllers.end();
    if (!mine) {
      continue;
    }
    const fs::path mount = root / "sys/fs/cgroup" / controller;
    fs::path inner = fs::path(line.substr(second + 1)).relative_path();
    for (; !inner.empty(); inner = inner.parent_path()) {
      directories.push_back(mount / inner);
    }
    directories.push_back(mount); // in a container the path above is often not visible, the mount is
  }
  return directories;
}

/// cpu.max "max 100000" or "150000 100000"; v1: cpu.cfs_quota_us and cpu.cfs_period_us.
std::optional<int> processors_of_cgroup(const fs::path& root) {
  std::optional<int> least;
  const auto consider = [&](std::uint64_t quota, std::uint64_t period) {
    if (quota > 0 && period > 0) {
      const int processors = static_cast<int>(std::max<std::uint64_t>(1, (quota + period - 1) / period));
      least = std::min(least.value_or(processors), processors);
    }
  };
  for (const fs::path& directory : cgroup_directories(root, "")) {
    const std::vector<std::string> words = split(trimmed(read_file(directory / "cpu.max").value_or("")), ' ');
    if (words.size() == 2) {
      consider(number_in(words[0]).value_or(0), number_in(words[1]).value_or(0));
    }
  }
  for (const fs::path& directory : cgroup_directories(root, "cpu")) {
    consider(number_at(directory / "cpu.cfs_quota_us").value_or(0),
             number_at(directory / "cpu.cfs_period_us").value_or(0));
  }
  return least;
}

/// Limit minus what is in use, of the tightest cgroup.
std::optional<std::uint64_t> room_in_cgroup(const fs::path& root, const std::string& controller,
                                            const std::string& limit_file, const std::string& current_file) {
  std::optional<std::uint64_t> least;
  for (const fs::path& directory : cgroup_directories(root, controller)) {
    const std::optional<std::uint64_t> limit = number_at(directory / limit_file);
    if (!limit || *limit > std::uint64_t{1} << 60) { // v1 writes a huge number for "none"
      continue;
    }
    const std::uint64_t used = number_at(directory / current_file).value_or(0);
    const std::uint64_t room = *limit > used ? *limit - used : 1;
    least = std::min(least.value_or(room), room);
  }
  return least;
}

std::uint64_t memory_available(const fs::path& root) {
  for (const std::string& line : split(read_file(root / "proc/meminfo").value_or(""), '\n')) {
    if (line.starts_with("MemAvailable:")) {
      return number_in(line.substr(line.find(':') + 1)).value_or(0) * 1024;
    }
  }
  return 0;
}

} // namespace

Limits limits_of_this_process(const fs::path& root) {
  Limits limits;
  cpu_set_t set;
  CPU_ZERO(&set);
  limits.processors = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  limits.processors_source = "processors of this process";
  if (const std::optional<int> processors = processors_of_cgroup(root);
      processors && *processors < limits.processors) {
    limits.processors = *processors;
    limits.processors_source = "cgroup cpu.max";
  }
  limits.memory = memory_available(root);
  limits.memory_source = "MemAvailable";
  for (const auto& [controller, limit, current] :
       {std::tuple("", "memory.max", "memory.current"),
        std::tuple("memory", "memory.limit_in_bytes", "memory.usage_in_bytes")}) {
    const std::optional<std::uint64_t> room = room_in_cgroup(root, controller, limit, current);
    if (room && (limits.memory == 0 || *room < limits.memory)) {
      limits.memory = *room;
      limits.memory_source = std::string("cgroup ") + limit;
    }
  }
  for (const char* controller : {"", "pids"}) {
    if (const auto room = room_in_cgroup(root, controller, "pids.max", "pids.current")) {
      limits.processes = limits.processes == 0 ? *room : std::min(limits.processes, *room);
    }
  }
  return limits;
}

JobSlots::Slot::~Slot() {
  {
    const std::lock_guard lock(owner_->mutex_);
    --owner_->running_;
    owner_->reserved_ -= memory_;
  }
  owner_->changed_.notify_all();
}

JobSlots::Slot JobSlots::acquire(std::uint64_t memory) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    const bool fits = memory_ == 0 || running_ == 0 || reserved_ + memory <= memory_;
    return running_ < jobs_ && fits;
  });
  ++running_;
  reserved_ += memory;
  return {*this, memory};
}

} // namespace dcuop::build
