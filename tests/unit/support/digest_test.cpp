#include "dcuop/support/digest.hpp"

#include <gtest/gtest.h>
#include <set>

#include "support/temporary_directory.hpp"

namespace dcuop {
namespace {

TEST(Digest, IsXxh3InCanonicalByteOrder) {
  // xxhsum -H2 (xxHash 0.8.1) of no bytes, and of "abc".
  EXPECT_EQ(digest_of("").hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(digest_of("abc").hex(), "06b05ab6733a618578af5f94892f3950");
}

TEST(Digest, HexRoundTripsAndRefusesTheRest) {
  const Digest digest = digest_of("x");
  EXPECT_EQ(Digest::from_hex(digest.hex()), digest);
  EXPECT_FALSE(Digest::from_hex(""));
  EXPECT_FALSE(Digest::from_hex(digest.hex().substr(1)));
  EXPECT_FALSE(Digest::from_hex(digest.hex() + "0"));
  std::string bad = digest.hex();
  bad[31] = 'g';
  EXPECT_FALSE(Digest::from_hex(bad));
  bad[31] = 'A';
  EXPECT_FALSE(Digest::from_hex(bad)) << "upper case is another spelling of the same name";
}

TEST(Hasher, FieldsDoNotRunIntoEachOther) {
  std::set<Digest> seen;
  seen.insert(Hasher().finish());
  seen.insert(Hasher().text("ab", "c").finish());
  seen.insert(Hasher().text("a", "bc").finish());
  seen.insert(Hasher().text("abc", "").finish());
  seen.insert(Hasher().text("", "abc").finish());
  seen.insert(Hasher().text("a", "b").text("c", "").finish());
  seen.insert(Hasher().text("a", "").text("b", "c").finish());
  seen.insert(Hasher().text("c", "").text("a", "b").finish());
  seen.insert(Hasher().text("a", "").finish());
  seen.insert(Hasher().number("a", 0).finish());
  seen.insert(Hasher().number("a", 1).finish());
  seen.insert(Hasher().number("a", std::uint64_t{1} << 63).finish());
  seen.insert(Hasher().text("a", std::string(8, '\0')).finish());
  seen.insert(Hasher().digest("a", Digest()).finish());
  seen.insert(Hasher().text("a", std::string(16, '\0')).finish());
  EXPECT_EQ(seen.size(), 15U);
}

TEST(Hasher, IsStableAcrossVersions) {
  // A change here makes every cache start over.
  EXPECT_EQ(Hasher().text("name", "value").number("n", 7).digest("d", digest_of("")).finish().hex(),
            Hasher()
                .raw(std::string("t\x04\0\0\0\0\0\0\0name\x05\0\0\0\0\0\0\0value", 26))
                .raw(std::string("n\x01\0\0\0\0\0\0\0n\0\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0", 26))
                .raw(std::string("d\x01\0\0\0\0\0\0\0d\x10\0\0\0\0\0\0\0", 18))
                .raw(std::string_view(reinterpret_cast<const char*>(digest_of("").bytes.data()), 16))
                .finish()
                .hex());
}

TEST(Hasher, CanBeMovedAndAskedTwice) {
  Hasher first;
  first.text("a", "b");
  Hasher second = std::move(first);
  const Digest once = second.finish();
  EXPECT_EQ(second.finish(), once);
  EXPECT_EQ(once, Hasher().text("a", "b").finish());
  EXPECT_NE(second.text("a", "b").finish(), once);
}

TEST(DigestOfFile, EqualsThatOfItsBytesAtEveryBlockBoundary) {
  const test::TemporaryDirectory directory;
  for (const std::size_t size : {0U, 1U, 65535U, 65536U, 65537U, 200000U}) {
    std::string content(size, 'x');
    if (size > 1) {
      content[size - 1] = 'y';
    }
    EXPECT_EQ(digest_of_file(directory.write("file", content)), digest_of(content)) << size;
  }
}

TEST(DigestOfFile, NeedsARegularFile) {
  const test::TemporaryDirectory directory;
  EXPECT_FALSE(digest_of_file(directory / "none"));
  EXPECT_FALSE(digest_of_file(directory.path()));
  EXPECT_FALSE(digest_of_file("/dev/zero"));
}

TEST(Sha256OfFile, AgreesWithTheStandard) {
  const test::TemporaryDirectory directory;
  // FIPS 180-4's examples.
  EXPECT_EQ(sha256_of_file(directory.write("file", "abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of_file(directory.write("file", std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_FALSE(sha256_of_file(directory / "none"));
}

} // namespace
} // namespace dcuop
