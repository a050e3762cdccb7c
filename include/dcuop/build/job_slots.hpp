#pragma once
// How many compilers may run at once, by processors and by memory.

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace dcuop::build {

/// What this process may use: sched_getaffinity, cgroup v1 or v2 limits up the tree, MemAvailable.
struct Limits {
  int processors = 1;
  std::uint64_t memory = 0;                     ///< bytes; 0: unknown
  std::uint64_t processes = 0;                  ///< pids.max - pids.current; 0: unlimited
  std::string processors_source, memory_source; ///< "cgroup cpu.max", "MemAvailable"
};
/// `root`: another tree for /proc and /sys/fs/cgroup, for tests.
[[nodiscard]] Limits limits_of_this_process(const std::filesystem::path& root = "/");

/// A counting gate. A job waits until a slot is free and its memory fits beside that of the running ones; a job
/// that is larger than all there is runs alone.
class JobSlots {
 public:
  struct Room {
    int jobs = 1;
    std::uint64_t memory = 0; ///< bytes; 0: unlimited
  };
  JobSlots(int jobs, std::uint64_t memory) : ask_([=] { return Room{jobs, memory}; }) {}
  /// `ask` is called once, and not before somebody needs to know: a hit does not.
  explicit JobSlots(std::function<Room()> ask) : ask_(std::move(ask)) {}

  class Slot {
   public:
    Slot(JobSlots& owner, std::uint64_t memory) : owner_(&owner), memory_(memory) {}
    ~Slot();
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

   private:
    JobSlots* owner_;
    std::uint64_t memory_;
  };

  /// Blocks. `memory`: what the job is expected to need, bytes.
  [[nodiscard]] Slot acquire(std::uint64_t memory);
  [[nodiscard]] int jobs() { return room().jobs; }
  [[nodiscard]] std::uint64_t memory() { return room().memory; }

 private:
  const Room& room();

  std::function<Room()> ask_;
  std::once_flag asked_;
  Room room_;
  int running_ = 0;
  std::uint64_t reserved_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
};

} // namespace dcuop::build
