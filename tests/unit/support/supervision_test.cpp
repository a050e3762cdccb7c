// A child's whole tree ends with dcuop, however dcuop ends. "dcuop" is a fork of the test here.
#include <csignal>
#include <functional>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "dcuop/support/files.hpp"
#include "dcuop/support/process.hpp"
#include "dcuop/support/text.hpp"
#include "support/temporary_directory.hpp"

namespace dcuop {
namespace {

using namespace std::chrono_literals;

bool is_running(pid_t process) {
  const std::optional<std::string> stat = read_file("/proc/" + std::to_string(process) + "/stat");
  if (!stat) {
    return false;
  }
  const std::size_t state = stat->rfind(')') + 2;
  return state < stat->size() && (*stat)[state] != 'Z' && (*stat)[state] != 'X';
}

bool comes_true(const std::function<bool()>& condition, std::chrono::milliseconds limit = 2s) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

class Supervision : public testing::Test {
 protected:
  /// The supervisor, a shell, a background child, one that left the process group and session, one whose
  /// parent is gone, and one in the foreground; each writes its number.
  [[nodiscard]] Command tree(const std::string& name) const {
    const std::string script = "echo $PPID $$; sleep 300 & echo $!; setsid sh -c 'echo $$; exec sleep 300' & "
                               "sh -c 'sleep 300 & echo $!'; "
                               "trap '' TERM INT HUP; sh -c 'echo $$; exec sleep 300'; true";
    Command command;
    command.argv = {"sh", "-c", script};
    command.environment = Environment({{"PATH", "/usr/bin:/bin"}});
    command.output_file = directory_ / name;
    return command;
  }

  [[nodiscard]] std::vector<pid_t> wait_for_tree(const std::string& name) const {
    std::vector<pid_t> processes;
    EXPECT_TRUE(comes_true(
        [&] {
          processes.clear();
          std::istringstream text(read_file(directory_ / name).value_or(""));
          for (pid_t process = 0; text >> process;) {
            processes.push_back(process);
          }
          return processes.size() == 6;
        },
        10s));
    for (const pid_t process : processes) {
      EXPECT_TRUE(is_running(process));
    }
    return processes;
  }

  static void expect_all_gone(const std::vector<pid_t>& processes) {
    EXPECT_EQ(processes.size(), 6U);
    for (const pid_t process : processes) {
      EXPECT_TRUE(comes_true([&] { return !is_running(process); })) << process;
    }
  }

  /// A process that runs `body` and then ends without the test's own exit handlers.
  static pid_t fork_dcuop(const std::function<void()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
      body();
      ::_exit(0);
    }
    return child;
  }

  static int wait_for(pid_t process) {
    int status = -1;
    ::waitpid(process, &status, 0);
    return status;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(Supervision, EndsTheTreeWhenDcuopIsKilled) {
  const pid_t dcuop = fork_dcuop([&] { static_cast<void>(SystemProcessRunner().run(tree("tree"))); });
  const std::vector<pid_t> processes = wait_for_tree("tree");
  ::kill(dcuop, SIGKILL);
  wait_for(dcuop);
  expect_all_gone(processes);
}

TEST_F(Supervision, EndsAllTreesOfSeveralThreads) {
  const pid_t dcuop = fork_dcuop([&] {
    std::thread first([&] { static_cast<void>(SystemProcessRunner().run(tree("first"))); });
    std::thread second([&] { static_cast<void>(SystemProcessRunner().run(tree("second"))); });
    static_cast<void>(SystemProcessRunner().run(tree("third")));
    first.join();
    second.join();
  });
  const std::vector<pid_t> first = wait_for_tree("first");
  const std::vector<pid_t> second = wait_for_tree("second");
  const std::vector<pid_t> third = wait_for_tree("third");
  ::kill(dcuop, SIGKILL);
  wait_for(dcuop);
  expect_all_gone(first);
  expect_all_gone(second);
  expect_all_gone(third);
}

TEST_F(Supervision, OutlivesTheThreadThatStartedIt) {
  // PR_SET_PDEATHSIG alone would have killed the child with its thread; run() keeps the thread, a pool
  // may not.
  std::thread([] {
    Command command;
    command.argv = {"true"};
    command.environment = Environment({{"PATH", "/usr/bin:/bin"}});
    EXPECT_TRUE(SystemProcessRunner().run(command).ok());
  }).join();
  Command command = tree("tree");
  command.argv = {"sh", "-c", "sleep 0.1; exit 6"};
  EXPECT_EQ(SystemProcessRunner().run(command).exit_code, 6);
}

TEST_F(Supervision, EndsTheTreeOnTerminationSignals) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const std::string name = "tree" + std::to_string(signal);
    const pid_t dcuop = fork_dcuop([&] {
      install_termination_handlers();
      static_cast<void>(SystemProcessRunner().run(tree(name)));
    });
    const std::vector<pid_t> processes = wait_for_tree(name);
    ::kill(dcuop, signal);
    const int status = wait_for(dcuop);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 128 + signal);
    expect_all_gone(processes);
  }
}

TEST_F(Supervision, LeavesAnIgnoredHangupIgnored) {
  const pid_t dcuop = fork_dcuop([] {
    ::signal(SIGHUP, SIG_IGN);
    install_termination_handlers();
    ::raise(SIGHUP);
    ::_exit(17);
  });
  EXPECT_EQ(WEXITSTATUS(wait_for(dcuop)), 17);
}

TEST_F(Supervision, EndsTheTreeWhenAsked) {
  ProcessResult result;
  std::thread running([&] { result = SystemProcessRunner().run(tree("tree")); });
  const std::vector<pid_t> processes = wait_for_tree("tree");
  kill_all_children();
  running.join();
  expect_all_gone(processes);
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  EXPECT_FALSE(result.timed_out);
  Command next = tree("next");
  next.argv = {"sh", "-c", "exit 8"};
  EXPECT_EQ(SystemProcessRunner().run(next).exit_code, 8) << "the end of those was not the end of all";
}

TEST_F(Supervision, LeavesNobodyWhenTheTimeIsUp) {
  Command command = tree("tree");
  command.limit = 700ms;
  EXPECT_TRUE(SystemProcessRunner().run(command).timed_out);
  std::istringstream text(read_file(directory_ / "tree").value_or(""));
  int count = 0;
  for (pid_t process = 0; text >> process; ++count) {
    EXPECT_FALSE(is_running(process)) << "run() returned before the end of " << process;
  }
  EXPECT_EQ(count, 6);
}

TEST_F(Supervision, ReportsASupervisorThatWasKilled) {
  ProcessResult result;
  std::thread running([&] { result = SystemProcessRunner().run(tree("tree")); });
  const std::vector<pid_t> processes = wait_for_tree("tree");
  ::kill(processes.at(0), SIGKILL);
  running.join();
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_TRUE(comes_true([&] { return !is_running(processes.at(1)); })) << "the program goes with it";
  for (const pid_t process : processes) {
    ::kill(process, SIGKILL); // the rest has no guardian any more
  }
}

TEST_F(Supervision, HoldsNothingOfDcuops) {
  // A reader of dcuop's output must see its end at once when dcuop is killed, and a lock must be free.
  int output[2];
  ASSERT_EQ(::pipe(output), 0);
  const pid_t dcuop = fork_dcuop([&] { static_cast<void>(SystemProcessRunner().run(tree("tree"))); });
  const std::vector<pid_t> processes = wait_for_tree("tree");
  const std::string name = fs::read_symlink("/proc/self/fd/" + std::to_string(output[1])).string();
  for (const pid_t process : processes) {
    const fs::path open_files = "/proc/" + std::to_string(process) + "/fd";
    for (const std::string& number : list_directory(open_files)) {
      EXPECT_NE(fs::read_symlink(open_files / number).string(), name) << process;
    }
  }
  ::kill(dcuop, SIGKILL);
  wait_for(dcuop);
  expect_all_gone(processes);
  ::close(output[0]);
  ::close(output[1]);
}

} // namespace
} // namespace dcuop
