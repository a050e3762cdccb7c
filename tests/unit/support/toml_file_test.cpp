#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcuop/support/error.hpp"
#include "dcuop/support/toml_file.hpp"

namespace dcuop {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string repeated(const std::string& part, int times) {
  std::string text;
  for (int time = 0; time < times; ++time) {
    text += part;
  }
  return text;
}

std::string fault(const std::string& content) {
  try {
    static_cast<void>(TomlFile::parse("x.toml", content));
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ExitCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(TomlFile, RefusesWhatNestsTooDeep) {
  const std::string dotted = repeated("a.", 100'000) + "a";
  for (const std::string& content :
       {"[" + dotted + "]", "[[" + dotted + "]]", dotted + " = 1", "x = { " + dotted + " = 1 }",
        "x = " + repeated("[", 100'000), "x = " + repeated("{ a = ", 100'000),
        "x = " + repeated("{ a.a.a.a = [", 1000), repeated("\"a b\" . ", 70) + "a = 1",
        "x = { s = \"\"\"q\"\"\"\", " + dotted + " = 1 }", "s = 'it' # '\n[" + dotted + "]"}) {
    EXPECT_THAT(fault(content), HasSubstr("more than 64 tables and arrays in one another"))
        << content.substr(0, 40);
  }
}

TEST(TomlFile, RefusesWhatTheParserTakesForGranted) {
  for (const std::string bad :
       {std::string("[\x7f]"), std::string("[\0]", 3), std::string("[[[1]]]"), std::string("[=")}) {
    EXPECT_THAT(fault("a = 1\n" + bad + "\nb = 2\n"), HasSubstr("x.toml:2:")) << bad;
    EXPECT_THAT(fault(bad), HasSubstr("x.toml:1:")) << bad;
  }
}

TEST(TomlFile, TakesLettersThatAreNoBlanks) {
  EXPECT_EQ(fault("s = \"\"\"\\\n§\"\"\"\n# é\ufe0f\n"), "no error");
  EXPECT_THAT(fault("a = 1\nж = 1\n"), HasSubstr("x.toml:2:1:"));
  EXPECT_THAT(fault("a = 1 \ufe7f\n"), HasSubstr("x.toml:1:7:"));
}

TEST(TomlFile, NamesThePlace) {
  EXPECT_THAT(fault("é = 1\n  [" + repeated("é.", 70) + "é]"),
              StartsWith("x.toml:2:129: error: more than 64"));
}

TEST(TomlFile, TextsAndCommentsDoNotNest) {
  const std::string deep = repeated("[{a.", 1000);
  for (const std::string& content :
       {"x = \"\\\"" + deep + "\"", "x = '" + deep + "'", "x = \"\"\"\n\"" + deep + "\"\"\"", "# " + deep,
        "x = '''\n'" + deep + "'''", "x = [" + repeated("1.5, ", 1000) + "]", repeated("[a.b]\n", 1),
        "x = [" + repeated("[1], ", 1000) + "]", "x = 1 # " + deep + "\n[a.b.c.d]\ne.f.g = 1"}) {
    EXPECT_EQ(fault(content), "no error") << content.substr(0, 40);
  }
}

TEST(TomlFile, AtTheLimit) {
  EXPECT_EQ(fault(repeated("a.", 63) + "a = 1"), "no error");
  EXPECT_THAT(fault(repeated("a.", 64) + "a = 1"), HasSubstr("more than 64"));
}

TEST(TomlFile, RefusesHugeFiles) {
  EXPECT_THAT(fault("x = '" + std::string(5U << 20U, 'x') + "'"), HasSubstr("x.toml is larger than 4.0 MiB"));
}

TEST(TomlFile, EveryCutOfATextEnds) {
  const std::string text = "a.b = \"\"\"x\\\"\"\"\"\"\n[\"c\".'d']\ne = [ { f = 'g' }, \"\\\\\" ]\n";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    EXPECT_THAT(fault(text.substr(0, size)), ::testing::Not(HasSubstr("more than"))) << size;
  }
}

} // namespace
} // namespace dcuop
