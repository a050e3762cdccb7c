#include "dcuop/support/lock.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "support/temporary_directory.hpp"

namespace dcuop {
namespace {

using Mode = FileLock::Mode;

class Lock : public testing::Test {
 protected:
  [[nodiscard]] std::optional<FileLock> take(std::uint64_t offset, Mode mode) const {
    return FileLock::try_acquire(file_, offset, mode);
  }
  /// Whether another process could take it.
  [[nodiscard]] bool is_free_elsewhere(std::uint64_t offset, Mode mode) const {
    const pid_t child = ::fork();
    if (child == 0) {
      ::_exit(take(offset, mode) ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return status == 0;
  }

  test::TemporaryDirectory directory_;
  fs::path file_ = directory_ / "lock";
};

TEST_F(Lock, ExcludesWithinOneProcess) {
  const std::optional<FileLock> first = take(7, Mode::exclusive);
  ASSERT_TRUE(first);
  EXPECT_FALSE(take(7, Mode::exclusive));
  EXPECT_FALSE(take(7, Mode::shared));
  EXPECT_TRUE(take(6, Mode::exclusive));
  EXPECT_TRUE(take(8, Mode::exclusive));
}

TEST_F(Lock, IsNotLostWhenAnotherDescriptorOfTheFileCloses) {
  // A POSIX record lock would be gone now.
  const std::optional<FileLock> lock = take(0, Mode::exclusive);
  static_cast<void>(read_file(file_));
  static_cast<void>(take(1, Mode::exclusive));
  EXPECT_FALSE(is_free_elsewhere(0, Mode::exclusive));
}

TEST_F(Lock, IsSharedAmongReaders) {
  std::optional<FileLock> first = take(0, Mode::shared);
  std::optional<FileLock> second = take(0, Mode::shared);
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  EXPECT_TRUE(is_free_elsewhere(0, Mode::shared));
  EXPECT_FALSE(is_free_elsewhere(0, Mode::exclusive));
  first.reset();
  EXPECT_FALSE(is_free_elsewhere(0, Mode::exclusive));
  second.reset();
  EXPECT_TRUE(is_free_elsewhere(0, Mode::exclusive));
}

TEST_F(Lock, EndsWithItsHolderThoughAForkStillHasTheDescriptor) {
  std::optional<FileLock> lock = take(3, Mode::exclusive);
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(gate[1]);
    char byte = 0;
    static_cast<void>(::read(gate[0], &byte, 1));
    ::_exit(0);
  }
  EXPECT_FALSE(is_free_elsewhere(3, Mode::exclusive));
  lock.reset();
  EXPECT_TRUE(take(3, Mode::exclusive));
  ::close(gate[0]);
  ::close(gate[1]);
  ::waitpid(child, nullptr, 0);
}

TEST_F(Lock, EndsWhenItsHolderIsKilled) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::optional<FileLock> lock = take(5, Mode::exclusive);
    static_cast<void>(::write(ready[1], lock ? "y" : "n", 1));
    ::pause();
    ::_exit(0);
  }
  char answer = 0;
  ASSERT_EQ(::read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_FALSE(take(5, Mode::exclusive));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(take(5, Mode::exclusive));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(Lock, MovesWithItsObject) {
  std::optional<FileLock> zero = take(0, Mode::exclusive);
  std::optional<FileLock> one = take(1, Mode::exclusive);
  ASSERT_TRUE(zero);
  ASSERT_TRUE(one);
  *zero = std::move(*one);
  EXPECT_TRUE(take(0, Mode::exclusive)) << "the lock that was assigned over is still held";
  EXPECT_FALSE(take(1, Mode::exclusive));
  one.reset();
  EXPECT_FALSE(take(1, Mode::exclusive));
  const FileLock moved(std::move(*zero));
  zero.reset();
  EXPECT_FALSE(take(1, Mode::exclusive));
}

TEST_F(Lock, MakesAPrivateFileAndDoesNotGiveItToChildren) {
  const std::optional<FileLock> lock = take(0, Mode::exclusive);
  EXPECT_EQ(identity_of(file_)->mode & 07777U, 0600U);
  EXPECT_EQ(identity_of(file_)->size, 0U);
  bool seen = false;
  for (const std::string& name : list_directory("/proc/self/fd")) {
    std::error_code ignored;
    if (fs::read_symlink("/proc/self/fd/" + name, ignored) == file_) {
      seen = true;
      EXPECT_NE(::fcntl(std::stoi(name), F_GETFD) & FD_CLOEXEC, 0);
    }
  }
  EXPECT_TRUE(seen);
}

TEST_F(Lock, OfAFileThatCannotBeOpenedIsAnError) {
  EXPECT_THROW(static_cast<void>(FileLock::try_acquire(directory_ / "none/lock", 0, Mode::exclusive)), Error);
  EXPECT_THROW(static_cast<void>(FileLock::try_acquire(directory_ / "none/lock", 0, Mode::shared)), Error);
}

TEST_F(Lock, CanBeSharedOnAFileThatMayOnlyBeRead) {
  directory_.write("lock", "");
  fs::permissions(file_, fs::perms::owner_read);
  EXPECT_TRUE(take(0, Mode::shared));
  if (::geteuid() != 0) {
    EXPECT_THROW(static_cast<void>(take(0, Mode::exclusive)), Error);
  }
}

} // namespace
} // namespace dcuop
