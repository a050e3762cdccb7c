// What a traced process tree asked for. The programs are real: a shell, cat, Python's threads, g++.

#include <algorithm>
#include <csignal>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "dcuop/support/files.hpp"
#include "dcuop/support/process.hpp"
#include "support/temporary_directory.hpp"

namespace dcuop {
namespace {

using namespace std::chrono_literals;

class Tracing : public testing::Test {
 protected:
  ProcessResult run(std::vector<std::string> argv) {
    Command command;
    command.argv = std::move(argv);
    command.environment = Environment({{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}});
    command.working_directory = directory_.path();
    command.trace = true;
    command.limit = 20s;
    return SystemProcessRunner().run(command);
  }
  ProcessResult shell(const std::string& script) { return run({"sh", "-c", script}); }

  static const FileAccess* find(const ProcessResult& result, const std::string& path) {
    const auto found = std::find_if(result.trace->accesses.begin(), result.trace->accesses.end(),
                                    [&](const FileAccess& access) { return access.path == path; });
    return found == result.trace->accesses.end() ? nullptr : &*found;
  }
  std::string here(const std::string& name) { return (directory_ / name).string(); }

  test::TemporaryDirectory directory_;
};

TEST_F(Tracing, IsOnlyDoneWhenAskedFor) {
  Command command;
  command.argv = {"/bin/true"};
  EXPECT_FALSE(SystemProcessRunner().run(command).trace);
}

TEST_F(Tracing, DoesNotChangeWhatAProgramDoes) {
  const ProcessResult result = shell("echo out; echo err >&2; (exit 3)");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.diagnostics, "err\n");
  EXPECT_EQ(shell("kill -SEGV $$").signal, SIGSEGV);
  EXPECT_EQ(shell("kill -TRAP $$").signal, SIGTRAP);
  EXPECT_EQ(shell("trap 'echo caught' USR1; kill -USR1 $$").output, "caught\n");
  EXPECT_EQ(run({"/does/not/exist"}).exit_code, 127);
}

TEST_F(Tracing, SeesReadsByEveryProcessOfTheTree) {
  directory_.write("read", "1");
  const ProcessResult result = shell("(sh -c 'cat read' | cat) && sh -c '[ -e asked ]; true'");
  ASSERT_TRUE(result.trace);
  const FileAccess* read = find(result, "read");
  ASSERT_NE(read, nullptr);
  EXPECT_TRUE(read->was_read && read->is_relative && !read->was_written);
  EXPECT_EQ(read->first, identity_of(directory_ / "read"));
  const FileAccess* asked = find(result, "asked");
  ASSERT_NE(asked, nullptr);
  EXPECT_FALSE(asked->was_read);
  EXPECT_FALSE(asked->first);
  const FileAccess* program = find(result, "/usr/bin/cat");
  ASSERT_NE(program, nullptr);
  EXPECT_TRUE(program->was_read) << "executed";
}

TEST_F(Tracing, TellsWhatWasWritten) {
  directory_.write("old", "1");
  directory_.write("gone", "1");
  const ProcessResult result =
      shell("echo > new; mv old moved; rm gone; ln -s moved link; mkdir made; cat link");
  ASSERT_TRUE(result.trace);
  for (const char* name : {"new", "old", "moved", "gone", "link", "made"}) {
    const FileAccess* access = find(result, name);
    ASSERT_NE(access, nullptr) << name;
    EXPECT_TRUE(access->was_written) << name;
  }
}

TEST_F(Tracing, FollowsAChangeOfDirectory) {
  fs::create_directory(directory_ / "sub");
  directory_.write("sub/inner", "1");
  directory_.write("outer", "1");
  const ProcessResult result = shell("cd sub && cat inner ../outer && cd .. && cat outer");
  ASSERT_TRUE(result.trace);
  EXPECT_EQ(find(result, "inner"), nullptr);
  const std::string real = fs::canonical(directory_.path()).string();
  const FileAccess* inner = find(result, real + "/sub/inner");
  ASSERT_NE(inner, nullptr);
  EXPECT_TRUE(inner->was_read && !inner->is_relative);
  EXPECT_NE(find(result, real + "/sub/../outer"), nullptr) << "as written";
  const FileAccess* outer = find(result, "outer");
  ASSERT_NE(outer, nullptr);
  EXPECT_TRUE(outer->is_relative);
}

TEST_F(Tracing, SeesThreadsDescriptorsAndLinks) {
  directory_.write("threaded", "1");
  directory_.write("by descriptor", "1");
  fs::create_symlink("threaded", directory_ / "link");
  const ProcessResult result = run({"/usr/bin/python3", "-S", "-c",
                                    "import os, threading\n"
                                    "t = threading.Thread(target=lambda: open('threaded').read())\n"
                                    "t.start(); t.join()\n"
                                    "d = os.open('.', os.O_RDONLY)\n"
                                    "os.close(os.open('by descriptor', os.O_RDONLY, dir_fd=d))\n"
                                    "os.readlink('link')\n"
                                    "os.listdir('.')\n"});
  ASSERT_EQ(result.exit_code, 0) << result.diagnostics;
  ASSERT_TRUE(result.trace);
  for (const char* name : {"threaded", "by descriptor", "."}) {
    ASSERT_NE(find(result, name), nullptr) << name;
    EXPECT_TRUE(find(result, name)->was_read) << name;
  }
  ASSERT_NE(find(result, "link"), nullptr);
  EXPECT_TRUE(find(result, "link")->link_was_read);
  EXPECT_FALSE(find(result, "link")->was_read);
}

TEST_F(Tracing, TellsWhatCouldNotBeFollowed) {
  EXPECT_TRUE(shell("cat /dev/null").trace->is_complete);
  const auto python = [this](const std::string& script) {
    return run({"/usr/bin/python3", "-S", "-c", script}).trace;
  };
  EXPECT_TRUE(python("import socket; socket.socket(socket.AF_UNIX).connect_ex('server')")->asked_a_server);
  EXPECT_FALSE(
      python("import socket; socket.socket(socket.AF_UNIX).connect_ex('/run/nscd/socket')")->asked_a_server);
  EXPECT_FALSE(python("import os; os.chroot('/')")->is_complete);
  EXPECT_FALSE(shell("unshare -r true; unshare -m true").trace->is_complete);
}

TEST_F(Tracing, WhatCannotBeTracedIsRunAgainWithout) {
  const ProcessResult result = run({"strace", "-f", "-o", "/dev/null", "sh", "-c", "echo out"});
  EXPECT_EQ(result.exit_code, 0) << result.diagnostics;
  EXPECT_EQ(result.output, "out\n");
  EXPECT_FALSE(result.trace->is_complete);
}

TEST_F(Tracing, LinksOfItsOwnAreSeenThrough) {
  directory_.write("real", "1");
  const ProcessResult result = shell("ln -s real link; mkdir d; ln -s .. d/up; cat link d/up/real real");
  ASSERT_TRUE(result.trace);
  const std::string real = fs::canonical(directory_ / "real").string();
  EXPECT_EQ(find(result, "link")->real, real);
  EXPECT_EQ(find(result, "d/up/real")->real, real);
}

TEST_F(Tracing, TheProcessesOwnDirectoryInProc) {
  directory_.write("file", "1");
  const ProcessResult result = shell("cat /proc/self/cwd/file");
  ASSERT_TRUE(result.trace);
  ASSERT_NE(find(result, "file"), nullptr);
  EXPECT_TRUE(find(result, "file")->is_relative);
}

TEST_F(Tracing, TellsAnIdentityFromALook) {
  directory_.write("compared", "1");
  directory_.write("looked-at", "1");
  // stat(1) asks with AT_NO_AUTOMOUNT, as identity_of() does.
  const ProcessResult result = shell("stat -L compared; [ -e looked-at ]");
  ASSERT_TRUE(result.trace);
  EXPECT_TRUE(find(result, "compared")->was_identified && find(result, "compared")->was_looked_up);
  EXPECT_TRUE(!find(result, "looked-at")->was_identified && find(result, "looked-at")->was_looked_up);
}

TEST_F(Tracing, WritesThatAreNone) {
  directory_.write("lock", "1");
  const ProcessResult result = shell("flock lock true; cat <>lock; echo >> log; : > made");
  ASSERT_TRUE(result.trace);
  EXPECT_TRUE(find(result, "lock")->was_read);
  EXPECT_TRUE(find(result, "log")->was_appended);
  EXPECT_FALSE(find(result, "made")->was_asked_first);
}

TEST_F(Tracing, KeepsWhatWasThereAtTheFirstTime) {
  directory_.write("changing", "1");
  const std::optional<FileIdentity> before = identity_of(directory_ / "changing");
  const ProcessResult result = shell("cat changing; sleep 0.05; sh -c 'echo 22 > changing'; cat changing");
  ASSERT_TRUE(result.trace);
  EXPECT_EQ(find(result, "changing")->first, before);
  EXPECT_NE(identity_of(directory_ / "changing"), before);
}

TEST_F(Tracing, PathsOfAnyLengthAndBytes) {
  const std::string odd = "a\nb\xff \"'";
  directory_.write(odd, "1");
  const std::string longest(255, 'x');
  std::string deep;
  while (deep.size() + 256 < 4000) {
    deep += longest + "/";
  }
  const ProcessResult result = run({"cat", odd, deep + "end"});
  ASSERT_TRUE(result.trace);
  ASSERT_NE(find(result, odd), nullptr);
  EXPECT_TRUE(find(result, odd)->first);
  ASSERT_NE(find(result, deep + "end"), nullptr);
  EXPECT_FALSE(find(result, deep + "end")->first);
}

TEST_F(Tracing, ALimitEndsTheTree) {
  Command command;
  command.argv = {"/bin/sh", "-c", "sh -c 'sleep 60' & sleep 60"};
  command.trace = true;
  command.limit = 300ms;
  const ProcessResult result = SystemProcessRunner().run(command);
  EXPECT_TRUE(result.timed_out);
  EXPECT_LT(result.wall, 10s);
}

TEST_F(Tracing, ALimitEndsATreeThatNeverStopsAsking) {
  Command command;
  command.argv = {"/bin/sh", "-c", "while :; do [ -e x ]; done & while :; do [ -e y ]; done"};
  command.trace = true;
  command.limit = 300ms;
  const ProcessResult result = SystemProcessRunner().run(command);
  EXPECT_TRUE(result.timed_out);
  EXPECT_LT(result.wall, 10s);
}

TEST_F(Tracing, AStoppedProcessGoesOnWhenItIsTold) {
  const ProcessResult result =
      shell("sleep 1 & kill -STOP $!; (sleep 0.1; kill -CONT $!) & wait $!; echo done");
  EXPECT_EQ(result.output, "done\n");
}

TEST_F(Tracing, SideBySide) {
  std::vector<std::jthread> threads;
  std::array<std::optional<Trace>, 4> accesses;
  for (std::size_t index = 0; index < accesses.size(); ++index) {
    const std::string name = "file" + std::to_string(index);
    directory_.write(name, "1");
    threads.emplace_back([this, name, &result = accesses[index]] { result = run({"cat", name}).trace; });
  }
  threads.clear();
  for (std::size_t index = 0; index < accesses.size(); ++index) {
    ASSERT_TRUE(accesses[index]);
    const auto is_file = [&](std::size_t other) {
      return std::any_of(
          accesses[index]->accesses.begin(), accesses[index]->accesses.end(),
          [&](const FileAccess& access) { return access.path == "file" + std::to_string(other); });
    };
    EXPECT_TRUE(is_file(index));
    EXPECT_FALSE(is_file((index + 1) % accesses.size()));
  }
}

TEST_F(Tracing, ACompilersQuestionsAreSeen) {
  directory_.write("a.cpp", "#include \"x.h\"\n#if __has_include(\"maybe.h\")\n#endif\n");
  fs::create_directory(directory_ / "inc");
  directory_.write("inc/x.h", "");
  const ProcessResult result = run({"g++", "-Iinc", "-c", "a.cpp", "-o", here("a.o")});
  ASSERT_EQ(result.exit_code, 0) << result.diagnostics;
  ASSERT_TRUE(result.trace);
  for (const char* asked : {"maybe.h", "inc/maybe.h", "x.h", "inc/x.h.gch"}) {
    ASSERT_NE(find(result, asked), nullptr) << asked;
    EXPECT_FALSE(find(result, asked)->first) << asked;
  }
  EXPECT_TRUE(find(result, "inc/x.h")->was_read);
  EXPECT_TRUE(find(result, here("a.o"))->was_written);
}

} // namespace
} // namespace dcuop
