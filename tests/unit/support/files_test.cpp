#include "dcuop/support/files.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dcuop/support/error.hpp"
#include "support/temporary_directory.hpp"

namespace dcuop {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Files : public testing::Test {
 protected:
  test::TemporaryDirectory directory_;
};

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ExitCode::environment);
    return error.what();
  }
  return "";
}

TEST_F(Files, IdentityChangesWithEveryWrite) {
  const fs::path file = directory_.write("file", "one");
  const std::optional<FileIdentity> before = identity_of(file);
  ASSERT_TRUE(before);
  EXPECT_TRUE(before->is_regular());
  EXPECT_FALSE(before->is_directory());
  EXPECT_EQ(before->size, 3U);
  EXPECT_EQ(before->owner, ::getuid());
  EXPECT_EQ(identity_of(file), before);

  ::usleep(20'000); // a tick of the file systems' clock
  directory_.write("file", "two");
  const timespec times[] = {{before->mtime_ns / 1'000'000'000, before->mtime_ns % 1'000'000'000},
                            {before->mtime_ns / 1'000'000'000, before->mtime_ns % 1'000'000'000}};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  const std::optional<FileIdentity> after = identity_of(file);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->mtime_ns, before->mtime_ns);
  EXPECT_NE(after, before) << "a restored mtime must not hide the write";
}

TEST_F(Files, IdentityFollowsLinks) {
  const fs::path file = directory_.write("file", "x");
  fs::create_symlink(file, directory_ / "link");
  EXPECT_EQ(identity_of(directory_ / "link"), identity_of(file));
  EXPECT_TRUE(identity_of(directory_.path())->is_directory());
  EXPECT_FALSE(identity_of(directory_ / "none"));
  fs::create_symlink("gone", directory_ / "dangling");
  EXPECT_FALSE(identity_of(directory_ / "dangling"));
}

TEST_F(Files, ReadsWholeFilesOfAnySize) {
  for (const std::size_t size : {0U, 1U, 4095U, 4096U, 4097U, 100'000U}) {
    const std::string content(size, 'x');
    EXPECT_EQ(read_file(directory_.write("file", content)), content);
  }
  EXPECT_EQ(read_file(directory_.write("file", std::string("a\0b", 3))), std::string("a\0b", 3));
  EXPECT_FALSE(read_file(directory_ / "none"));
  EXPECT_FALSE(read_file(directory_.path()));
}

TEST_F(Files, ReadsFilesWhoseSizeIsALie) {
  const std::optional<std::string> status = read_file("/proc/self/status");
  ASSERT_TRUE(status);
  EXPECT_THAT(*status, testing::HasSubstr("\nPid:\t" + std::to_string(::getpid()) + "\n"));
}

TEST_F(Files, DoesNotWaitForAFifo) {
  ASSERT_EQ(::mkfifo((directory_ / "fifo").c_str(), 0600), 0);
  EXPECT_FALSE(read_file(directory_ / "fifo"));
}

TEST_F(Files, ReadsPrefixes) {
  const fs::path file = directory_.write("file", "abcdef");
  EXPECT_EQ(read_file_prefix(file, 0), "");
  EXPECT_EQ(read_file_prefix(file, 4), "abcd");
  EXPECT_EQ(read_file_prefix(file, 6), "abcdef");
  EXPECT_EQ(read_file_prefix(file, 60'000), "abcdef");
}

TEST_F(Files, WritesAtomically) {
  const fs::path file = directory_ / "file";
  write_file_atomic(file, "one");
  const fs::path other = directory_ / "hard link";
  fs::create_hard_link(file, other);
  write_file_atomic(file, "two", true);
  EXPECT_EQ(read_file(file), "two");
  EXPECT_EQ(read_file(other), "one") << "written in place";
  EXPECT_THAT(list_directory(directory_.path()), ElementsAre("file", "hard link"));
}

TEST_F(Files, RespectsTheUmask) {
  const mode_t before = ::umask(027);
  write_file_atomic(directory_ / "file", "");
  ::umask(before);
  EXPECT_EQ(identity_of(directory_ / "file")->mode & 07777U, 0640U);
}

TEST_F(Files, LeavesNothingBehindWhenAWriteFails) {
  fs::create_directories(directory_ / "target/full");
  EXPECT_THAT(message_of([&] { write_file_atomic(directory_ / "target", "x"); }),
              testing::HasSubstr((directory_ / "target").string()));
  EXPECT_THAT(list_directory(directory_.path()), ElementsAre("target"));
  EXPECT_THAT(message_of([&] { write_file_atomic(directory_ / "none/file", "x"); }),
              testing::HasSubstr("No such file or directory"));
  EXPECT_FALSE(try_write_file_atomic(directory_ / "none/file", "x"));
  EXPECT_TRUE(try_write_file_atomic(directory_ / "file", "x"));
}

TEST_F(Files, SyncsFilesAndDirectories) {
  sync_path(directory_.path());
  sync_path(directory_.write("file", "x"));
  EXPECT_NE(message_of([&] { sync_path(directory_ / "none"); }), "");
}

TEST_F(Files, MakesDirectoriesWithTheModeAsked) {
  make_directories(directory_ / "a/b/c/", 0700);
  make_directories(directory_ / "a/b/c", 0700);
  EXPECT_EQ(identity_of(directory_ / "a")->mode & 07777U, 0700U);
  EXPECT_EQ(identity_of(directory_ / "a/b/c")->mode & 07777U, 0700U);
  fs::create_symlink(directory_ / "a", directory_ / "link");
  make_directories(directory_ / "link/d");
  EXPECT_TRUE(identity_of(directory_ / "a/d")->is_directory());
  make_directories("/");
}

TEST_F(Files, NamesTheDirectoryThatCouldNotBeMade) {
  directory_.write("file", "");
  EXPECT_EQ(message_of([&] { make_directories(directory_ / "file/b/c"); }),
            "cannot make the directory " + (directory_ / "file").string() + ": Not a directory");
  EXPECT_NE(message_of([] { make_directories(""); }), "");
}

TEST_F(Files, RemovesTrees) {
  directory_.write("tree/a/b/file", "x");
  directory_.write("tree/.hidden", "x");
  const fs::path kept = directory_.write("kept/file", "x");
  fs::create_directory_symlink(directory_ / "kept", directory_ / "tree/link");
  fs::create_symlink("gone", directory_ / "tree/dangling");
  fs::create_directories(directory_ / "tree/closed/inner");
  fs::permissions(directory_ / "tree/closed", fs::perms::none);
  EXPECT_THAT(remove_tree((directory_ / "tree").string() + "/"), IsEmpty());
  EXPECT_THAT(list_directory(directory_.path()), ElementsAre("kept"));
  EXPECT_TRUE(fs::exists(kept)) << "a link was followed";
  EXPECT_THAT(remove_tree(directory_ / "tree"), IsEmpty()) << "what is gone is a success";
  EXPECT_THAT(remove_tree(""), IsEmpty());
  EXPECT_THAT(remove_tree(kept), IsEmpty());
  EXPECT_FALSE(fs::exists(kept));
}

TEST_F(Files, LeavesNfsSillyRenamesToTheirClient) {
  directory_.write("tree/.nfs0000000000a1b2c300000001", "open somewhere");
  directory_.write("tree/.nfs-mine", "x");
  directory_.write("tree/b/file", "x");
  EXPECT_THAT(remove_tree(directory_ / "tree"), IsEmpty());
  EXPECT_THAT(list_directory(directory_ / "tree"), ElementsAre(".nfs0000000000a1b2c300000001"));
}

TEST_F(Files, SaysWhatCouldNotBeRemoved) {
  if (::geteuid() == 0) {
    EXPECT_THAT(remove_tree("/proc/self/status"), ElementsAre(fs::path("/proc/self/status")));
    return;
  }
  directory_.write("closed/file", "x");
  fs::permissions(directory_ / "closed", fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THAT(remove_tree(directory_ / "closed/file"), ElementsAre(directory_ / "closed/file"));
  fs::permissions(directory_ / "closed", fs::perms::owner_all);
}

TEST_F(Files, ListsSorted) {
  directory_.write("b", "");
  directory_.write("a", "");
  directory_.write(".c", "");
  EXPECT_THAT(list_directory(directory_.path()), ElementsAre(".c", "a", "b"));
  EXPECT_THAT(list_directory(directory_ / "none"), IsEmpty());
  EXPECT_THAT(list_directory(directory_ / "a"), IsEmpty());
}

TEST(Paths, AreMadeAbsoluteLexically) {
  EXPECT_EQ(absolute_from("a/../b", "/x/y"), "/x/y/b");
  EXPECT_EQ(absolute_from("../b/", "/x/y"), "/x/b");
  EXPECT_EQ(absolute_from("/a//b/./c", "/x"), "/a/b/c");
  EXPECT_EQ(absolute_from(".", "/x/y"), "/x/y");
  EXPECT_EQ(absolute_from("", "/x/y"), "/x/y");
  EXPECT_EQ(absolute_from("/", "/x"), "/");
}

TEST(Paths, LieBelowByWholeComponents) {
  EXPECT_TRUE(lies_below("/a/b/c", "/a/b"));
  EXPECT_TRUE(lies_below("/a/b", "/a/b/"));
  EXPECT_TRUE(lies_below("/a/b/../b/c", "/a/b"));
  EXPECT_TRUE(lies_below("/a", "/"));
  EXPECT_FALSE(lies_below("/a/bc", "/a/b"));
  EXPECT_FALSE(lies_below("/a/b/../c", "/a/b"));
  EXPECT_FALSE(lies_below("/a", "/a/b"));
  EXPECT_FALSE(lies_below("/a", ""));
  EXPECT_EQ(relative_below("/a/b/c/d", "/a/b"), "c/d");
  EXPECT_EQ(relative_below("/a/b", "/a/b"), ".");
  EXPECT_EQ(relative_below("/a/bc", "/a/b"), "/a/bc");
}

} // namespace
} // namespace dcuop
