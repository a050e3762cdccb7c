#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "clinic.hpp"

namespace dcuop::doctor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class EnvironmentChecks : public Clinic {
 protected:
  Report examine_machine(const EnvironmentFacts& known) { return diagnose({}, known, machine()); }
};

TEST_F(EnvironmentChecks, SayNothingWrongOfThisMachine) {
  const auto report = examine_machine(facts());
  EXPECT_EQ(report.verdict, Verdict::environment_only);
  EXPECT_THAT(errors_of(report), IsEmpty());
  EXPECT_THAT(report.headline, testing::StartsWith("no error found in the environment ("));
  EXPECT_FALSE(report.facts.empty());
}

TEST_F(EnvironmentChecks, SayWhatIsAbsentAndWhy) {
  EnvironmentFacts nothing;
  nothing.python_problem = "python3 is not on PATH";
  nothing.hip_compiler_problem = "hipcc is nowhere";
  const auto report = examine_machine(nothing);
  EXPECT_THAT(find(report, "DCU401")->cause, HasSubstr("python3 is not on PATH"));
  EXPECT_THAT(find(report, "DCU405")->cause, HasSubstr("hipcc is nowhere"));
  EXPECT_NE(find(report, "DCU406"), nullptr);
  EXPECT_THAT(errors_of(report), IsEmpty());
}

TEST_F(EnvironmentChecks, TellAnAbsentTorchFromABrokenOne) {
  auto known = facts();
  known.torch.reset();
  known.torch_problem = "no torch on the search path of python3";
  EXPECT_NE(find(examine_machine(known), "DCU402"), nullptr);
  known.torch_problem = "torch has no version.py";
  const auto report = examine_machine(known);
  EXPECT_THAT(errors_of(report), ElementsAre("DCU403"));
  EXPECT_THAT(report.headline, HasSubstr("the installed torch is incomplete"));
}

TEST_F(EnvironmentChecks, ComparesTheDtkOfTorchWithTheInstalled) {
  auto known = facts();
  known.torch = probe::Torch{};
  known.torch->version = "2.4.1+das.opt2.dtk2504";
  known.torch->dtk = "25.04";
  known.torch->hip = "6.1";
  known.rocm = probe::Rocm{"/opt/dtk", "ROCM_PATH", true, "25.04.1", "/opt/dtk/.dtk_version"};
  EXPECT_EQ(find(examine_machine(known), "DCU408"), nullptr) << "a patch release";
  known.rocm->version = "24.04";
  const auto report = examine_machine(known);
  ASSERT_NE(find(report, "DCU408"), nullptr);
  EXPECT_EQ(find(report, "DCU408")->cause, "torch is for DTK 25.04, but /opt/dtk is DTK 24.04");
}

TEST_F(EnvironmentChecks, FactsNameTheirOrigins) {
  const auto lines = fact_lines(facts());
  const auto line = [&lines](std::string_view name) {
    for (const auto& fact : lines) {
      if (fact.name == name) {
        return fact;
      }
    }
    return FactLine{};
  };
  EXPECT_EQ(line("python executable").value, facts().python->executable.string());
  if (has_torch()) {
    EXPECT_THAT(line("torch").origin, HasSubstr("version.py"));
    EXPECT_THAT(line("torch C++ string ABI").origin, HasSubstr("libc10"));
  }
  EnvironmentFacts nothing;
  nothing.torch_problem = "no Python to look for it";
  EXPECT_EQ(fact_lines(nothing)[1].value, "none");
  EXPECT_EQ(fact_lines(nothing)[1].origin, "no Python to look for it");
}

TEST_F(EnvironmentChecks, ReportAsJson) {
  const auto json = to_json(examine(directory_ / "nowhere.so"));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["verdict"], "does_not_load");
  EXPECT_EQ(json["counts"]["error"], 1);
  EXPECT_EQ(json["findings"][0]["rule"], "DCU101");
  EXPECT_EQ(json["facts"][0]["name"], "python");
}

TEST_F(EnvironmentChecks, HasTheHeadlineInChinese) {
  const auto report = examine(directory_ / "nowhere.so");
  EXPECT_EQ(report.headline, "does not load: there is no such file.");
  EXPECT_EQ(report.headline_chinese, "无法加载：文件不存在。");
}

} // namespace
} // namespace dcuop::doctor
