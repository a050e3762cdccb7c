// scope.toml: strict, with places; the example has every key.

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcuop/superkernel/options.hpp"
#include "dcuop/superkernel/scope.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/text.hpp"
#include "dcuop/support/toml_file.hpp"

namespace dcuop::superkernel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::string head = "backend = \"ge\"\nplatform = { product = \"A3\", aic = 24, aiv = 48 }\n";
const std::string one = "[[operator]]\nname = \"a\"\nkernel_type = \"MIX_AIC_1_2\"\nblock_num = 4\n";

std::string fault(const std::string& content) {
  try {
    static_cast<void>(parse_scope("scope.toml", content));
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ExitCode::usage);
    return error.hint.empty() ? error.what() : std::string(error.what()) + " | " + error.hint;
  }
  return "no error";
}

std::string example_text() {
  std::ifstream file(std::string(DCUOP_SOURCE_DIR) + "/docs/superkernel.example.toml");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(ScopeFile, Example) {
  const Scope scope = parse_scope("example.toml", example_text());
  EXPECT_EQ(scope.name, "decode");
  EXPECT_EQ(scope.platform.launch_gap_us, 4.0);
  ASSERT_EQ(scope.operators.size(), 3U);
  const Operator& first = scope.operators[0];
  EXPECT_EQ(first.op_type, "HcPre");
  EXPECT_EQ(first.kernel, "hc_pre_0");
  EXPECT_EQ(first.type, KernelType::mix_aiv_1_0);
  EXPECT_EQ(first.block_num, 20U);
  EXPECT_EQ(first.sync.all, SyncAll::plain);
  EXPECT_EQ(first.set_next, Call::every_core);
  EXPECT_EQ(first.wait_previous, Call::none);
  EXPECT_TRUE(first.gm.frequent);
  EXPECT_THAT(first.gm.writes, ElementsAre("offsets"));
  EXPECT_THAT(first.sends, ElementsAre("moved"));
  EXPECT_EQ(first.times->post, 11.0);
  const Operator& second = scope.operators[1];
  EXPECT_TRUE(second.sync.pair_guarded);
  ASSERT_EQ(second.sync.flags.size(), 1U);
  EXPECT_EQ(second.sync.flags[0].sets, 2U);
  EXPECT_EQ(second.where.at("pair_guarded"), "kernel.h:212");
  EXPECT_EQ(second.given.count("sync.pair_guarded"), 1U);
  EXPECT_EQ(second.given.count("sync.all"), 0U) << "what a source says may fill it";
  EXPECT_EQ(scope.operators[2].kernel, "AddC") << "op_type where kernel is not given";
}

/// Every key that a table has, by asking for one that it has not.
std::set<std::string> keys_of(const std::string& content) {
  const std::string message = fault(content);
  const std::string marker = " has: ";
  const std::size_t at = message.rfind(marker);
  EXPECT_NE(at, std::string::npos) << message;
  std::set<std::string> keys;
  for (const std::string& key : split(message.substr(at + marker.size()), ',')) {
    keys.insert(std::string(trimmed(key)));
  }
  return keys;
}

/// The keys of all tables called so, at any depth; "" for the file itself.
void collect(const TomlNode& node, const std::string& name,
             std::map<std::string, std::set<std::string>>& into) {
  for (const TomlMember& member : node.members) {
    into[name].insert(member.key);
    collect(member.value, member.key, into);
    for (const TomlNode& item : member.value.items) {
      collect(item, member.key, into);
    }
  }
}

TEST(ScopeFile, ExampleHasEveryKey) {
  std::map<std::string, std::set<std::string>> example;
  collect(TomlFile::parse("example.toml", example_text()).root(), "", example);
  std::set<std::string> top = keys_of(head + one + "[zzzzzzzz]\n");
  EXPECT_EQ(top.erase("debug_options"), 1U) << "of npugraph_ex: the example names it in a comment";
  EXPECT_EQ(example[""], top);
  EXPECT_EQ(
      example["platform"],
      keys_of("backend = \"ge\"\n[platform]\nproduct = \"A3\"\naic = 24\naiv = 48\nzzzzzzzz = 1\n" + one));
  EXPECT_EQ(example["operator"], keys_of(head + one + "zzzzzzzz = 1\n"));
  for (const char* table : {"sync", "early_start", "gm", "events", "times_us"}) {
    EXPECT_EQ(example[table], keys_of(head + one + table + " = { zzzzzzzz = 1 }\n")) << table;
  }
  for (const std::string& key : keys_of(head + one + "where = { zzzzzzzz = 1 }\n")) {
    EXPECT_THAT(example_text(), HasSubstr(key)) << "a value or a comment";
  }
  EXPECT_EQ(example["flags"],
            keys_of(head + one + "sync = { flags = [{ id = 1, from = \"aic\", zzzzzzzz = 1 }] }\n"));
}

TEST(ScopeFile, NamesPlaceAndNearestName) {
  EXPECT_THAT(
      fault(head + one + "block_nun = 4\n"),
      HasSubstr("scope.toml:7:1: error: unknown key 'block_nun' in [[operator]]; did you mean 'block_num'?"));
  EXPECT_THAT(
      fault(head + "[[operator]]\nname = \"a\"\nkernel_type = \"MIX_AIC_1_3\"\nblock_num = 4\n"),
      AllOf(StartsWith("scope.toml:5:15: error: 'kernel_type' in [[operator]] must be one of AIV_ONLY, "),
            HasSubstr("did you mean 'MIX_AIC_1_")));
  EXPECT_THAT(fault(head + one + "sync = { all = \"plian\" }\n"), HasSubstr("did you mean 'plain'?"));
  EXPECT_THAT(fault("backend = \"gee\"\n" + one), HasSubstr("did you mean 'ge'?"));
}

TEST(ScopeFile, AKeyThatIsNearlyRightIsNamedBeforeTheOneThatIsMissing) {
  EXPECT_THAT(fault(head + "[[operator]]\nname = \"a\"\nkernel_type = \"AIV_ONLY\"\nblock_nun = 4\n"),
              HasSubstr("did you mean 'block_num'?"));
  EXPECT_THAT(fault("backend = \"ge\"\nplatform = { product = \"A3\", aic = 24, aix = 48 }\n" + one),
              HasSubstr("unknown key 'aix'"));
  EXPECT_THAT(fault("backed = \"ge\"\n" + one), HasSubstr("did you mean 'backend'?"));
  EXPECT_THAT(fault(head + one + "sync = { flags = [{ id = 1, form = \"aic\" }] }\n"),
              HasSubstr("did you mean 'from'?"));
}

TEST(ScopeFile, TensorsNameBuffers) {
  const Scope scope =
      parse_scope("scope.toml", head + one + "gm = { tensors = { x = \"hidden\", idx = \"offsets\" } }\n");
  EXPECT_EQ(scope.operators[0].gm.tensors,
            (std::map<std::string, std::string>{{"idx", "offsets"}, {"x", "hidden"}}));
  EXPECT_THAT(fault(head + one + "gm = { tensors = { x = 1 } }\n"),
              HasSubstr("'x' in 'tensors' of 'gm' of operator a must be a string, not an integer"));
  EXPECT_THAT(fault(head + one + "gm = { tensors = [\"x\"] }\n"), HasSubstr("must be a table, not an array"));
}

TEST(ScopeFile, SaysWhatIsMissing) {
  EXPECT_THAT(fault(""), HasSubstr("the scope has no 'backend'"));
  EXPECT_THAT(fault("backend = \"ge\"\n" + one), HasSubstr("the scope has no [platform]"));
  EXPECT_THAT(fault(head), HasSubstr("must have 1 to 512 operators, not 0"));
  EXPECT_THAT(fault(head + "[[operator]]\nname = \"a\"\n"), HasSubstr("[[operator]] has no 'kernel_type'"));
  EXPECT_THAT(fault(head + "[[operator]]\nname = \"a\"\nkernel_type = \"AIV_ONLY\"\n"),
              HasSubstr("[[operator]] has no 'block_num'"));
}

TEST(ScopeFile, RefusesWhatContradictsTheKernelType) {
  const std::string vector = "[[operator]]\nname = \"v\"\nkernel_type = \"AIV_ONLY\"\nblock_num = 4\n";
  EXPECT_THAT(fault(head + vector + "sync = { mode0 = \"aic\" }\n"),
              HasSubstr("needs cube cores, and AIV_ONLY has none"));
  EXPECT_THAT(fault(head + vector + "sync = { pair_guarded = true }\n"),
              HasSubstr("needs cube and vector cores"));
  EXPECT_THAT(fault(head + vector + "sync = { matmul_unguarded = true }\n"),
              HasSubstr("needs cube and vector cores"));
  EXPECT_THAT(fault(head + vector + "sync = { flags = [{ id = 1, from = \"aic\" }] }\n"),
              HasSubstr("needs cube and vector cores"));
  EXPECT_THAT(fault(head + vector + "sync = { all_count = 2 }\n"), HasSubstr("'all' is missing"));
}

TEST(ScopeFile, RefusesNumbersOutOfBounds) {
  EXPECT_THAT(fault(head + "[[operator]]\nname = \"a\"\nkernel_type = \"AIV_ONLY\"\nblock_num = 0\n"),
              HasSubstr("must be at least 1, not 0"));
  EXPECT_THAT(fault(head + "[[operator]]\nname = \"a\"\nkernel_type = \"AIV_ONLY\"\nblock_num = 1025\n"),
              HasSubstr("must be at most 1024, not 1025"));
  EXPECT_THAT(fault(head + one + "times_us = { pre = -1 }\n"), HasSubstr("number of microseconds"));
  EXPECT_THAT(fault(head + one + "sync = { flags = [{ id = 16, from = \"aic\" }] }\n"),
              HasSubstr("at most 15"));
  EXPECT_THAT(
      fault(head + one + "sync = { flags = [{ id = 1, from = \"aic\" }, { id = 1, from = \"aic\" }] }\n"),
      HasSubstr("flag 1 from AIC is there twice"));
}

TEST(ScopeFile, RefusesNamesAndEventsThatDoNotFit) {
  EXPECT_THAT(fault(head + one + one), HasSubstr("a second operator is called 'a'"));
  const std::string other = "[[operator]]\nname = \"b\"\nkernel_type = \"AIV_ONLY\"\nblock_num = 4\n";
  EXPECT_THAT(
      fault(head + one + "events = { receives = [\"e\"] }\n" + other + "events = { sends = [\"e\"] }\n"),
      HasSubstr("a waits for event 'e', which b sends later in the list"));
  EXPECT_THAT(fault(head + one + "events = { sends = [\"e\"] }\n" + other + "events = { sends = [\"e\"] }\n"),
              HasSubstr("event 'e' is sent by a and by b"));
  EXPECT_EQ(fault(head + one + "events = { receives = [\"from outside\"] }\n"), "no error");
}

TEST(ScopeFile, OptionsAreOfTheirBackEnd) {
  const std::string npu = "backend = \"npugraph_ex\"\nplatform = { product = \"A3\", aic = 24, aiv = 48 }\n";
  EXPECT_THAT(fault("options = { a = 1 }\n" + head + one), HasSubstr("options must be a string for ge"));
  EXPECT_THAT(fault("options = \"a=1\"\n" + npu + one), HasSubstr("options must be a table for npugraph_ex"));
  EXPECT_THAT(fault("debug_options = { debug_sync_all = 1 }\n" + head + one),
              HasSubstr("and the backend is ge"));
  EXPECT_EQ(fault("options = \"\"\n" + head + one), "no error");
  const Scope scope = parse_scope(
      "s.toml",
      "options = { early_start = true, dcci_after_kernel_end = [\".*\"], "
      "aggressive_opt_strategies = { value_breaker_bypass = 2 } }\ndebug_options = { debug_sync_all = 1 }\n" +
          npu + one);
  const Options options = parse_options(scope);
  EXPECT_THAT(options.problems, IsEmpty());
  EXPECT_EQ(options.early_start, 1);
  EXPECT_TRUE(options.debug_sync_all);
  EXPECT_THAT(options.dcci_after, ElementsAre(".*"));
  ASSERT_EQ(options.given.size(), 4U);
  EXPECT_EQ(options.given[2].first, "aggressive_opt_strategies.value_breaker_bypass");
}

} // namespace
} // namespace dcuop::superkernel
