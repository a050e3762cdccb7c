#include "dcuop/support/memo.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "support/temporary_directory.hpp"

namespace dcuop {
namespace {

/// Writes other bytes of the same length, and puts the old mtime back.
void edit_behind_the_mtime(const fs::path& file, std::string_view content) {
  struct stat before {};
  ASSERT_EQ(::stat(file.c_str(), &before), 0);
  std::ofstream(file, std::ios::binary) << content;
  const timespec times[] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
}

/// Long enough that what was written before is settled.
void let_files_settle() {
  std::this_thread::sleep_for(std::chrono::milliseconds(2050));
}

class Memo : public testing::Test {
 protected:
  /// What a recall answers now; the answer is the number of times that it was asked.
  std::string recall(std::vector<fs::path> witnesses) {
    return MemoStore(store_).recall("probe", digest_of("question"), [&] {
      ++asked_;
      return Answer{std::to_string(asked_), std::move(witnesses)};
    });
  }
  [[nodiscard]] fs::path memo_file() const { return store_ / list_directory(store_).at(0); }

  test::TemporaryDirectory directory_;
  fs::path store_ = directory_ / "deep/store";
  int asked_ = 0;
};

TEST_F(Memo, AnswersOnceWhileItsWitnessesHold) {
  const fs::path file = directory_.write("file", "one");
  EXPECT_EQ(recall({file, directory_ / "none"}), "1");
  EXPECT_EQ(recall({file, directory_ / "none"}), "1");
  EXPECT_EQ(asked_, 1);
}

TEST_F(Memo, SeesAnEditThatKeepsSizeAndMtime) {
  const fs::path first = directory_.write("first", "one");
  const fs::path second = directory_.write("second", "two");
  EXPECT_EQ(recall({first, second}), "1");
  edit_behind_the_mtime(second, "TWO");
  EXPECT_EQ(recall({first, second}), "2");
  EXPECT_EQ(recall({first, second}), "2");
}

TEST_F(Memo, HoldsWhenAFileIsTouchedOrReplacedByItsEqual) {
  const fs::path file = directory_.write("file", "one");
  EXPECT_EQ(recall({file}), "1");
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(5));
  EXPECT_EQ(recall({file}), "1");
  fs::remove(file);
  directory_.write("file", "one");
  EXPECT_EQ(recall({file}), "1");
}

TEST_F(Memo, SeesWhatAppearsAndDisappears) {
  const fs::path file = directory_.write("file", "one");
  EXPECT_EQ(recall({directory_ / "absent"}), "1");
  directory_.write("absent", "");
  EXPECT_EQ(recall({directory_ / "absent", file}), "2");
  fs::remove(file);
  EXPECT_EQ(recall({file}), "3");
  EXPECT_EQ(recall({file}), "3");
}

TEST_F(Memo, SeesNamesInADirectory) {
  directory_.write("dir/a", "");
  EXPECT_EQ(recall({directory_ / "dir"}), "1");
  directory_.write("dir/a", "other content");
  EXPECT_EQ(recall({directory_ / "dir"}), "1");
  directory_.write("dir/b", "");
  EXPECT_EQ(recall({directory_ / "dir"}), "2");
  fs::rename(directory_ / "dir/b", directory_ / "dir/c");
  EXPECT_EQ(recall({directory_ / "dir"}), "3");
}

TEST_F(Memo, SeesAChangeOfModeAndOfKind) {
  const fs::path file = directory_.write("file", "");
  EXPECT_EQ(recall({file}), "1");
  fs::permissions(file, fs::perms::owner_exec, fs::perm_options::add);
  EXPECT_EQ(recall({file}), "2");
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_EQ(recall({file}), "3");
}

TEST_F(Memo, SeesAFileThatIsMadeUpByTheKernel) {
  const fs::path file = "/proc/self/comm";
  const std::string before = read_file(file).value();
  EXPECT_EQ(recall({file}), "1");
  EXPECT_EQ(recall({file}), "1");
  std::ofstream(file) << "other";
  EXPECT_EQ(recall({file}), "2");
  std::ofstream(file) << before;
}

TEST_F(Memo, DoesNotRememberWhatChangedWhileItWasAsked) {
  const fs::path file = directory_.write("file", "one");
  const MemoStore store(store_);
  const auto ask = [&] {
    ++asked_;
    const std::string seen = read_file(file).value();
    if (asked_ == 1) {
      directory_.write("file", "two");
    }
    return Answer{seen, {file}};
  };
  EXPECT_EQ(store.recall("probe", Digest(), ask), "one");
  EXPECT_EQ(store.recall("probe", Digest(), ask), "two");
  EXPECT_EQ(store.recall("probe", Digest(), ask), "two");
  EXPECT_EQ(asked_, 2);
}

TEST_F(Memo, TrustsIdentityOnlyOfWhatHasSettled) {
  const fs::path file = directory_.write("file", "one");
  EXPECT_FALSE(witness_of(file).settled);
  EXPECT_EQ(recall({file}), "1");
  const std::string fresh = read_file(memo_file()).value();
  EXPECT_EQ(recall({file}), "1");
  EXPECT_EQ(read_file(memo_file()), fresh) << "still too fresh for better knowledge";
  let_files_settle();
  EXPECT_TRUE(witness_of(file).settled);
  EXPECT_EQ(recall({file}), "1");
  EXPECT_NE(read_file(memo_file()), fresh) << "read again each time";
  // An unreadable witness shows that identity alone answers now; root reads everything.
  const std::string renewed = read_file(memo_file()).value();
  EXPECT_EQ(recall({file}), "1");
  EXPECT_EQ(read_file(memo_file()), renewed);
}

TEST_F(Memo, KeepsQuestionsAndSubjectsApart) {
  const MemoStore store(store_);
  const auto answer = [](std::string value) { return [value] { return Answer{value, {}}; }; };
  EXPECT_EQ(store.recall("a", digest_of("1"), answer("a1")), "a1");
  EXPECT_EQ(store.recall("a", digest_of("2"), answer("a2")), "a2");
  EXPECT_EQ(store.recall("b", digest_of("1"), answer("b1")), "b1");
  EXPECT_EQ(store.recall("a", digest_of("1"), answer("no")), "a1");
  EXPECT_EQ(store.recall("b", digest_of("1"), answer("no")), "b1");
}

TEST_F(Memo, RemembersNothingOfAFailure) {
  const MemoStore store(store_);
  EXPECT_THROW(
      static_cast<void>(store.recall("a", Digest(), []() -> Answer { throw std::runtime_error("x"); })),
      std::runtime_error);
  EXPECT_EQ(store.recall("a", Digest(), [] { return Answer{"fine", {}}; }), "fine");
}

TEST_F(Memo, WorksWithoutAPlaceToRemember) {
  int asked = 0;
  const auto ask = [&] { return Answer{std::to_string(++asked), {}}; };
  directory_.write("file", "");
  for (const fs::path& place : {fs::path(), directory_ / "file/below", fs::path("/proc/none")}) {
    const MemoStore store(place);
    const int before = asked;
    static_cast<void>(store.recall("a", Digest(), ask));
    static_cast<void>(store.recall("a", Digest(), ask));
    EXPECT_EQ(asked, before + 2) << place;
  }
}

TEST_F(Memo, RemembersBytesThatAreNoUtf8) {
  const MemoStore store(store_);
  const auto ask = [&] {
    ++asked_;
    return Answer{"\xff%41é", {}};
  };
  EXPECT_EQ(store.recall("a", Digest(), ask), "\xff%41é");
  EXPECT_EQ(store.recall("a", Digest(), ask), "\xff%41é");
  EXPECT_EQ(asked_, 1);
}

TEST_F(Memo, AsksAgainWhenTheFileIsDamagedAnywhere) {
  recall({});
  const fs::path memo = memo_file();
  const std::string whole = read_file(memo).value();
  const auto is_believed = [&](const std::string& content) {
    std::ofstream(memo, std::ios::binary) << content;
    const int before = asked_;
    recall({});
    return asked_ == before;
  };
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(is_believed(whole.substr(0, size))) << size;
  }
  for (std::size_t position = 0; position < whole.size(); position += 7) {
    std::string changed = whole;
    changed[position] = static_cast<char>(changed[position] ^ 1);
    EXPECT_FALSE(is_believed(changed)) << position;
  }
  EXPECT_FALSE(is_believed(whole + "\n"));
  EXPECT_FALSE(is_believed(digest_of("{}").hex() + "\n{}"));
  EXPECT_FALSE(is_believed(digest_of("7").hex() + "\n7"));
  EXPECT_TRUE(is_believed(whole));
}

TEST(Witness, DescribesWhatIsThere) {
  const test::TemporaryDirectory directory;
  const Witness none = witness_of(directory / "none");
  EXPECT_FALSE(none.identity);
  EXPECT_FALSE(none.content);
  const Witness file = witness_of(directory.write("file", "abc"));
  EXPECT_EQ(file.content, digest_of("abc"));
  EXPECT_EQ(file.identity, identity_of(directory / "file"));
  EXPECT_EQ(witness_of(directory.path()).content,
            Hasher().text("kind", "directory").text("name", "file/-").finish());
  fs::create_directory(directory / "empty");
  EXPECT_NE(witness_of(directory / "empty").content, witness_of(directory.write("empty file", "")).content);
  EXPECT_TRUE(witness_of("/dev/null").identity);
  EXPECT_FALSE(witness_of("/dev/null").content);
}

class Identities : public testing::Test {
 protected:
  void remember(const std::vector<fs::path>& paths) {
    memo_.look_at(paths);
    memo_.remember("the value");
  }
  test::TemporaryDirectory directory_;
  fs::path file_ = directory_ / "memo/identities";
  IdentityMemo memo_{file_, digest_of("question")};
};

TEST_F(Identities, HoldWhileEachPathIsWhatItWas) {
  const fs::path first = directory_.write("first", "one");
  const fs::path second = directory_.write("second", "two");
  const fs::path none = directory_ / "none";
  fs::create_directory(directory_ / "listed");
  let_files_settle();
  const std::vector<fs::path> paths = {first, second, none, directory_ / "listed"};
  remember(paths);
  EXPECT_EQ(memo_.recall(), "the value");
  EXPECT_EQ(IdentityMemo(file_, digest_of("question")).recall(), "the value");
  EXPECT_EQ(IdentityMemo(file_, digest_of("another")).recall(), std::nullopt);

  edit_behind_the_mtime(second, "TWO");
  EXPECT_EQ(memo_.recall(), std::nullopt);
  let_files_settle();
  remember(paths);
  EXPECT_EQ(memo_.recall(), "the value");
  directory_.write("none", "appears");
  EXPECT_EQ(memo_.recall(), std::nullopt);
  fs::remove(none);
  EXPECT_EQ(memo_.recall(), "the value");
  directory_.write("listed/name", "");
  EXPECT_EQ(memo_.recall(), std::nullopt);
}

TEST_F(Identities, OfWhatHasNotSettledAreNotTrusted) {
  remember({directory_.write("fresh", "one")});
  EXPECT_EQ(memo_.recall(), std::nullopt);
  remember({"/proc/self/status"});
  EXPECT_EQ(memo_.recall(), std::nullopt);
  memo_.remember("without a look");
  EXPECT_EQ(memo_.recall(), std::nullopt);
}

TEST_F(Identities, OfADamagedFileAreNone) {
  const fs::path first = directory_.write("first", "one");
  let_files_settle();
  remember({first, directory_ / "none"});
  ASSERT_EQ(memo_.recall(), "the value");
  const std::string whole = read_file(file_).value_or("");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(file_, std::ios::binary) << whole.substr(0, size);
    EXPECT_EQ(memo_.recall(), std::nullopt) << size;
    std::string flipped = whole;
    flipped[size] = static_cast<char>(flipped[size] ^ 1);
    std::ofstream(file_, std::ios::binary) << flipped;
    EXPECT_EQ(memo_.recall(), std::nullopt) << size;
  }
}

} // namespace
} // namespace dcuop
