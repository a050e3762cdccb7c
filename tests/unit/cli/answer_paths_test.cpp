#include "../../../src/cli/answer_paths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcuop/recall/recall.h"
#include "dcuop/support/digest.hpp"
#include "support/temporary_directory.hpp"

namespace dcuop::cli {
namespace {

class AnswerPathsTest : public ::testing::Test {
 protected:
  AnswerPathsTest() { paths_.emplace(base_.path(), start_, std::vector<fs::path>{base_ / "cache" / "use"}); }

  static FileAccess access_to(const fs::path& path, bool read) {
    FileAccess access;
    access.path = path.string();
    access.was_looked_up = !read;
    access.was_read = read;
    access.was_asked_first = true;
    access.first = identity_of(path);
    return access;
  }

  /// Whether what was added is still so, as libdcuop_recall.so sees it.
  bool holds() {
    const std::uint32_t size = 2;
    const std::string rest =
        std::string(reinterpret_cast<const char*>(&size), sizeof size) + "{}" + '\0' + paths_->records();
    const Digest digest = digest_of(rest);
    base_.write("answer", std::string(recall::magic, recall::magic_size) +
                              std::string(digest.bytes.begin(), digest.bytes.end()) + rest);
    fs::permissions(base_ / "answer", fs::perms::owner_read | fs::perms::owner_write);
    dcuop_recalled* const recalled = dcuop_recall_open((base_ / "answer").c_str());
    EXPECT_NE(recalled, nullptr);
    const bool holds =
        recalled != nullptr && dcuop_recall_holds(recalled, 0, dcuop_recall_paths(recalled)) == 1;
    dcuop_recall_close(recalled);
    return holds;
  }

  static constexpr std::int64_t start_ = std::int64_t{4'000'000'000} * 1'000'000'000; // all rests since long
  test::TemporaryDirectory base_;
  std::optional<AnswerPaths> paths_;
};

TEST_F(AnswerPathsTest, a_file_and_one_that_is_missing) {
  const fs::path file = base_.write("in/a.h", "1");
  paths_->add(access_to(file, true));
  paths_->add(access_to(base_ / "in" / "b.h", false));
  EXPECT_TRUE(holds());
  base_.write("in/b.h", "");
  EXPECT_FALSE(holds());
  fs::remove(base_ / "in/b.h");
  EXPECT_TRUE(holds());
  base_.write("in/a.h", "12");
  EXPECT_FALSE(holds());
}

TEST_F(AnswerPathsTest, a_link_takes_the_place_of_what_it_leads_to) {
  const fs::path file = base_.write("in/a.h", "1");
  for (const fs::path& path : {base_ / "in", file}) {
    FileAccess access = access_to(path, false);
    for (const bool link_was_read : {false, true}) {
      access.link_was_read = link_was_read;
      paths_.emplace(base_.path(), start_, std::vector<fs::path>{});
      paths_->add(access);
      ASSERT_TRUE(holds());
      fs::rename(path, base_ / "moved");
      fs::create_symlink(base_ / "moved", path);
      // A rename is a change of a file's ctime.
      EXPECT_EQ(holds(), !link_was_read && fs::is_directory(path)) << path;
      fs::remove(path);
      fs::rename(base_ / "moved", path);
      access.first = identity_of(path);
    }
  }
}

TEST_F(AnswerPathsTest, a_link_that_leads_nowhere_is_no_missing_file) {
  fs::create_directory(base_ / "in");
  FileAccess access = access_to(base_ / "in" / "a.h", false);
  access.link_was_read = true;
  paths_->add(access);
  ASSERT_TRUE(holds());
  fs::create_symlink(base_ / "nowhere", base_ / "in" / "a.h");
  EXPECT_FALSE(holds());
}

TEST_F(AnswerPathsTest, a_relative_path_is_taken_from_where_the_process_ran) {
  base_.write("in/a.h", "1");
  FileAccess access = access_to(base_ / "in/a.h", true);
  access.path = "in/a.h";
  access.is_relative = true;
  paths_->add(access);
  EXPECT_TRUE(holds());
  base_.write("in/a.h", "12");
  EXPECT_FALSE(holds());
}

TEST_F(AnswerPathsTest, a_directory_may_get_names_unless_it_was_listed_or_compared) {
  const fs::path directory = base_ / "in";
  fs::create_directories(directory);
  FileAccess access = access_to(directory, false);
  paths_->add(access);
  base_.write("in/new", "");
  EXPECT_TRUE(holds());

  access = access_to(directory, false);
  access.was_identified = true;
  paths_->add(access);
  EXPECT_TRUE(holds());
  base_.write("in/newer", "");
  EXPECT_FALSE(holds());
}

TEST_F(AnswerPathsTest, a_link_must_lead_where_it_led) {
  base_.write("one/a.h", "1");
  base_.write("two/a.h", "1");
  fs::create_directory_symlink("one", base_ / "current");
  FileAccess access = access_to(base_ / "current", false);
  access.link_was_read = true;
  paths_->add(access);
  EXPECT_TRUE(holds());
  fs::remove(base_ / "current");
  fs::create_directory_symlink("two", base_ / "current");
  EXPECT_FALSE(holds());
}

TEST_F(AnswerPathsTest, the_root_and_a_slash_at_the_end_have_names) {
  fs::create_directories(base_ / "in");
  paths_->add(access_to("/", false));
  FileAccess access = access_to(base_ / "in", false);
  access.path += "/";
  paths_->add(access);
  EXPECT_TRUE(holds());
  fs::remove_all(base_ / "in");
  EXPECT_FALSE(holds());
}

TEST_F(AnswerPathsTest, what_hits_write_themselves_is_no_dependency) {
  const fs::path stamp = base_.write("cache/use/e1", "");
  paths_->add(access_to(stamp, false));
  FileAccess written = access_to(base_ / "cache" / "tally", false);
  written.was_written = true;
  written.was_asked_first = false;
  paths_->add(written);
  base_.write("cache/tally", "");
  base_.write("cache/use/e1", "x");
  EXPECT_TRUE(holds());
}

TEST_F(AnswerPathsTest, what_changed_just_now_is_not_settled) {
  const fs::path file = base_.write("in/a.h", "1");
  EXPECT_TRUE(paths_->are_settled());
  paths_->add(access_to(file, true));
  EXPECT_TRUE(paths_->are_settled());
  const std::int64_t now = identity_of(file)->ctime_ns + 1;
  AnswerPaths fresh(base_.path(), now, {});
  fresh.add(access_to(file, true));
  EXPECT_FALSE(fresh.are_settled());
}

TEST_F(AnswerPathsTest, files_of_the_kernel_are_kept_by_what_they_say) {
  paths_->add(access_to("/proc/sys/kernel/ostype", true));
  paths_->add(access_to("/proc/sys/kernel/no-such-file", false));
  paths_->add(access_to("/sys/kernel", false));
  FileAccess self = access_to("/proc/self/exe", false);
  self.link_was_read = true;
  paths_->add(self);
  const nlohmann::json expected = {{"/proc/sys/kernel/ostype", "Linux\n"},
                                   {"/proc/sys/kernel/no-such-file", nullptr},
                                   {"/sys/kernel", true}};
  EXPECT_EQ(paths_->kernel_files(), expected);
  EXPECT_THROW(paths_->add(access_to("/proc/self/status", true)), NotComparable);
  EXPECT_THROW(paths_->add(access_to("/proc/" + std::to_string(::getpid()) + "/maps", true)), NotComparable);
}

} // namespace
} // namespace dcuop::cli
