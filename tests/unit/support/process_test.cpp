#include "dcuop/support/process.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "dcuop/support/files.hpp"
#include "support/temporary_directory.hpp"

namespace dcuop {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using testing::HasSubstr;

Command shell(const std::string& script) {
  Command command;
  command.argv = {"sh", "-c", script};
  command.environment = Environment({{"PATH", "/usr/bin:/bin"}});
  return command;
}

class Process : public testing::Test {
 protected:
  ProcessResult run(const Command& command) { return runner_.run(command); }
  SystemProcessRunner runner_;
  test::TemporaryDirectory directory_;
};

TEST_F(Process, GivesOutputDiagnosticsAndExitCode) {
  const ProcessResult result = run(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.signal, 0);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.diagnostics, "err\n");
  EXPECT_TRUE(run(shell("exit 0")).ok());
}

TEST_F(Process, PassesArgumentsUntouched) {
  Command command = shell("");
  command.argv = {"printf", "%s|", "a b", "", "$HOME", "'\"\\", "é\n"};
  EXPECT_EQ(run(command).output, "a b||$HOME|'\"\\|é\n|");
}

TEST_F(Process, GivesTheWholeEnvironmentAndNothingElse) {
  ::setenv("DCUOP_TEST_LEAK", "1", 1);
  Command command = shell("");
  command.argv = {"/usr/bin/env"};
  command.environment = Environment({{"A", "1 2"}, {"B", ""}});
  EXPECT_EQ(run(command).output, "A=1 2\nB=\n");
  ::unsetenv("DCUOP_TEST_LEAK");
}

TEST_F(Process, StartsInTheWorkingDirectory) {
  Command command = shell("pwd -P");
  command.working_directory = directory_.path();
  EXPECT_EQ(run(command).output, fs::canonical(directory_.path()).string() + "\n");
  command.working_directory = directory_ / "none";
  const ProcessResult result = run(command);
  EXPECT_EQ(result.exit_code, 127);
  EXPECT_EQ(result.diagnostics,
            "cannot enter " + (directory_ / "none").string() + ": No such file or directory");
}

TEST_F(Process, ReadsItsInputToTheEnd) {
  Command command = shell("cat | wc -c");
  command.input = std::string(200'000, 'x');
  EXPECT_EQ(run(command).output, "200000\n");
  command = shell("cat");
  command.input = "a\0b\n"s;
  EXPECT_EQ(run(command).output, "a\0b\n"s);
}

TEST_F(Process, ReadsNothing) {
  EXPECT_EQ(run(shell("cat; echo done")).output, "done\n");
}

TEST_F(Process, InheritsNoDescriptorAndNoSignalState) {
  const int leaked = ::dup(STDOUT_FILENO); // not close-on-exec
  ::signal(SIGPIPE, SIG_IGN);
  const ProcessResult result =
      run(shell("ls /proc/self/fd | wc -l; sed -n 's/^SigBlk:.//p; s/^SigIgn:.//p' /proc/self/status"));
  ::signal(SIGPIPE, SIG_DFL);
  ::close(leaked);
  std::istringstream words(result.output);
  int descriptors = 0;
  std::uint64_t blocked = 1;
  std::uint64_t ignored = 1;
  words >> descriptors >> std::hex >> blocked >> ignored;
  EXPECT_EQ(descriptors, 4) << "0, 1, 2, and the one that ls reads";
  EXPECT_EQ(blocked, 0U);
  // Signals 32 and 33 are the C library's own: it lets nobody change them, and some parents ignore them.
  constexpr std::uint64_t reserved = 3ULL << 31U;
  EXPECT_EQ(ignored & ~reserved, 0U) << result.output;
}

TEST_F(Process, TakesLargeOutputOfBothStreamsAtOnce) {
  const ProcessResult result =
      run(shell("i=0; while [ $i -lt 40 ]; do head -c 50000 /dev/zero; head -c 50000 /dev/zero >&2; "
                "i=$((i+1)); done"));
  EXPECT_EQ(result.output.size(), 2'000'000U);
  EXPECT_EQ(result.diagnostics.size(), 2'000'000U);
}

TEST_F(Process, WritesBothStreamsToAFile) {
  Command command = shell("echo one; echo two >&2; echo three");
  command.output_file = directory_.write("log", "what was there before, and longer than the rest");
  const ProcessResult result = run(command);
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(result.diagnostics, "");
  EXPECT_EQ(read_file(directory_ / "log"), "one\ntwo\nthree\n");
  command.output_file = directory_ / "none/log";
  EXPECT_EQ(run(command).exit_code, 127);
  EXPECT_THAT(run(command).diagnostics, HasSubstr("none/log: No such file or directory"));
}

TEST_F(Process, SaysWhyItCouldNotStart) {
  Command command = shell("");
  command.argv = {"dcuop-no-such-program"};
  EXPECT_EQ(run(command).exit_code, 127);
  EXPECT_EQ(run(command).diagnostics, "dcuop-no-such-program: not found on PATH");
  command.argv = {"/nonexistent/program"};
  EXPECT_EQ(run(command).exit_code, 127);
  EXPECT_EQ(run(command).diagnostics, "/nonexistent/program: No such file or directory");
  command.argv = {directory_.write("text", "not a program").string()};
  EXPECT_THAT(run(command).diagnostics, HasSubstr("Permission denied"));
  fs::permissions(directory_ / "text", fs::perms::owner_all);
  EXPECT_THAT(run(command).diagnostics, HasSubstr("Exec format error")) << "never through a shell";
  command.argv = {};
  EXPECT_EQ(run(command).exit_code, 127);
  command.argv = {""};
  EXPECT_EQ(run(command).exit_code, 127);
}

TEST_F(Process, TellsAnExitCode127FromAFailedStart) {
  const ProcessResult result = run(shell("echo mine >&2; exit 127"));
  EXPECT_EQ(result.exit_code, 127);
  EXPECT_EQ(result.diagnostics, "mine\n");
}

TEST_F(Process, ReportsSignals) {
  const ProcessResult result = run(shell("echo before; kill -SEGV $$"));
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_EQ(result.exit_code, 128 + SIGSEGV);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.output, "before\n");
}

TEST_F(Process, MeasuresWallTimeAndMemory) {
  const ProcessResult small = run(shell("sleep 0.1"));
  EXPECT_GE(small.wall, 100ms);
  EXPECT_LT(small.wall, 5s);
  EXPECT_GT(small.peak_memory, 100'000U);
  // The grandchild is the large one: dd holds its block.
  const ProcessResult large =
      run(shell("sh -c 'dd if=/dev/zero of=/dev/null bs=200M count=1; true' 2>/dev/null; true"));
  EXPECT_GT(large.peak_memory, std::uint64_t{190} << 20U);
}

TEST_F(Process, EndsATreeWhoseTimeIsUp) {
  Command command = shell("echo started; sleep 300 & sleep 300");
  command.limit = 200ms;
  const ProcessResult result = run(command);
  EXPECT_TRUE(result.timed_out);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_EQ(result.exit_code, 137);
  EXPECT_EQ(result.output, "started\n");
  EXPECT_GE(result.wall, 200ms);
  EXPECT_LT(result.wall, 5s);
  command = shell("exit 4");
  command.limit = 60s;
  EXPECT_EQ(run(command).exit_code, 4);
  EXPECT_FALSE(run(command).timed_out);
}

TEST_F(Process, DoesNotWaitForWhatAProgramLeavesBehind) {
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = run(shell("sleep 300 & setsid sleep 300 & echo $$; exit 5"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
  EXPECT_EQ(result.exit_code, 5);
}

TEST_F(Process, RunsManyAtOnce) {
  std::vector<std::thread> threads;
  std::vector<ProcessResult> results(24);
  for (std::size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] {
      results[i] = run(shell("sleep 0.05; echo " + std::to_string(i) + "; exit " + std::to_string(i)));
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i].exit_code, static_cast<int>(i));
    EXPECT_EQ(results[i].output, std::to_string(i) + "\n");
  }
  EXPECT_EQ(runner_.started(), results.size());
}

TEST_F(Process, LeavesNoDescriptorAndNoZombie) {
  static_cast<void>(run(shell("true"))); // the lifeline stays
  const std::size_t before = list_directory("/proc/self/fd").size();
  for (int i = 0; i < 10; ++i) {
    static_cast<void>(run(shell("true")));
  }
  EXPECT_EQ(list_directory("/proc/self/fd").size(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(Process, StartsAProgramThatWasJustWrittenWhileOthersFork) {
  // Another thread's fork may hold the script's descriptor for a moment: "Text file busy".
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) {
      static_cast<void>(run(shell("true")));
    }
  });
  for (int i = 0; i < 20; ++i) {
    const fs::path script = directory_.write("script" + std::to_string(i), "#!/bin/sh\nexit 9\n");
    fs::permissions(script, fs::perms::owner_all);
    Command command = shell("");
    command.argv = {script.string()};
    EXPECT_EQ(run(command).exit_code, 9);
  }
  stop = true;
  other.join();
}

} // namespace
} // namespace dcuop
