#include <cstring>

#include <gmock/gmock.h>

#include "clinic.hpp"

namespace dcuop::doctor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// clang/docs/ClangOffloadBundler.rst, "Bundled Binary File Layout".
std::string bundle_of(const std::vector<std::string>& targets) {
  const auto number = [](std::uint64_t value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  };
  std::vector<std::string> ids = {"host-x86_64-unknown-linux"};
  for (const auto& target : targets) {
    ids.push_back("hipv4-amdgcn-amd-amdhsa--" + target);
  }
  std::string bundle = "__CLANG_OFFLOAD_BUNDLE__" + number(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    bundle += number(4096 * i) + number(i == 0 ? 0 : 64) + number(ids[i].size()) + ids[i];
  }
  bundle.resize(4096 * ids.size(), '\0');
  return bundle;
}

class DeviceChecks : public Clinic {
 protected:
  /// A library with one bundle a unit.
  std::filesystem::path with_units(const std::vector<std::vector<std::string>>& units) {
    std::string code;
    for (const auto& targets : units) {
      code += bundle_of(targets);
    }
    return with_fatbin(code);
  }
  std::filesystem::path with_fatbin(const std::string& bytes) {
    const auto content = write("fatbin", bytes);
    return build("op.so", "__asm__(\".section .hip_fatbin,\\\"a\\\",@progbits\\n.p2align 12\\n.incbin \\\"" +
                              content.string() + "\\\"\\n\");");
  }
  static EnvironmentFacts with_devices(const std::vector<std::string>& targets) {
    auto known = facts();
    known.devices = {};
    for (const auto& target : targets) {
      known.devices.devices.push_back({target, "DCU", "KFD", 0, {}});
    }
    return known;
  }
  Report examine_with(const std::filesystem::path& file, const std::vector<std::string>& devices) {
    Question question;
    question.file = file;
    return diagnose(question, with_devices(devices), machine());
  }
};

TEST_F(DeviceChecks, RefuseCodeOfAnotherProcessor) {
  const auto report =
      examine_with(with_units({{"gfx906", "gfx926"}}), {"gfx936:sramecc+:xnack-", "gfx936:sramecc+:xnack-"});
  ASSERT_THAT(errors_of(report), ElementsAre("DCU301"));
  EXPECT_EQ(report.verdict, Verdict::loads_cannot_launch);
  EXPECT_EQ(report.headline,
            "loads, but cannot launch on this machine: it has no code for gfx936:sramecc+:xnack-.");
  EXPECT_THAT(evidence_of(report, "DCU301"), HasSubstr("devices: 2 x gfx936:sramecc+:xnack- (KFD)"));
  EXPECT_THAT(evidence_of(report, "DCU301"), HasSubstr("code for: unit 1: gfx906, gfx926"));
  EXPECT_THAT(find(report, "DCU301")->fix, HasSubstr("--arch gfx936"));
}

TEST_F(DeviceChecks, SayWhatItWasBuiltWithAndHowToBuildIt) {
  Question question;
  question.file = with_units({{"gfx906"}});
  question.op_name = "affine";
  question.built_with = "torch 2.1.0 hip 5.7, python 3.10.12";
  const auto report = diagnose(question, with_devices({"gfx936"}), machine());
  EXPECT_THAT(evidence_of(report, "DCU301"), HasSubstr("built with: torch 2.1.0 hip 5.7, python 3.10.12"));
  EXPECT_EQ(find(report, "DCU301")->fix, "dcuop build affine --arch gfx936");
}

TEST_F(DeviceChecks, JudgeEveryUnitAndNotTheFile) {
  const auto file = with_units({{"gfx906", "gfx936"}, {"gfx906"}, {"gfx936"}});
  const auto report = examine_with(file, {"gfx936"});
  ASSERT_THAT(errors_of(report), ElementsAre("DCU302"));
  EXPECT_THAT(find(report, "DCU302")->cause, HasSubstr("1 of 3 translation units"));
  EXPECT_THAT(evidence_of(report, "DCU302"), HasSubstr("code for: unit 2: gfx906\n"));
  EXPECT_THAT(errors_of(examine_with(file, {"gfx906"})), ElementsAre("DCU302")) << "unit 3 has no gfx906";
}

TEST_F(DeviceChecks, JudgeTheSecondDeviceToo) {
  const auto report = examine_with(with_units({{"gfx906"}}), {"gfx906", "gfx936"});
  ASSERT_THAT(errors_of(report), ElementsAre("DCU301"));
  EXPECT_THAT(report.headline, HasSubstr("no code for gfx936"));
}

TEST_F(DeviceChecks, AcceptCodeThatFits) {
  const auto report =
      examine_with(with_units({{"gfx936"}, {"gfx906", "gfx936"}}), {"gfx936:sramecc+:xnack-"});
  EXPECT_THAT(errors_of(report), IsEmpty());
  EXPECT_THAT(report.headline, HasSubstr("its device code fits gfx936:sramecc+:xnack-"));
}

TEST_F(DeviceChecks, TellFeaturesApart) {
  const auto file = with_units({{"gfx90a:xnack+"}});
  EXPECT_THAT(errors_of(examine_with(file, {"gfx90a:sramecc+:xnack-"})), ElementsAre("DCU303"));
  EXPECT_THAT(errors_of(examine_with(file, {"gfx90a:sramecc+:xnack+"})), IsEmpty());
  const auto ecc = with_units({{"gfx90a:sramecc-"}});
  EXPECT_THAT(errors_of(examine_with(ecc, {"gfx90a:sramecc+:xnack-"})), ElementsAre("DCU304"));
}

TEST_F(DeviceChecks, TakeArchInPlaceOfTheDevices) {
  Question question;
  question.file = with_units({{"gfx906"}});
  question.archs = {"gfx906", "gfx928"};
  const auto report = diagnose(question, with_devices({"gfx936"}), machine());
  ASSERT_THAT(errors_of(report), ElementsAre("DCU301"));
  EXPECT_THAT(report.headline, HasSubstr("cannot launch on gfx906, gfx928: it has no code for gfx928"));
}

TEST_F(DeviceChecks, JudgeNothingWithoutADevice) {
  const auto report = examine_with(with_units({{"gfx906"}}), {});
  EXPECT_EQ(report.verdict, Verdict::loads);
  ASSERT_NE(find(report, "DCU305"), nullptr);
  EXPECT_EQ(find(report, "DCU305")->severity, finding::Severity::note);
  EXPECT_THAT(report.headline, HasSubstr("launch was not judged: --arch"));
}

TEST_F(DeviceChecks, NameABundleThatIsDamaged) {
  auto second = bundle_of({"gfx906"});
  second[24] = '\xff'; // its count of entries
  second[28] = '\xff';
  const auto report = examine_with(with_fatbin(bundle_of({"gfx936"}) + second), {"gfx936"});
  ASSERT_NE(find(report, "DCU307"), nullptr) << report.headline;
  EXPECT_THAT(find(report, "DCU307")->cause, HasSubstr("bundle 2 of 2 cannot be read"));
}

TEST_F(DeviceChecks, RecogniseNvidiasCode) {
  const auto file =
      build("op.so", "__asm__(\".section .nv_fatbin,\\\"a\\\",@progbits\\n.long 0xba55ed50\\n\");");
  if (facts().torch && facts().torch->cuda.empty()) {
    EXPECT_THAT(errors_of(examine_with(file, {"gfx936"})), ElementsAre("DCU306"));
  }
  Question question;
  question.file = file;
  question.archs = {"gfx936"};
  EXPECT_THAT(errors_of(diagnose(question, facts(), machine())), ElementsAre("DCU306"));
}

TEST_F(DeviceChecks, MissTheDeviceCodeThatIsRegistered) {
  const auto file = build("op.so", "void** __hipRegisterFatBinary(void*) __attribute__((weak)); void* "
                                   "f(void) { return __hipRegisterFatBinary(0); }");
  EXPECT_THAT(errors_of(examine_with(file, {"gfx936"})), ElementsAre("DCU310"));
}

} // namespace
} // namespace dcuop::doctor
