#include <chrono>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>

#include "dcuop/support/memo.hpp"
#include "support/temporary_directory.hpp"

namespace dcuop {
namespace {

/// The headers of this layer: files that were not written within the last two seconds.
class SettledFiles : public testing::Test {
 protected:
  SettledFiles() {
    for (const std::string& name : list_directory(headers_)) {
      files_.push_back(headers_ / name);
    }
  }
  [[nodiscard]] const fs::path& file(std::size_t i) const { return files_.at(i); }
  [[nodiscard]] Digest content(std::size_t i) const { return digest_of(read_file(file(i)).value()); }
  /// Asks for all files.
  void learn_all(DigestMemo& memo) const {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      EXPECT_EQ(memo.digest(file(i)), content(i)) << file(i);
    }
  }

  fs::path headers_ = fs::path(DCUOP_SOURCE_DIR) / "include/dcuop/support";
  std::vector<fs::path> files_;
  test::TemporaryDirectory place_;
  fs::path memo_file_ = place_ / "deep/memo";
};

TEST_F(SettledFiles, AreRememberedAcrossProcesses) {
  DigestMemo first(memo_file_);
  learn_all(first);
  EXPECT_TRUE(first.save());
  const std::string saved = read_file(memo_file_).value();
  EXPECT_GT(saved.size(), files_.size() * 70);

  DigestMemo second(memo_file_);
  learn_all(second);
  fs::remove(memo_file_);
  EXPECT_TRUE(second.save());
  EXPECT_FALSE(fs::exists(memo_file_)) << "nothing was learnt, so that nothing is to be written";
}

TEST_F(SettledFiles, AreNotReadAgain) {
  // Planted: only a memo that trusts the identity answers with it.
  DigestMemo first(memo_file_);
  learn_all(first);
  ASSERT_TRUE(first.save());
  std::string bytes = read_file(memo_file_).value();
  const std::string real(reinterpret_cast<const char*>(content(7).bytes.data()), 16);
  const std::size_t position = bytes.find(real);
  ASSERT_NE(position, std::string::npos);
  bytes.replace(position, 16, 16, 'p');
  const std::size_t header = std::string_view("dcuop digests 1\n").size() + 8;
  const Digest checksum = digest_of(std::string_view(bytes).substr(header + 16));
  bytes.replace(header, 16, reinterpret_cast<const char*>(checksum.bytes.data()), 16);
  write_file_atomic(memo_file_, bytes);

  DigestMemo second(memo_file_);
  Digest planted;
  planted.bytes.fill('p');
  EXPECT_EQ(second.digest(file(7)), planted);
  EXPECT_EQ(second.digest(file(8)), content(8));
}

TEST_F(SettledFiles, AreReadAnewWhenChangedBehindTheMtime) {
  const fs::path changing = place_.write("changing", "one");
  std::this_thread::sleep_for(std::chrono::milliseconds(2050));
  DigestMemo memo(memo_file_);
  EXPECT_EQ(memo.digest(changing), digest_of("one"));
  ASSERT_TRUE(memo.save());
  struct stat before {};
  ASSERT_EQ(::stat(changing.c_str(), &before), 0);
  place_.write("changing", "two");
  const timespec times[] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, changing.c_str(), times, 0), 0);
  EXPECT_EQ(memo.digest(changing), digest_of("two"));
  EXPECT_EQ(DigestMemo(memo_file_).digest(changing), digest_of("two"));
  fs::remove(changing);
  EXPECT_FALSE(memo.digest(changing));
}

TEST_F(SettledFiles, CoverDirectories) {
  DigestMemo memo(memo_file_);
  Hasher names;
  names.text("kind", "directory");
  for (const fs::path& path : files_) {
    names.text("name", path.filename().string() + "/-");
  }
  EXPECT_EQ(memo.digest(headers_), names.finish());
  EXPECT_FALSE(memo.digest(headers_ / "none"));
}

TEST_F(SettledFiles, StartOverFromADamagedFile) {
  DigestMemo memo(memo_file_);
  EXPECT_EQ(memo.digest(file(0)), content(0));
  ASSERT_TRUE(memo.save());
  const std::string whole = read_file(memo_file_).value();
  const auto check = [&](const std::string& damaged, std::size_t place) {
    std::ofstream(memo_file_, std::ios::binary) << damaged;
    DigestMemo reader(memo_file_);
    EXPECT_EQ(reader.digest(file(0)), content(0)) << place;
    EXPECT_TRUE(reader.save());
    EXPECT_EQ(read_file(memo_file_)->size(), whole.size()) << "not repaired: " << place;
  };
  for (std::size_t size = 0; size < whole.size(); ++size) {
    check(whole.substr(0, size), size);
  }
  for (std::size_t position = 0; position < whole.size(); ++position) {
    std::string changed = whole;
    changed[position] = static_cast<char>(changed[position] ^ 0x80);
    check(changed, position);
  }
}

TEST_F(SettledFiles, ReadNothingBeyondACountOrLengthThatLies) {
  // A right checksum over records that are not there.
  const std::string header = "dcuop digests 1\n";
  for (const std::string& records :
       {std::string(), std::string("\xff\xff\xff\xff", 4), std::string(100, '\0')}) {
    std::string bytes = header + std::string(8, '\xff');
    const Digest checksum = digest_of(records);
    bytes.append(reinterpret_cast<const char*>(checksum.bytes.data()), 16);
    bytes += records;
    make_directories(memo_file_.parent_path());
    write_file_atomic(memo_file_, bytes);
    DigestMemo memo(memo_file_);
    EXPECT_EQ(memo.digest(file(0)), content(0));
  }
}

TEST_F(SettledFiles, KeepWhatAnotherProcessLearnt) {
  DigestMemo one(memo_file_);
  DigestMemo other(memo_file_);
  EXPECT_EQ(one.digest(file(1)), content(1));
  EXPECT_EQ(other.digest(file(2)), content(2));
  ASSERT_TRUE(one.save());
  const std::size_t size_of_one = read_file(memo_file_)->size();
  ASSERT_TRUE(other.save());
  EXPECT_GT(read_file(memo_file_)->size(), size_of_one + 70);
}

TEST_F(SettledFiles, AreAnsweredWhereNothingCanBeSaved) {
  place_.write("file", "");
  DigestMemo memo(place_ / "file/memo");
  EXPECT_EQ(memo.digest(file(3)), content(3));
  EXPECT_FALSE(memo.save());
  EXPECT_EQ(memo.digest(file(3)), content(3));
  DigestMemo nowhere{fs::path()};
  EXPECT_EQ(nowhere.digest(file(3)), content(3));
  EXPECT_FALSE(nowhere.save());
}

TEST(FreshFiles, AreNotRemembered) {
  const test::TemporaryDirectory directory;
  const fs::path file = directory.write("file", "one");
  DigestMemo memo(directory / "memo");
  EXPECT_EQ(memo.digest(file), digest_of("one"));
  EXPECT_TRUE(memo.save());
  EXPECT_FALSE(fs::exists(directory / "memo"));
}

} // namespace
} // namespace dcuop
