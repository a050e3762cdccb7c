#pragma once
// A machine made of a temporary directory, an environment, and a process runner that plays a part.

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dcuop/probe/machine.hpp"

namespace dcuop::probe::testing {

namespace fs = std::filesystem;

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (fs::temp_directory_path() / "dcuop-probe-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

inline void write(const fs::path& path, const std::string& content) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

inline void make_executable(const fs::path& path) {
  fs::permissions(path, fs::perms::owner_all | fs::perms::group_read | fs::perms::others_read);
}

/// Answers with what `reply` says, and keeps what it was asked.
class FakeRunner : public ProcessRunner {
 public:
  ProcessResult run(const Command& command) override {
    commands.push_back(command);
    return reply(command);
  }
  std::function<ProcessResult(const Command&)> reply = [](const Command&) { return ProcessResult{}; };
  std::vector<Command> commands;
};

inline ProcessResult printed(std::string output, int exit_code = 0) {
  ProcessResult result;
  result.exit_code = exit_code;
  result.output = std::move(output);
  return result;
}

/// Root, working directory and memos lie in one temporary directory.
class MachineTest : public ::testing::Test {
 protected:
  [[nodiscard]] Machine machine(ProcessRunner& processes) {
    return {processes, environment, memos, work, root};
  }
  [[nodiscard]] Machine machine() { return machine(runner); }

  TemporaryDirectory directory;
  fs::path root = directory.path() / "root";
  fs::path work = directory.path() / "work";
  MemoStore memos{directory.path() / "memos"};
  Environment environment;
  FakeRunner runner;

  void SetUp() override {
    fs::create_directories(root);
    fs::create_directories(work);
  }
};

} // namespace dcuop::probe::testing
