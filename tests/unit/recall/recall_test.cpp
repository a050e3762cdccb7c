#include "dcuop/recall/recall.h"

#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include "dcuop/recall/layout.hpp"
#include "support/temporary_directory.hpp"

namespace dcuop::recall {
namespace {

namespace fs = std::filesystem;

struct Closer {
  void operator()(dcuop_recalled* recalled) const { dcuop_recall_close(recalled); }
};
using Recalled = std::unique_ptr<dcuop_recalled, Closer>;

template <typename Number> std::string bytes_of(const Number& number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

/// As it is now.
Identity identity_of(const fs::path& path, bool follow = true) {
  struct stat status {};
  if ((follow ? ::stat : ::lstat)(path.c_str(), &status) != 0) {
    return {};
  }
  const auto ns = [](const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; };
  return {status.st_dev,      status.st_ino,      static_cast<std::uint64_t>(status.st_size),
          ns(status.st_mtim), ns(status.st_ctim), status.st_mode,
          status.st_uid};
}

std::string directory_record(const fs::path& directory) {
  return std::string(1, static_cast<char>(Kind::directory)) + directory.string() + "/" + '\0';
}

std::string record(Kind kind, const Identity& identity, const std::string& name) {
  return std::string(1, static_cast<char>(kind)) + bytes_of(identity) + name + '\0';
}

std::string content_of(const std::string& answer, std::uint32_t paths, const std::string& records) {
  const std::string rest =
      bytes_of(static_cast<std::uint32_t>(answer.size())) + answer + '\0' + bytes_of(paths) + records;
  XXH128_canonical_t digest;
  XXH128_canonicalFromHash(&digest, XXH3_128bits(rest.data(), rest.size()));
  return std::string(magic, magic_size) +
         std::string(reinterpret_cast<const char*>(digest.digest), digest_size) + rest;
}

class RecallTest : public ::testing::Test {
 protected:
  Recalled open(const std::string& content) {
    const fs::path file = base_.write("answer", content);
    ::chmod(file.c_str(), 0600);
    return Recalled(dcuop_recall_open(file.c_str()));
  }
  /// Of one path, in the directory of the test.
  Recalled with(Kind kind, const Identity& identity, const std::string& name) {
    return open(content_of("{}", 1, directory_record(base_ / "in") + record(kind, identity, name)));
  }

  test::TemporaryDirectory base_;
};

TEST_F(RecallTest, gives_the_answer_whose_paths_are_what_they_were) {
  base_.write("in/a.h", "1");
  fs::create_directory(base_ / "else");
  base_.write("else/b.h", "2");
  const Recalled recalled = open(
      content_of("{\"op\":1}", 4,
                 directory_record(base_ / "in") + record(Kind::path, identity_of(base_ / "in/a.h"), "a.h") +
                     record(Kind::path, {}, "missing.h") + directory_record(base_ / "else") +
                     record(Kind::path, identity_of(base_ / "else/b.h"), "b.h") +
                     directory_record(base_ / "nowhere") + record(Kind::path, {}, "c.h")));
  ASSERT_TRUE(recalled);
  EXPECT_STREQ(dcuop_recall_answer(recalled.get()), "{\"op\":1}");
  ASSERT_EQ(dcuop_recall_paths(recalled.get()), 4U);
  EXPECT_EQ(dcuop_recall_holds(recalled.get(), 0, 4), 1);

  base_.write("in/missing.h", "");
  EXPECT_EQ(dcuop_recall_holds(recalled.get(), 0, 4), 0);
  EXPECT_EQ(dcuop_recall_holds(recalled.get(), 0, 1), 1);
  EXPECT_EQ(dcuop_recall_holds(recalled.get(), 1, 2), 0);
  EXPECT_EQ(dcuop_recall_holds(recalled.get(), 2, 4), 1);
  fs::remove(base_ / "in/missing.h");
  base_.write("nowhere/c.h", "");
  EXPECT_EQ(dcuop_recall_holds(recalled.get(), 2, 3), 1);
  EXPECT_EQ(dcuop_recall_holds(recalled.get(), 3, 4), 0);
}

TEST_F(RecallTest, sees_each_way_in_which_a_file_becomes_another) {
  const fs::path file = base_.write("in/a.h", "1");
  const auto holds = [&](const Recalled& recalled) { return dcuop_recall_holds(recalled.get(), 0, 1) == 1; };
  for (const auto& [what, change] : std::vector<std::pair<std::string, std::function<void()>>>{
           {"size", [&] { base_.write("in/a.h", "11"); }},
           {"mode", [&] { fs::permissions(file, fs::perms::owner_all); }},
           {"mtime", [&] { fs::last_write_time(file, fs::file_time_type::min() + std::chrono::hours(1)); }},
           {"inode",
            [&] {
              base_.write("in/new", "1");
              fs::rename(base_ / "in/new", file);
            }},
           {"kind",
            [&] {
              fs::remove(file);
              fs::create_directory(file);
            }},
           {"gone", [&] { fs::remove_all(file); }},
       }) {
    const Recalled recalled = with(Kind::path, identity_of(file), "a.h");
    EXPECT_TRUE(holds(recalled)) << what;
    change();
    EXPECT_FALSE(holds(recalled)) << what;
  }
}

TEST_F(RecallTest, tells_a_link_from_what_it_leads_to) {
  base_.write("one", "1");
  base_.write("two", "1");
  fs::create_directory(base_ / "in");
  const fs::path link = base_ / "in" / "link";
  fs::create_symlink("../one", link);
  const Recalled itself = with(Kind::link, identity_of(link, false), "link");
  EXPECT_EQ(dcuop_recall_holds(itself.get(), 0, 1), 1);
  base_.write("one", "22");
  EXPECT_EQ(dcuop_recall_holds(itself.get(), 0, 1), 1);
  fs::remove(link);
  fs::create_symlink("../two", link);
  EXPECT_EQ(dcuop_recall_holds(itself.get(), 0, 1), 0);
}

TEST_F(RecallTest, names_make_another_directory_of_one_that_was_looked_at_and_not_of_one_on_the_way) {
  fs::create_directories(base_ / "in" / "way");
  Identity place = identity_of(base_ / "in/way");
  const Recalled looked_at = with(Kind::path, place, "way");
  place.size = 0;
  place.mtime_ns = place.ctime_ns = 0;
  const Recalled on_the_way = with(Kind::place, place, "way");
  ::usleep(20'000); // a tick of the file system's clock
  base_.write("in/way/new", "");
  EXPECT_EQ(dcuop_recall_holds(looked_at.get(), 0, 1), 0);
  EXPECT_EQ(dcuop_recall_holds(on_the_way.get(), 0, 1), 1);
  fs::remove_all(base_ / "in/way");
  EXPECT_EQ(dcuop_recall_holds(on_the_way.get(), 0, 1), 0);
}

TEST_F(RecallTest, a_damaged_file_is_none) {
  base_.write("in/a.h", "1");
  const std::string whole = content_of(
      "{}", 1, directory_record(base_ / "in") + record(Kind::path, identity_of(base_ / "in/a.h"), "a.h"));
  ASSERT_TRUE(open(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(open(whole.substr(0, size))) << size;
    std::string flipped = whole;
    flipped[size] = static_cast<char>(flipped[size] ^ 4);
    EXPECT_FALSE(open(flipped)) << size;
  }
  EXPECT_FALSE(open(whole + "x"));
}

TEST_F(RecallTest, a_file_that_lies_about_itself_does_not_hold) {
  const std::string one = directory_record(base_ / "in") + record(Kind::path, {}, "a.h");
  EXPECT_EQ(dcuop_recall_holds(open(content_of("{}", 2, one)).get(), 0, 2), 0);
  EXPECT_EQ(dcuop_recall_holds(open(content_of("{}", 2, one + "p")).get(), 0, 2), 0);
  EXPECT_EQ(dcuop_recall_holds(open(content_of("{}", 2, one + one.substr(0, one.size() - 1))).get(), 0, 2),
            0);
  EXPECT_EQ(dcuop_recall_holds(open(content_of("{}", 1, one + "p")).get(), 0, 1), 1);
  std::string too_long = content_of("{}", 0, "");
  too_long[magic_size + digest_size + 3] = '\x7f';
  EXPECT_FALSE(open(too_long));
}

TEST_F(RecallTest, what_others_could_have_written_is_not_read) {
  const fs::path file = base_.write("answer", content_of("{}", 0, ""));
  ::chmod(file.c_str(), 0620);
  EXPECT_EQ(dcuop_recall_open(file.c_str()), nullptr);
  ::chmod(file.c_str(), 0644);
  EXPECT_TRUE(Recalled(dcuop_recall_open(file.c_str())));
  if (::geteuid() == 0 && ::chown(file.c_str(), 65534, 65534) == 0) {
    EXPECT_EQ(dcuop_recall_open(file.c_str()), nullptr);
  }
  EXPECT_EQ(dcuop_recall_open(base_.path().c_str()), nullptr);
  EXPECT_EQ(dcuop_recall_open((base_ / "none").c_str()), nullptr);
  ASSERT_EQ(::mkfifo((base_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(dcuop_recall_open((base_ / "pipe").c_str()), nullptr);
}

} // namespace
} // namespace dcuop::recall
