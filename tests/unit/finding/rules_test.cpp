#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dcuop/finding/finding.hpp"

namespace dcuop::finding {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Rules, AreSortedAndUniqueByIdAndName) {
  std::set<std::string_view> names;
  std::string_view last;
  for (const auto& rule : rules()) {
    EXPECT_LT(last, rule.id);
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    last = rule.id;
  }
  EXPECT_GT(rules().size(), 50U);
}

TEST(Rules, HaveEveryTextInBothLanguages) {
  for (const auto& rule : rules()) {
    EXPECT_THAT(std::string(rule.id), testing::MatchesRegex("DCU[1-9][0-9][0-9]"));
    for (const auto& text : {rule.title, rule.summary, rule.cause, rule.how, rule.causes, rule.fixes}) {
      EXPECT_FALSE(text.en.empty()) << rule.id;
      EXPECT_FALSE(text.zh.empty()) << rule.id;
    }
    EXPECT_FALSE(rule.cause.en.ends_with('.')) << rule.id << ": a cause has no full stop";
    EXPECT_FALSE(rule.summary.en.ends_with('.')) << rule.id;
    EXPECT_TRUE(rule.title.en.ends_with('.')) << rule.id;
    EXPECT_TRUE(rule.title.zh.ends_with("。")) << rule.id;
  }
}

TEST(Rules, UseTheSamePlaceholdersInBothLanguages) {
  const auto placeholders = [](std::string_view text) {
    std::multiset<std::string> found;
    for (auto open = text.find('{'); open != std::string_view::npos; open = text.find('{', open + 1)) {
      found.insert(std::string(text.substr(open, text.find('}', open) - open)));
    }
    return found;
  };
  for (const auto& rule : rules()) {
    EXPECT_EQ(placeholders(rule.summary.en), placeholders(rule.summary.zh)) << rule.id;
    EXPECT_EQ(placeholders(rule.cause.en), placeholders(rule.cause.zh)) << rule.id;
  }
}

TEST(Rules, OfSourcesShowTheFaultAndTheSameWithoutIt) {
  for (const auto& rule : rules()) {
    if (rule.id >= "DCU900") {
      EXPECT_FALSE(rule.bad.empty() || rule.good.empty()) << rule.id;
      EXPECT_NE(rule.bad, rule.good) << rule.id;
      EXPECT_NE(markdown(rule).find("```" + std::string(rule.language) + "\n"), std::string::npos) << rule.id;
    }
  }
}

TEST(Rules, OfSourcesHaveAPageInTheDocs) {
  std::set<std::string> pages;
  for (const auto& rule : rules()) {
    if (rule.id >= "DCU800") {
      const std::string name = std::string(rule.id) + ".md";
      std::ifstream file(std::string(DCUOP_SOURCE_DIR) + "/docs/rules/" + name);
      const std::string page{std::istreambuf_iterator<char>(file), {}};
      EXPECT_EQ(page, markdown(rule)) << "make rule-pages writes it";
      pages.insert(name);
    }
  }
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(DCUOP_SOURCE_DIR) + "/docs/rules")) {
    EXPECT_TRUE(pages.contains(entry.path().filename().string())) << entry.path() << " is of no rule";
  }
}

TEST(FindRule, KnowsTheSecondAndNotTheUnknown) {
  ASSERT_NE(find_rule("DCU102"), nullptr);
  EXPECT_EQ(find_rule("DCU102")->name, "is-directory");
  EXPECT_EQ(find_rule("DCU000"), nullptr);
  EXPECT_EQ(find_rule("DCU1"), nullptr);
  EXPECT_EQ(find_rule(""), nullptr);
}

TEST(MakeFinding, FillsBothLanguagesFromTheTable) {
  const auto finding = make_finding("DCU110", {{"file", "a.so"}, {"machine", "AArch64"}, {"host", "x86-64"}});
  EXPECT_EQ(finding.rule, "DCU110");
  EXPECT_EQ(finding.severity, Severity::error);
  EXPECT_EQ(finding.cause, "a.so is for AArch64, this machine is x86-64");
  EXPECT_EQ(finding.chinese.cause, "a.so 属于 AArch64，本机是 x86-64");
  EXPECT_EQ(finding.subject, "a.so");
}

TEST(MakeFinding, TakesTheChineseValueOfAPhrase) {
  const auto finding =
      make_finding("DCU114", {{"file", "a.so"}, {"what", "an object file"}, {"what:zh", "目标文件"}});
  EXPECT_EQ(finding.summary, "it is an object file, not a shared object");
  EXPECT_EQ(finding.chinese.summary, "它是目标文件，不是共享库");
}

TEST(MakeFinding, RefusesWhatTheTableDoesNotKnow) {
  EXPECT_THROW((void)make_finding("DCU000", {}), std::logic_error);
  EXPECT_THROW((void)make_finding("DCU110", {{"file", "a.so"}}), std::logic_error);
}

TEST(WordsOf, FallsBackToEnglishPartByPart) {
  Finding finding;
  finding.cause = "cause";
  finding.fix = "fix";
  finding.chinese.cause = "原因";
  const auto words = words_of(finding, LanguageOfText::zh);
  EXPECT_EQ(words.cause, "原因");
  EXPECT_EQ(words.fix, "fix");
  EXPECT_EQ(words_of(finding, LanguageOfText::en).cause, "cause");
}

TEST(NameOperator, PutsItInEachPlaceAndNowhereElse) {
  Finding finding{.rule = "DCU210",
                  .fix = "dcuop build OP --force, or dcuop build OPS; then dcuop build OP",
                  .chinese = {.fix = "重新编译：dcuop build OP，然后重启"}};
  EXPECT_TRUE(names_no_operator(finding));
  name_operator(finding, "'my ops/affine'");
  EXPECT_EQ(finding.fix,
            "dcuop build 'my ops/affine' --force, or dcuop build OPS; then dcuop build 'my ops/affine'");
  EXPECT_EQ(finding.chinese.fix, "重新编译：dcuop build 'my ops/affine'，然后重启");
  EXPECT_FALSE(names_no_operator(finding));
}

TEST(NameOperator, SaysWhatOpStandsForWhereItIsUnknown) {
  Finding finding{.rule = "DCU210", .subject = "/a b/fused.so", .fix = "dcuop build OP", .chinese = {}};
  name_operator(finding, "");
  EXPECT_EQ(finding.fix,
            "dcuop build OP   (OP: the directory or name of the operator that fused.so was built from)");
  EXPECT_EQ(finding.chinese.fix, "");
  Finding of_a_process{.rule = "DCU601", .subject = "process 12", .fix = "dcuop build OP"};
  name_operator(of_a_process, "");
  EXPECT_EQ(of_a_process.fix,
            "dcuop build OP   (OP: the operator's directory, or its name in the workspace)");
  Finding other{.rule = "DCU401", .fix = "dcuop build OPS"};
  name_operator(other, "");
  EXPECT_EQ(other.fix, "dcuop build OPS");
}

TEST(LabelText, TranslatesTheKnownOnes) {
  EXPECT_EQ(label_text("wanted by", LanguageOfText::zh), "需要者");
  EXPECT_EQ(label_text("wanted by", LanguageOfText::en), "wanted by");
  EXPECT_EQ(label_text("never seen", LanguageOfText::zh), "never seen");
}

TEST(LongForm, HasEverySectionAndIndentsItsLines) {
  const auto text = long_form(*find_rule("DCU210"), LanguageOfText::en);
  EXPECT_THAT(text, testing::StartsWith("DCU210 other-torch (error)\n"));
  for (const char* heading : {"How it is found", "Typical causes", "Fixes", "References"}) {
    EXPECT_THAT(text, HasSubstr(std::string("\n") + heading + "\n  ")) << heading;
  }
  EXPECT_THAT(text, HasSubstr("\n  https://github.com/Dao-AILab/flash-attention/issues/723\n"));
  EXPECT_THAT(long_form(*find_rule("DCU210"), LanguageOfText::zh), HasSubstr("常见原因"));
}

TEST(LongForm, LeavesOutAnEmptySection) {
  EXPECT_THAT(long_form(*find_rule("DCU101"), LanguageOfText::en), Not(HasSubstr("References")));
}

TEST(SortFindings, PutsTheSevereFirstAndKeepsTheOrderOfEquals) {
  std::vector<Finding> findings(4);
  findings[0] = {.rule = "n", .severity = Severity::note};
  findings[1] = {.rule = "e1", .severity = Severity::error};
  findings[2] = {.rule = "w", .severity = Severity::warning};
  findings[3] = {.rule = "e2", .severity = Severity::error};
  sort_findings(findings);
  std::vector<std::string> order;
  for (const auto& finding : findings) {
    order.push_back(finding.rule);
  }
  EXPECT_THAT(order, testing::ElementsAre("e1", "e2", "w", "n"));
}

TEST(ToJson, HoldsTheWholeFinding) {
  auto finding = make_finding("DCU102", {{"file", "/tmp/a.so"}});
  finding.evidence = {{"wanted by", "x"}, {"offered", "y"}};
  finding.fix = "do it";
  const auto json = to_json(finding);
  EXPECT_EQ(json["rule"], "DCU102");
  EXPECT_EQ(json["name"], "is-directory");
  EXPECT_EQ(json["severity"], "error");
  EXPECT_EQ(json["cause"], "/tmp/a.so is a directory");
  EXPECT_EQ(json["evidence"][1]["label"], "offered");
  EXPECT_EQ(json["evidence"][1]["text"], "y");
  EXPECT_EQ(json["fix"], "do it");
}

TEST(ToSarif, ListsRulesAndResultsWithEncodedPaths) {
  auto finding = make_finding("DCU112", {{"file", "/tmp/a b/#1.so"}});
  finding.fix = "build it";
  Finding without_path;
  without_path.rule = "DCU406";
  without_path.severity = Severity::note;
  const auto log = to_sarif({finding, without_path}, "9.8.7");
  EXPECT_EQ(log["version"], "2.1.0");
  const auto& run = log["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["version"], "9.8.7");
  EXPECT_EQ(run["tool"]["driver"]["rules"].size(), rules().size());
  EXPECT_EQ(run["results"][0]["ruleId"], "DCU112");
  for (const auto& result : run["results"]) {
    EXPECT_EQ(run["tool"]["driver"]["rules"][result["ruleIndex"].get<std::size_t>()]["id"], result["ruleId"]);
  }
  EXPECT_EQ(run["results"][0]["level"], "warning");
  EXPECT_EQ(run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "file:///tmp/a%20b/%231.so");
  EXPECT_THAT(run["results"][0]["message"]["text"].get<std::string>(), HasSubstr("fix: build it"));
  EXPECT_FALSE(run["results"][1].contains("locations"));
}

} // namespace
} // namespace dcuop::finding
