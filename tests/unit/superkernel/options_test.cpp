// Options as the two back ends read them.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "superkernel/scopes.hpp"

#include "dcuop/superkernel/options.hpp"

namespace dcuop::superkernel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = OptionProblem::Kind;

std::vector<Kind> problems(const Options& options) {
  std::vector<Kind> kinds;
  for (const OptionProblem& problem : options.problems) {
    kinds.push_back(problem.kind);
  }
  return kinds;
}

TEST(GeOptions, Defaults) {
  const Options options = parse_ge_options("");
  EXPECT_FALSE(options.feed_sync_all);
  EXPECT_FALSE(options.stream_fusion);
  EXPECT_EQ(options.early_start, 1);
  EXPECT_EQ(options.debug_aic, 0U);
  EXPECT_THAT(options.problems, IsEmpty());
}

TEST(GeOptions, AreTakenWithSpacesAndQuotes) {
  const Options options = parse_ge_options(
      "\" feed-sync-all = 1 : stream-fusion=1::dcci-after-kernel-end=A, B:debug-aiv-num=12\"");
  EXPECT_THAT(options.problems, IsEmpty());
  EXPECT_TRUE(options.feed_sync_all);
  EXPECT_TRUE(options.stream_fusion);
  EXPECT_THAT(options.dcci_after, ElementsAre("A", "B"));
  EXPECT_EQ(options.debug_aiv, 12U);
  EXPECT_EQ(written(options.given, Backend::ge),
            "feed-sync-all=1:stream-fusion=1:dcci-after-kernel-end=A, B:debug-aiv-num=12");
}

TEST(GeOptions, TheKeyOfTheOldPageIsNamedRight) {
  // Seen in the page that introduced the options; the nearest by letters would be dcci-before-kernel-start.
  const Options options = parse_ge_options("dcci-after-kernel-start=HcPre");
  ASSERT_THAT(problems(options), ElementsAre(Kind::unknown));
  EXPECT_EQ(options.problems[0].key, "dcci-after-kernel-start");
  EXPECT_EQ(options.problems[0].wanted, "dcci-after-kernel-end");
  EXPECT_EQ(options.problems[0].value, "HcPre");
  EXPECT_THAT(options.dcci_after, IsEmpty());
  EXPECT_EQ(parse_ge_options("dcci-before-kernel-end=X").problems[0].wanted, "dcci-before-kernel-start");
}

TEST(GeOptions, WhatTheParserRefuses) {
  EXPECT_THAT(problems(parse_ge_options("feed-sync-al=1")), ElementsAre(Kind::unknown));
  EXPECT_EQ(parse_ge_options("feed-sync-al=1").problems[0].wanted, "feed-sync-all");
  EXPECT_THAT(problems(parse_ge_options("feed-sync-all=2")), ElementsAre(Kind::bad_value));
  EXPECT_THAT(problems(parse_ge_options("feed-sync-all=")), ElementsAre(Kind::bad_value));
  EXPECT_THAT(problems(parse_ge_options("feed-sync-all=01")), ElementsAre(Kind::bad_value))
      << "compared as text";
  EXPECT_THAT(problems(parse_ge_options("split-mode=04:debug-aic-num=024")), IsEmpty()) << "read as a number";
  EXPECT_THAT(problems(parse_ge_options("feed-sync-all=-1")), ElementsAre(Kind::bad_value));
  EXPECT_THAT(problems(parse_ge_options("feed-sync-all=1:feed-sync-all=0")), ElementsAre(Kind::duplicate));
  EXPECT_TRUE(parse_ge_options("feed-sync-all=1:feed-sync-all=0").feed_sync_all);
  EXPECT_THAT(problems(parse_ge_options("split-mode=0")), ElementsAre(Kind::bad_value));
  EXPECT_THAT(problems(parse_ge_options("split-mode=64:func-align=512:preload-code=max")), IsEmpty());
  EXPECT_THAT(problems(parse_ge_options("func-align=1")), ElementsAre(Kind::bad_value));
  EXPECT_THAT(problems(parse_ge_options("func-align=96")), ElementsAre(Kind::bad_value));
  EXPECT_THAT(problems(parse_ge_options("func-align=0:early-start=2")), IsEmpty());
  EXPECT_THAT(problems(parse_ge_options("early-start=3")), ElementsAre(Kind::bad_value));
  EXPECT_THAT(problems(parse_ge_options("preload-code=all")), ElementsAre(Kind::bad_value));
}

TEST(GeOptions, WhatItPassesOver) {
  // Models of the public recipes pass such a word: the parser warns and goes on.
  const Options options = parse_ge_options("option_xxx2:stream-fusion=1");
  EXPECT_THAT(problems(options), ElementsAre(Kind::ignored));
  EXPECT_TRUE(options.stream_fusion);
  EXPECT_THAT(problems(parse_ge_options("strict-scope-check=yes")), ElementsAre(Kind::odd_value));
  EXPECT_THAT(problems(parse_ge_options("strict-scope-check=abort")), IsEmpty());
}

TEST(GeOptions, KeysOfTheOtherBackEnd) {
  EXPECT_THAT(problems(parse_ge_options("auto_op_parallel=1")), ElementsAre(Kind::other_end));
  EXPECT_THAT(problems(parse_ge_options("feed_sync_all=1")), ElementsAre(Kind::unknown));
  EXPECT_EQ(parse_ge_options("feed_sync_all=1").problems[0].wanted, "feed-sync-all");
}

Options of_npugraph_ex(std::vector<NpuOption> given) {
  Scope scope = on_npugraph_ex(a_scope({aiv("a", 4)}));
  scope.npu_options = std::move(given);
  return parse_options(scope);
}

TEST(NpugraphExOptions, DefaultsAreOthers) {
  const Options options = of_npugraph_ex({});
  EXPECT_TRUE(options.stream_fusion);
  EXPECT_EQ(options.early_start, 0);
}

TEST(NpugraphExOptions, OutOfRangeIsTheDefault) {
  const Options options =
      of_npugraph_ex({{"early_start", {"2"}, false, false}, {"split_mode", {"5"}, false, false}});
  EXPECT_THAT(problems(options), ElementsAre(Kind::default_for, Kind::default_for));
  EXPECT_EQ(options.early_start, 0);
}

TEST(NpugraphExOptions, ListsAndPlaces) {
  const Options options = of_npugraph_ex({{"dcci_after_kernel_end", {".*"}, true, false},
                                          {"dcci_before_kernel_start", {"*x"}, true, false},
                                          {"dcci_disable_on_kernel", {"x"}, false, false},
                                          {"debug_sync_all", {"1"}, false, false},
                                          {"dcci_after_kernel_start", {".*"}, true, false},
                                          {"feed-sync-all", {"1"}, false, false}});
  EXPECT_THAT(problems(options),
              ElementsAre(Kind::bad_value, Kind::bad_value, Kind::bad_place, Kind::unknown, Kind::other_end));
  EXPECT_EQ(options.problems[3].wanted, "dcci_after_kernel_end");
  EXPECT_THAT(options.dcci_after, ElementsAre(".*"));
  EXPECT_FALSE(options.debug_sync_all);
}

TEST(NpugraphExOptions, AreWrittenAsTwoDictionaries) {
  const Options options =
      of_npugraph_ex({{"early_start", {"1"}, false, false},
                      {"dcci_after_kernel_end", {".*A.*", "b"}, true, false},
                      {"aggressive_opt_strategies.task_breaker_bypass", {"0"}, false, false},
                      {"debug_sync_all", {"1"}, false, true}});
  EXPECT_THAT(options.problems, IsEmpty());
  EXPECT_EQ(written(options.given, Backend::npugraph_ex),
            "\"super_kernel_optimize_options\": {\"early_start\": 1, \"dcci_after_kernel_end\": [\".*A.*\", "
            "\"b\"], "
            "\"aggressive_opt_strategies\": {\"task_breaker_bypass\": 0}}, "
            "\"super_kernel_debug_options\": {\"debug_sync_all\": 1}");
}

TEST(NpugraphExOptions, AreQuotedForPython) {
  EXPECT_EQ(written({{"opt_extend_option", "a\\b\"c"}}, Backend::npugraph_ex),
            "\"super_kernel_optimize_options\": {\"opt_extend_option\": \"a\\\\b\\\"c\"}");
}

TEST(Pattern, IsTheWholeNameWithPointsAndStars) {
  EXPECT_EQ(matches_pattern("abc", "abc"), true);
  EXPECT_EQ(matches_pattern("abc", "abcd"), false);
  EXPECT_EQ(matches_pattern(".*", ""), true);
  EXPECT_EQ(matches_pattern(".*b.*", "abc"), true);
  EXPECT_EQ(matches_pattern("a.c", "abc"), true);
  EXPECT_EQ(matches_pattern("a.c", "ac"), false);
  EXPECT_EQ(matches_pattern("ab*c", "ac"), true);
  EXPECT_EQ(matches_pattern("ab*c", "abbbc"), true);
  EXPECT_EQ(matches_pattern("ab*c", "adc"), false);
  EXPECT_EQ(matches_pattern(" abc ", "abc"), true);
  for (const char* none : {"", "*a", "a+b", "(a)", "a|b"}) {
    EXPECT_EQ(matches_pattern(none, "a"), std::nullopt) << none;
  }
}

} // namespace
} // namespace dcuop::superkernel
