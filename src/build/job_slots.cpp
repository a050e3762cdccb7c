#include "dcuop/build/job_slots.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
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

/// Where a hierarchy is mounted, and which cgroup its top directory is: in a container that is not the root.
struct CgroupMount {
  fs::path directory;
  fs::path top;
};

/// What tells of this process's cgroups; a container's mountinfo is long, and each limit needs both.
struct CgroupFiles {
  fs::path root;
  std::vector<std::string> mounts;  ///< lines of mountinfo
  std::vector<std::string> members; ///< lines of /proc/self/cgroup
};

CgroupFiles cgroup_files(const fs::path& root) {
  return {root, split(read_file(root / "proc/self/mountinfo").value_or(""), '\n'),
          split(read_file(root / "proc/self/cgroup").value_or(""), '\n')};
}

/// mountinfo's "36 35 0:31 /docker/3f /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory" (proc(5)); the usual place
/// when it tells of none.
CgroupMount mount_of(const CgroupFiles& files, const std::string& controller) {
  for (const std::string& line : files.mounts) {
    const std::size_t separator = line.find(" - ");
    if (separator == std::string::npos) {
      continue;
    }
    const std::vector<std::string> left = split(line.substr(0, separator), ' ');
    const std::vector<std::string> right = split(line.substr(separator + 3), ' ');
    if (left.size() < 5 || right.empty() || right[0] != (controller.empty() ? "cgroup2" : "cgroup")) {
      continue;
    }
    const std::vector<std::string> options = split(right.back(), ',');
    if (controller.empty() || std::find(options.begin(), options.end(), controller) != options.end()) {
      return {files.root / fs::path(left[4]).relative_path(), left[3]};
    }
  }
  return {files.root / "sys/fs/cgroup" / controller, "/"};
}

/// The directories of this process's cgroup for a v1 controller, or of the v2 hierarchy (controller ""), from the
/// innermost to the mount point. A limit of any of them holds.
std::vector<fs::path> cgroup_directories(const CgroupFiles& files, const std::string& controller) {
  std::vector<fs::path> directories;
  for (const std::string& line : files.members) {
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
    const CgroupMount mount = mount_of(files, controller);
    // A path that is not below the mount's top, "/../x" in a cgroup namespace among them, is not visible: the
    // mount itself is what there is to read.
    const fs::path path = line.substr(second + 1);
    const bool outside = std::find(path.begin(), path.end(), "..") != path.end();
    if (!outside && lies_below(path, mount.top)) {
      fs::path inner = path.lexically_relative(mount.top);
      for (; !inner.empty() && inner != "."; inner = inner.parent_path()) {
        directories.push_back(mount.directory / inner);
      }
    }
    directories.push_back(mount.directory);
  }
  return directories;
}

/// cpu.max "max 100000" or "150000 100000"; v1: cpu.cfs_quota_us and cpu.cfs_period_us.
std::optional<int> processors_of_cgroup(const CgroupFiles& files) {
  std::optional<int> least;
  const auto consider = [&](std::uint64_t quota, std::uint64_t period) {
    if (quota > 0 && period > 0) {
      constexpr std::uint64_t most = 1U << 20U; // a quota may be any number
      const int processors = static_cast<int>(std::min(most, (quota - 1) / period + 1));
      least = std::min(least.value_or(processors), processors);
    }
  };
  for (const fs::path& directory : cgroup_directories(files, "")) {
    const std::vector<std::string> words = split(trimmed(read_file(directory / "cpu.max").value_or("")), ' ');
    if (words.size() == 2) {
      consider(number_in(words[0]).value_or(0), number_in(words[1]).value_or(0));
    }
  }
  for (const fs::path& directory : cgroup_directories(files, "cpu")) {
    consider(number_at(directory / "cpu.cfs_quota_us").value_or(0),
             number_at(directory / "cpu.cfs_period_us").value_or(0));
  }
  return least;
}

/// The page cache that a cgroup is charged for: the kernel takes it back before it kills. memory.stat of v2 says
/// inactive_file, that of v1 total_inactive_file for the whole subtree.
std::uint64_t reclaimable(const fs::path& directory) {
  std::uint64_t own = 0;
  std::uint64_t whole = 0;
  for (const std::string& line : split(read_file(directory / "memory.stat").value_or(""), '\n')) {
    const std::vector<std::string> words = split(line, ' ');
    if (words.size() != 2) {
      continue;
    }
    if (words[0] == "inactive_file" || words[0] == "active_file") {
      own += number_in(words[1]).value_or(0);
    } else if (words[0] == "total_inactive_file" || words[0] == "total_active_file") {
      whole += number_in(words[1]).value_or(0);
    }
  }
  return std::max(own, whole);
}

/// A controller's limit, and the file that says what is in use.
struct LimitFiles {
  const char* controller; ///< "": cgroup v2
  const char* limit;
  const char* current;
  bool memory; ///< the page cache does not count
};

/// Limit minus what is in use, of the tightest cgroup; at least `least_room`, as 0 would mean "no limit".
std::optional<std::uint64_t> room_in_cgroup(const CgroupFiles& cgroups, const LimitFiles& files,
                                            std::uint64_t least_room) {
  std::optional<std::uint64_t> least;
  for (const fs::path& directory : cgroup_directories(cgroups, files.controller)) {
    const std::optional<std::uint64_t> limit = number_at(directory / files.limit);
    if (!limit || *limit > std::uint64_t{1} << 60) { // v1 writes a huge number for "none"
      continue;
    }
    const std::uint64_t charged = number_at(directory / files.current).value_or(0);
    const std::uint64_t used = charged - (files.memory ? std::min(charged, reclaimable(directory)) : 0);
    const std::uint64_t room = std::max(least_room, *limit - std::min(*limit, used));
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
  const CgroupFiles cgroups = cgroup_files(root);
  Limits limits;
  cpu_set_t set;
  CPU_ZERO(&set);
  limits.processors = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  limits.processors_source = "processors of this process";
  if (const std::optional<int> processors = processors_of_cgroup(cgroups);
      processors && *processors < limits.processors) {
    limits.processors = *processors;
    limits.processors_source = "cgroup cpu.max";
  }
  limits.memory = memory_available(root);
  limits.memory_source = "MemAvailable";
  // memory.high does not kill, but above it a process hardly gets on.
  constexpr std::array memory_files = {
      LimitFiles{"", "memory.max", "memory.current", true},
      LimitFiles{"", "memory.high", "memory.current", true},
      LimitFiles{"memory", "memory.limit_in_bytes", "memory.usage_in_bytes", true},
  };
  constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;
  for (const LimitFiles& files : memory_files) {
    const std::optional<std::uint64_t> room = room_in_cgroup(cgroups, files, mebibyte);
    if (room && (limits.memory == 0 || *room < limits.memory)) {
      limits.memory = *room;
      limits.memory_source = std::string("cgroup ") + files.limit;
    }
  }
  for (const char* controller : {"", "pids"}) {
    if (const auto room = room_in_cgroup(cgroups, {controller, "pids.max", "pids.current", false}, 1)) {
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

const JobSlots::Room& JobSlots::room() {
  std::call_once(asked_, [this] { room_ = ask_(); });
  return room_;
}

JobSlots::Slot JobSlots::acquire(std::uint64_t memory) {
  const Room& room = this->room();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    const bool fits =
        room.memory == 0 || running_ == 0 || (reserved_ <= room.memory && memory <= room.memory - reserved_);
    return running_ < room.jobs && fits;
  });
  ++running_;
  reserved_ += memory;
  return {*this, memory};
}

} // namespace dcuop::build
