#pragma once
// A directory tree of one test, with the process's working directory in it; both are put back.

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcuop/op/manifest.hpp"
#include "dcuop/support/error.hpp"

namespace dcuop::op {

class TreeTest : public ::testing::Test {
 protected:
  TreeTest() : before_(std::filesystem::current_path()) {
    std::string pattern = (std::filesystem::temp_directory_path() / "dcuop op XXXXXX").string();
    top_ = std::filesystem::canonical(mkdtemp(pattern.data()));
    std::filesystem::current_path(top_);
  }
  ~TreeTest() override {
    std::error_code error;
    std::filesystem::current_path(before_, error);
    std::filesystem::remove_all(top_, error);
  }

  [[nodiscard]] const std::filesystem::path& top() const { return top_; }

  std::filesystem::path write(const std::filesystem::path& name, const std::string& content = {}) const {
    const std::filesystem::path path = top_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  /// An op with one C++ source.
  std::filesystem::path write_op(const std::filesystem::path& directory, const std::string& more = {}) const {
    write(directory / "a.cpp");
    return write(directory / "dcuop.toml", "[build]\nsources = [\"a.cpp\"]\n" + more);
  }

  std::filesystem::path before_, top_;
};

/// "message | hint" of the usage error that `action` ends in.
template <typename Action> std::string fault_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ExitCode::usage);
    return error.hint.empty() ? error.what() : std::string(error.what()) + " | " + error.hint;
  }
  return "no error";
}

} // namespace dcuop::op
