#include "dcuop/support/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcuop/support/process.hpp"

namespace dcuop {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Text, SplitsAndJoins) {
  EXPECT_THAT(split("a,,b,c,", ','), ElementsAre("a", "b", "c"));
  EXPECT_THAT(split("", ','), IsEmpty());
  EXPECT_THAT(split(",,", ','), IsEmpty());
  EXPECT_EQ(join({"a", "", "b"}, ", "), "a, , b");
  EXPECT_EQ(join({}, ","), "");
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Nearest, FindsTypos) {
  const std::vector<std::string> keys{"sources", "hip_flags", "host_flags", "link_flags"};
  EXPECT_EQ(nearest("hip_flag", keys), "hip_flags");
  EXPECT_EQ(nearest("hots_flags", keys), "host_flags");
  EXPECT_EQ(nearest("source", keys), "sources");
  EXPECT_EQ(nearest("gfx960", {"gfx906", "gfx90a"}), "gfx906") << "swapped letters are one slip";
  EXPECT_FALSE(nearest("optimise", keys));
  EXPECT_FALSE(nearest("", keys));
  EXPECT_FALSE(nearest("a", {"b"})) << "nothing in common";
  EXPECT_FALSE(nearest("a", {}));
  EXPECT_EQ(nearest("ab", {"xb", "ab"}), "ab");
}

TEST(HumanSize, KeepsTwoOrThreeDigits) {
  EXPECT_EQ(human_size(0), "0 B");
  EXPECT_EQ(human_size(1023), "1023 B");
  EXPECT_EQ(human_size(1024), "1.0 KiB");
  EXPECT_EQ(human_size(177'440), "173 KiB");
  EXPECT_EQ(human_size(1'258'291), "1.2 MiB");
  EXPECT_EQ(human_size(10 * 1024 - 1), "10 KiB");
  EXPECT_EQ(human_size(1024 * 1024 - 1), "1.0 MiB");
  EXPECT_EQ(human_size(2'040'109'466), "1.9 GiB");
  EXPECT_EQ(human_size(~std::uint64_t{0}), "16 EiB");
}

TEST(HumanDuration, ChangesUnitAtTheRoundedValue) {
  EXPECT_EQ(human_duration(0ms), "0.000s");
  EXPECT_EQ(human_duration(5ms), "0.005s");
  EXPECT_EQ(human_duration(99ms), "0.099s");
  EXPECT_EQ(human_duration(3210ms), "3.2s");
  EXPECT_EQ(human_duration(59'949ms), "59.9s");
  EXPECT_EQ(human_duration(59'950ms), "1m 00s");
  EXPECT_EQ(human_duration(125'000ms), "2m 05s");
  EXPECT_EQ(human_duration(3'600'000ms), "1h 00m");
  EXPECT_EQ(human_duration(7'500'000ms), "2h 05m");
  EXPECT_EQ(human_duration(-5ms), "0.000s");
}

TEST(HumanAge, IsCoarse) {
  EXPECT_EQ(human_age(-5s), "just now");
  EXPECT_EQ(human_age(59s), "just now");
  EXPECT_EQ(human_age(60s), "1 min ago");
  EXPECT_EQ(human_age(2h + 59min), "2 h ago");
  EXPECT_EQ(human_age(24h), "1 day ago");
  EXPECT_EQ(human_age(73h), "3 days ago");
}

TEST(Counted, KnowsPlurals) {
  EXPECT_EQ(counted(1, "file"), "1 file");
  EXPECT_EQ(counted(0, "file"), "0 files");
  EXPECT_EQ(counted(2, "entry"), "2 entries");
  EXPECT_EQ(counted(2, "key"), "2 keys");
  EXPECT_EQ(counted(2, "miss"), "2 misses");
  EXPECT_EQ(counted(2, "arch"), "2 archs");
}

TEST(Shortened, ReplacesTheHomeDirectoryOnly) {
  const Environment environment({{"HOME", "/home/ann"}});
  EXPECT_EQ(shortened("/home/ann/x/y", environment), "~/x/y");
  EXPECT_EQ(shortened("/home/ann", environment), "~");
  EXPECT_EQ(shortened("/home/anna/x", environment), "/home/anna/x");
  EXPECT_EQ(shortened("/x", Environment({{"HOME", "/"}})), "/x");
  EXPECT_EQ(shortened("/x", Environment()), "/x");
}

TEST(ParseDuration, NeedsAUnit) {
  EXPECT_EQ(parse_duration("2d"), 48h);
  EXPECT_EQ(parse_duration("12h"), 12h);
  EXPECT_EQ(parse_duration("30m"), 30min);
  EXPECT_EQ(parse_duration("45s"), 45s);
  EXPECT_EQ(parse_duration("0s"), 0s);
  for (const char* text :
       {"", "5", "d", "-1d", "1.5h", "1dd", " 1d", "1 d", "99999999999999999999d", "9223372036854775807d"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(ParseSize, CountsInPowersOf1024) {
  EXPECT_EQ(parse_size("10G"), std::uint64_t{10} << 30U);
  EXPECT_EQ(parse_size("512M"), std::uint64_t{512} << 20U);
  EXPECT_EQ(parse_size("100k"), 102'400U);
  EXPECT_EQ(parse_size("5GiB"), std::uint64_t{5} << 30U);
  EXPECT_EQ(parse_size("5GB"), std::uint64_t{5} << 30U);
  EXPECT_EQ(parse_size("7B"), 7U);
  EXPECT_EQ(parse_size("16777215T"), std::uint64_t{16'777'215} << 40U);
  for (const char* text : {"", "10", "G", "-1G", "1.5G", "5GiBs", "5BB", "16777216T", "5 G"}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
}

TEST(ShellWords, ReadsQuotesAsAShellDoes) {
  EXPECT_THAT(shell_words("  -O3   -g "), ElementsAre("-O3", "-g"));
  EXPECT_THAT(shell_words(R"(-DX="a b" -D'Y=c "d"' e\ f)"), ElementsAre("-DX=a b", "-DY=c \"d\"", "e f"));
  EXPECT_THAT(shell_words(R"("a\"b\\c\d" '\n')"), ElementsAre("a\"b\\c\\d", "\\n"));
  EXPECT_THAT(shell_words("'' \"\""), ElementsAre("", ""));
  EXPECT_THAT(shell_words("a\\\nb"), ElementsAre("ab"));
  EXPECT_THAT(shell_words("$HOME *"), ElementsAre("$HOME", "*"));
  EXPECT_THAT(shell_words("'open"), ElementsAre("open"));
  EXPECT_THAT(shell_words("end\\"), ElementsAre("end\\"));
  EXPECT_THAT(shell_words(" \t\n"), IsEmpty());
}

TEST(ShellQuoted, RoundTrips) {
  const std::vector<std::string> argv{"/opt/a b/hipcc", "-DX=\"it's\"", "", "-O3", "$x", "a\nb", "\\"};
  EXPECT_THAT(shell_words(shell_quoted(argv)), testing::ElementsAreArray(argv));
  EXPECT_EQ(shell_quoted({"hipcc", "-O3", "--offload-arch=gfx90a:xnack-", "a b"}),
            "hipcc -O3 --offload-arch=gfx90a:xnack- 'a b'");
}

TEST(CutToWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(cut_to_width("abc", 3), "abc");
  EXPECT_EQ(cut_to_width("abcd", 3), "ab…");
  EXPECT_EQ(cut_to_width("äöü", 3), "äöü");
  EXPECT_EQ(cut_to_width("äöüß", 3), "äö…");
  EXPECT_EQ(cut_to_width("编译", 4), "编译");
  EXPECT_EQ(cut_to_width("编译器", 5), "编译…");
  EXPECT_EQ(cut_to_width("编译器", 4), "编…") << "half a character does not fit";
  EXPECT_EQ(cut_to_width("abc", 1), "…");
  EXPECT_EQ(cut_to_width("abc", 0), "");
  EXPECT_EQ(cut_to_width("", 0), "");
}

TEST(CutToWidth, KeepsColoursAndReplacesControls) {
  EXPECT_EQ(cut_to_width("\033[31mab\033[0m", 2), "\033[31mab\033[0m");
  EXPECT_EQ(cut_to_width("\033[31mabc\033[0m", 2), "\033[31ma…\033[0m");
  EXPECT_EQ(cut_to_width("a\nb\tc", 5), "a b c");
  EXPECT_EQ(cut_to_width("\033[2J", 9), " [2J");
}

TEST(CutToWidth, SurvivesBrokenUtf8) {
  EXPECT_EQ(cut_to_width("\xc3", 5), "\xc3");
  EXPECT_EQ(cut_to_width("\xe4\xbd", 5), "\xe4\xbd");
  EXPECT_EQ(cut_to_width("\xff\xfe", 1), "…");
}

} // namespace
} // namespace dcuop
