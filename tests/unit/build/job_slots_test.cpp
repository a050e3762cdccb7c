#include "dcuop/build/job_slots.hpp"

#include <sched.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "dcuop/support/files.hpp"

namespace dcuop::build {
namespace {

constexpr std::uint64_t mib = 1U << 20U;
constexpr const char* v2_mount = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";

/// A tree with /proc and /sys/fs/cgroup of one's own.
class LimitsOfProcess : public testing::Test {
 protected:
  LimitsOfProcess() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dcuop-limits-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    write("proc/meminfo", "MemTotal:       16000000 kB\nMemFree:  1 kB\nMemAvailable:    8388608 kB\n");
  }
  ~LimitsOfProcess() override { remove_tree(root_); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  [[nodiscard]] Limits limits() const { return limits_of_this_process(root_); }

  static int own_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  }

  std::filesystem::path root_;
};

TEST_F(LimitsOfProcess, WithoutCgroupsAreTheMachines) {
  const Limits found = limits();
  EXPECT_EQ(found.processors, own_processors());
  EXPECT_EQ(found.memory, 8192 * mib);
  EXPECT_EQ(found.memory_source, "MemAvailable");
  EXPECT_EQ(found.processes, 0U);
}

TEST_F(LimitsOfProcess, WithoutAnythingAreUnknown) {
  std::filesystem::remove(root_ / "proc/meminfo");
  EXPECT_EQ(limits().memory, 0U);
  EXPECT_GE(limits().processors, 1);
}

TEST_F(LimitsOfProcess, TheTightestOfNestedCgroupsHolds) {
  write("proc/self/cgroup", "0::/job/step/task\n");
  write("sys/fs/cgroup/job/memory.max", "1073741824\n");
  write("sys/fs/cgroup/job/memory.current", "104857600\n");
  write("sys/fs/cgroup/job/step/memory.max", "max\n");
  write("sys/fs/cgroup/job/step/memory.current", "104857600\n");
  write("sys/fs/cgroup/job/step/task/memory.max", "2147483648\n");
  write("sys/fs/cgroup/job/cpu.max", "50000 100000\n");
  write("sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/job/step/task/pids.max", "64\n");
  write("sys/fs/cgroup/job/step/task/pids.current", "14\n");
  write("sys/fs/cgroup/job/pids.max", "max\n");
  write("sys/fs/cgroup/elsewhere/memory.max", "1\n");
  const Limits found = limits();
  EXPECT_EQ(found.memory, 924 * mib);
  EXPECT_EQ(found.memory_source, "cgroup memory.max");
  EXPECT_EQ(found.processors, 1);
  EXPECT_EQ(found.processors_source, own_processors() > 1 ? "cgroup cpu.max" : "processors of this process");
  EXPECT_EQ(found.processes, 50U);
}

TEST_F(LimitsOfProcess, MaxIsNoLimit) {
  write("proc/self/cgroup", "0::/job\n");
  for (const char* file : {"memory.max", "memory.high", "pids.max"}) {
    write(std::string("sys/fs/cgroup/job/") + file, "max\n");
  }
  write("sys/fs/cgroup/job/cpu.max", "max 100000\n");
  const Limits found = limits();
  EXPECT_EQ(found.memory_source, "MemAvailable");
  EXPECT_EQ(found.processors, own_processors());
  EXPECT_EQ(found.processes, 0U);
}

TEST_F(LimitsOfProcess, MoreThanTheMachineHasIsNoLimit) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "99999999999\n");
  write("sys/fs/cgroup/cpu.max", "18446744073709551615 1\n");
  EXPECT_EQ(limits().memory_source, "MemAvailable");
  EXPECT_EQ(limits().processors, own_processors());
}

TEST_F(LimitsOfProcess, AFractionOfAProcessorIsOne) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/cpu.max", "1000 100000\n");
  EXPECT_EQ(limits().processors, 1);
}

TEST_F(LimitsOfProcess, PageCacheOfTheCgroupIsFree) {
  write("proc/self/cgroup", "0::/job\n");
  write("sys/fs/cgroup/job/memory.max", std::to_string(1000 * mib));
  write("sys/fs/cgroup/job/memory.current", std::to_string(990 * mib));
  write("sys/fs/cgroup/job/memory.stat", "anon 1\nfile 1\nactive_file " + std::to_string(300 * mib) +
                                             "\ninactive_file " + std::to_string(500 * mib) + "\nshmem 7\n");
  EXPECT_EQ(limits().memory, 810 * mib);
}

TEST_F(LimitsOfProcess, AFullCgroupIsNotAnUnlimitedOne) {
  write("proc/self/cgroup", "0::/job\n");
  write("sys/fs/cgroup/job/memory.max", "1000000\n");
  write("sys/fs/cgroup/job/memory.current", "1200000\n");
  write("sys/fs/cgroup/job/pids.max", "10\n");
  write("sys/fs/cgroup/job/pids.current", "11\n");
  EXPECT_GE(limits().memory / 10 * 9, 1U) << "0 would mean: unknown";
  EXPECT_LE(limits().memory, mib);
  EXPECT_EQ(limits().processes, 1U);
}

TEST_F(LimitsOfProcess, MemoryHighHoldsToo) {
  write("proc/self/cgroup", "0::/job\n");
  write("sys/fs/cgroup/job/memory.max", std::to_string(1000 * mib));
  write("sys/fs/cgroup/job/memory.high", std::to_string(700 * mib));
  write("sys/fs/cgroup/job/memory.current", std::to_string(100 * mib));
  EXPECT_EQ(limits().memory, 600 * mib);
  EXPECT_EQ(limits().memory_source, "cgroup memory.high");
}

TEST_F(LimitsOfProcess, InAContainerTheMountIsTheCgroup) {
  write("proc/self/cgroup", "0::/kubepods/pod1/c2\n"); // no cgroup namespace: a path that is not visible here
  write("sys/fs/cgroup/memory.max", std::to_string(512 * mib));
  write("sys/fs/cgroup/memory.current", "0\n");
  EXPECT_EQ(limits().memory, 512 * mib);
  write("proc/self/mountinfo", "30 23 0:26 /kubepods/pod1/c2 /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  EXPECT_EQ(limits().memory, 512 * mib);
  write("proc/self/cgroup", "0::/kubepods/pod1/c2/inner\n");
  write("sys/fs/cgroup/inner/memory.max", std::to_string(256 * mib));
  EXPECT_EQ(limits().memory, 256 * mib);
}

TEST_F(LimitsOfProcess, APathOutsideOfTheNamespaceLeavesTheMount) {
  write("proc/self/mountinfo", v2_mount);
  write("proc/self/cgroup", "0::/../sibling\n");
  write("sys/fs/cgroup/pids.max", "30\n");
  write("sys/fs/sibling/pids.max", "3\n");
  EXPECT_EQ(limits().processes, 30U);
}

TEST_F(LimitsOfProcess, OfCgroupV1) {
  write("proc/self/cgroup",
        "12:pids:/docker/3f\n5:cpu,cpuacct:/docker/3f\n4:memory:/docker/3f\n1:name=systemd:/docker/3f\n");
  write("sys/fs/cgroup/memory/docker/3f/memory.limit_in_bytes", std::to_string(2000 * mib));
  write("sys/fs/cgroup/memory/docker/3f/memory.usage_in_bytes", std::to_string(600 * mib));
  write("sys/fs/cgroup/memory/docker/3f/memory.stat", "inactive_file 5\nactive_file 5\ntotal_inactive_file " +
                                                          std::to_string(100 * mib) +
                                                          "\ntotal_active_file 0\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/cpu/docker/3f/cpu.cfs_quota_us", "100000\n");
  write("sys/fs/cgroup/cpu/docker/3f/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/pids/docker/3f/pids.max", "100\n");
  write("sys/fs/cgroup/pids/docker/3f/pids.current", "40\n");
  const Limits found = limits();
  EXPECT_EQ(found.memory, 1500 * mib);
  EXPECT_EQ(found.memory_source, "cgroup memory.limit_in_bytes");
  EXPECT_EQ(found.processors, 1);
  EXPECT_EQ(found.processes, 60U);
}

TEST_F(LimitsOfProcess, OfCgroupV1MountedElsewhere) {
  write("proc/self/cgroup", "5:cpu,cpuacct:/docker/3f\n4:memory:/docker/3f\n");
  write("proc/self/mountinfo",
        "31 23 0:27 /docker/3f /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n"
        "32 23 0:28 /docker/3f /cg/memory ro master:2 - cgroup cgroup rw,memory\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "100000\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write("cg/memory/memory.limit_in_bytes", std::to_string(64 * mib));
  EXPECT_EQ(limits().processors, 1);
  EXPECT_EQ(limits().memory, 64 * mib);
}

TEST_F(LimitsOfProcess, OfDamagedFilesAreNone) {
  write("proc/self/cgroup", "nonsense\n0:\n0::\n::::\n");
  write("proc/self/mountinfo", "a - cgroup2\n - \n1 2 3 4 - cgroup2 x\n");
  write("sys/fs/cgroup/memory.max", "a lot\n");
  write("sys/fs/cgroup/cpu.max", "100000\n");
  EXPECT_EQ(limits().memory_source, "MemAvailable");
  EXPECT_EQ(limits().processors, own_processors());
}

/// Jobs of these sizes, all at once: how many ran together at most.
class Peak {
 public:
  explicit Peak(JobSlots& slots) : slots_(slots) {}
  void run(const std::vector<std::uint64_t>& sizes) {
    std::vector<std::thread> threads;
    for (const std::uint64_t size : sizes) {
      threads.emplace_back([this, size] {
        const JobSlots::Slot slot = slots_.acquire(size);
        const int count = ++running_;
        const std::uint64_t memory = memory_ += size;
        raise(most, count);
        raise(most_memory, memory);
        if (size > slots_.memory() && count > 1) {
          large_had_company = true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (size > slots_.memory() && running_ > 1) {
          large_had_company = true;
        }
        memory_ -= size;
        --running_;
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
  std::atomic<int> most{0};
  std::atomic<std::uint64_t> most_memory{0};
  std::atomic<bool> large_had_company{false};

 private:
  template <typename Number> static void raise(std::atomic<Number>& peak, Number value) {
    Number known = peak;
    while (known < value && !peak.compare_exchange_weak(known, value)) {
    }
  }
  JobSlots& slots_;
  std::atomic<int> running_{0};
  std::atomic<std::uint64_t> memory_{0};
};

TEST(JobSlots, NeverRunsMoreThanItsCount) {
  JobSlots slots(3, 0);
  Peak peak(slots);
  peak.run(std::vector<std::uint64_t>(12, 1U << 30U));
  EXPECT_EQ(peak.most, 3);
}

TEST(JobSlots, NeverReservesMoreThanItsMemory) {
  JobSlots slots(8, 1000);
  Peak peak(slots);
  peak.run({400, 400, 400, 400, 400, 400});
  EXPECT_EQ(peak.most, 2);
  EXPECT_EQ(peak.most_memory, 800U);
}

TEST(JobSlots, SmallJobsFitBesideALargeOne) {
  JobSlots slots(8, 1000);
  Peak peak(slots);
  peak.run({900, 50, 50});
  EXPECT_EQ(peak.most, 3);
  EXPECT_EQ(peak.most_memory, 1000U);
}

TEST(JobSlots, AJobThatIsLargerThanAllRunsAlone) {
  JobSlots slots(8, 1000);
  Peak peak(slots);
  peak.run({100, 5000, 100, 0, 18446744073709551615U, 100});
  EXPECT_FALSE(peak.large_had_company);
}

} // namespace
} // namespace dcuop::build
