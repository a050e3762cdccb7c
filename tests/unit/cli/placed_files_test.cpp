// The files of a new directory: all of them or none.

#include "../../../src/cli/placed_files.hpp"

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"

namespace dcuop::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PlacedFilesTest : public ::testing::Test {
 protected:
  PlacedFilesTest() {
    std::string pattern = (fs::temp_directory_path() / "dcuop-placed-XXXXXX").string();
    top_ = mkdtemp(pattern.data());
  }
  ~PlacedFilesTest() override { (void)remove_tree(top_); }
  PlacedFilesTest(const PlacedFilesTest&) = delete;
  PlacedFilesTest& operator=(const PlacedFilesTest&) = delete;

  void write(const fs::path& path, const std::string& text) const {
    fs::create_directories((top_ / path).parent_path());
    std::ofstream(top_ / path) << text;
  }
  [[nodiscard]] std::string text(const fs::path& path) const {
    return read_file(top_ / path).value_or("nothing");
  }
  [[nodiscard]] std::string fault(const fs::path& path, const std::vector<op::NewFile>& files, bool overwrite,
                                  ExitCode code) const {
    try {
      place_files(top_ / path, files, overwrite);
    } catch (const Error& error) {
      EXPECT_EQ(error.code, code);
      return error.what();
    }
    return "no error";
  }

  fs::path top_;
  const std::vector<op::NewFile> files_ = {{"a", "1"}, {"b", "2"}};
};

TEST_F(PlacedFilesTest, DirectoriesAreMadeOnTheWay) {
  place_files(top_ / "x/y/op", files_, false);
  EXPECT_THAT(list_directory(top_ / "x/y"), ElementsAre("op"));
  EXPECT_THAT(list_directory(top_ / "x/y/op"), ElementsAre("a", "b"));
  EXPECT_EQ(text("x/y/op/b"), "2");
}

TEST_F(PlacedFilesTest, AnEmptyDirectoryIsFilled) {
  fs::create_directory(top_ / "op");
  place_files(top_ / "op", files_, false);
  EXPECT_THAT(list_directory(top_ / "op"), ElementsAre("a", "b"));
}

TEST_F(PlacedFilesTest, WhatIsThereStays) {
  write("op/b", "mine");
  EXPECT_THAT(fault("op", files_, false, ExitCode::usage), HasSubstr("exists and is not empty"));
  EXPECT_THAT(list_directory(top_ / "op"), ElementsAre("b"));
  EXPECT_EQ(text("op/b"), "mine");
  write("file", "");
  EXPECT_THAT(fault("file", files_, true, ExitCode::usage), HasSubstr("is no directory"));
}

TEST_F(PlacedFilesTest, OnlyFilesOfTheSameNamesAreReplaced) {
  write("op/b", "mine");
  write("op/c", "mine too");
  place_files(top_ / "op", files_, true);
  EXPECT_THAT(list_directory(top_ / "op"), ElementsAre("a", "b", "c"));
  EXPECT_EQ(text("op/b"), "2");
  EXPECT_EQ(text("op/c"), "mine too");
}

TEST_F(PlacedFilesTest, ADirectoryIsNotReplacedByAFile) {
  write("op/b/deep", "mine");
  EXPECT_THAT(fault("op", files_, true, ExitCode::usage), HasSubstr("b is a directory"));
  EXPECT_THAT(list_directory(top_ / "op"), ElementsAre("b"));
  EXPECT_EQ(text("op/b/deep"), "mine");
}

TEST_F(PlacedFilesTest, AFailureHalfWayLeavesNothing) {
  const std::vector<op::NewFile> broken = {{"a", "1"}, {"no/such/directory", "2"}};
  EXPECT_THAT(fault("x/y/op", broken, false, ExitCode::environment), HasSubstr("cannot write"));
  EXPECT_THAT(list_directory(top_), IsEmpty());
  fs::create_directory(top_ / "x");
  EXPECT_THAT(fault("x/y/op", broken, false, ExitCode::environment), HasSubstr("cannot write"));
  EXPECT_THAT(list_directory(top_), ElementsAre("x"));
  EXPECT_THAT(list_directory(top_ / "x"), IsEmpty());
}

TEST_F(PlacedFilesTest, AFailureHalfWayGivesBackWhatWasReplaced) {
  write("op/a", "mine");
  // The second "a" is not there any more when it is to be moved.
  const std::vector<op::NewFile> broken = {{"a", "1"}, {"b", "2"}, {"a", "3"}};
  EXPECT_THAT(fault("op", broken, true, ExitCode::environment), HasSubstr("cannot write"));
  EXPECT_THAT(list_directory(top_ / "op"), ElementsAre("a"));
  EXPECT_EQ(text("op/a"), "mine");
}

TEST_F(PlacedFilesTest, WhereNothingCanBeMadeIsSaid) {
  write("file", "");
  EXPECT_THAT(fault("file/op", files_, false, ExitCode::environment), HasSubstr("file"));
  // Of the kernel's: for root too.
  try {
    place_files("/proc/dcuop_op", files_, false);
    FAIL() << "made something in /proc";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ExitCode::environment);
    EXPECT_THAT(error.what(), HasSubstr("/proc/dcuop_op"));
  }
}

} // namespace
} // namespace dcuop::cli
