#include <cstring>

#include <gmock/gmock.h>

#include "clinic.hpp"

namespace dcuop::doctor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The header of a code object without segments: of version 2, which has no MessagePack, by its ABI version.
std::string code_object(char abi_version = 0) {
  std::string header(64, '\0');
  header.replace(0, 9,
                 std::string("\x7f"
                             "ELF\2\1\1\x40",
                             8) +
                     abi_version);
  header[16] = 3;      // ET_DYN
  header[18] = '\xe0'; // EM_AMDGPU
  header[20] = 1;
  header[52] = 64; // e_ehsize
  header[54] = 56; // e_phentsize
  return header;
}

/// clang/docs/ClangOffloadBundler.rst, "Bundled Binary File Layout".
std::string bundle_of(const std::vector<std::string>& targets, const std::string& object = code_object()) {
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
  for (std::size_t i = 1; i < ids.size(); ++i) {
    bundle.replace(4096 * i, object.size(), object);
  }
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
  std::filesystem::path with_fatbin(const std::string& bytes, const std::string& name = "op.so",
                                    const std::string& source = "", std::vector<std::string> options = {}) {
    const auto content = write(name + ".fatbin", bytes);
    return build(name,
                 "__asm__(\".section .hip_fatbin,\\\"a\\\",@progbits\\n.p2align 12\\n.incbin \\\"" +
                     content.string() + "\\\"\\n.text\\n\");" + source,
                 std::move(options));
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
  question.build_argument = "affine";
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

TEST_F(DeviceChecks, TakeADamagedCodeObjectForAnErrorWhereADeviceDependsOnIt) {
  const auto zeros = std::string(64, '\0');
  const auto alone = examine_with(with_fatbin(bundle_of({"gfx906", "gfx936"}, zeros)), {"gfx936"});
  EXPECT_THAT(errors_of(alone), ElementsAre("DCU309")) << "of gfx906's nothing depends";
  EXPECT_EQ(alone.verdict, Verdict::loads_cannot_launch);
  auto bundle = bundle_of({"gfx936", "gfx936:xnack-"});
  bundle.replace(4096, 64, zeros);
  const auto spared = examine_with(with_fatbin(bundle), {"gfx936:sramecc+:xnack-"});
  EXPECT_THAT(errors_of(spared), IsEmpty()) << "another one serves the device";
  EXPECT_NE(find(spared, "DCU309"), nullptr);
}

TEST_F(DeviceChecks, HoldTheFormOfTheCodeAgainstTheRuntime) {
  const auto script =
      write("hip.map", "hip_4.2 { global: hipOne; }; hip_5.2 { global: hipTwo; local: *; } hip_4.2;");
  const auto runtime = [&](const std::string& newest) {
    write("hip.map", "hip_4.2 { global: hipOne; }; " + newest + " { global: hipTwo; local: *; } hip_4.2;");
    return build("libamdhip64.so.5", "int hipOne(void) { return 1; } int hipTwo(void) { return 2; }",
                 {"-Wl,-soname,libamdhip64.so.5", "-Wl,--version-script=" + script.string()});
  };
  const std::string source = "int hipOne(void); int use(void) { return hipOne(); }";
  const auto file = with_fatbin(bundle_of({"gfx936"}, code_object(4)), "op.so", source,
                                {runtime("hip_5.2").string(), "-Wl,-rpath,$ORIGIN"});
  const auto report = examine_with(file, {"gfx936"});
  ASSERT_NE(find(report, "DCU312"), nullptr) << report.headline;
  EXPECT_EQ(find(report, "DCU312")->cause,
            "the device code is of code object version 6; HIP 5.2 knows versions up to 5");
  EXPECT_THAT(errors_of(report), testing::Contains("DCU312"));
  runtime("hip_6.1");
  EXPECT_EQ(find(examine_with(file, {"gfx936"}), "DCU312"), nullptr);
}

TEST_F(DeviceChecks, JudgeTheLibrariesThatTheFileBrings) {
  const std::string registers = "void** __hipRegisterFatBinary(void*) __attribute__((weak)); "
                                "void* helper(void) { return __hipRegisterFatBinary(0); }";
  const auto library =
      with_fatbin(bundle_of({"gfx906"}), "libkernels.so.1", registers, {"-Wl,-soname,libkernels.so.1"});
  const auto file = build("op.so", "int helper(void); int use(void) { return helper(); }",
                          {library.string(), "-Wl,-rpath,$ORIGIN"});
  const auto report = examine_with(file, {"gfx936"});
  ASSERT_THAT(errors_of(report), ElementsAre("DCU301")) << report.headline;
  EXPECT_EQ(find(report, "DCU301")->cause, "device code in libkernels.so.1 for gfx906; wanted: gfx936");
  EXPECT_THAT(report.headline, HasSubstr("libkernels.so.1 has no code for gfx936"));
  EXPECT_THAT(errors_of(examine_with(file, {"gfx906"})), IsEmpty());
}

TEST_F(DeviceChecks, FindNoKernelFilesOfRocblasForTheDevice) {
  const auto library =
      build("librocblas.so.4", "int helper(void) { return 1; }", {"-Wl,-soname,librocblas.so.4"});
  const auto file = build("op.so", "int helper(void); int use(void) { return helper(); }",
                          {library.string(), "-Wl,-rpath,$ORIGIN"});
  EXPECT_THAT(errors_of(examine_with(file, {"gfx1030"})), IsEmpty()) << "no kernel files at all: not judged";
  std::filesystem::create_directories(directory_ / "rocblas/library");
  write("rocblas/library/TensileLibrary_lazy_gfx90a.dat", "x");
  write("rocblas/library/Kernels.so-000-gfx1030.hsaco", "x");
  const auto report = examine_with(file, {"gfx1030"});
  ASSERT_THAT(errors_of(report), ElementsAre("DCU424")) << report.headline;
  EXPECT_EQ(report.verdict, Verdict::loads_cannot_launch);
  EXPECT_THAT(evidence_of(report, "DCU424"), HasSubstr("files for gfx90a"));
  EXPECT_THAT(errors_of(examine_with(file, {"gfx90a:sramecc+:xnack-"})), IsEmpty());
}

TEST_F(DeviceChecks, MissTheLibraryThatDtksRuntimeOpensByName) {
  const auto runtime =
      build("libgalaxyhip.so.5", "int helper(void) { return 1; }", {"-Wl,-soname,libgalaxyhip.so.5"});
  const auto file =
      with_fatbin(bundle_of({"gfx936"}), "op.so", "int helper(void); int use(void) { return helper(); }",
                  {runtime.string(), "-Wl,-rpath,$ORIGIN"});
  auto known = with_devices({"gfx936"});
  known.torch.reset(); // Debian's lies in a directory that has a libamd_comgr
  known.rocm.reset();
  auto image = machine(); // this machine's own /usr has one
  image.root = directory_;
  image.is_saved = true;
  Question question;
  question.file = file;
  const auto report = diagnose(question, known, image);
  ASSERT_NE(find(report, "DCU423"), nullptr) << report.headline;
  EXPECT_EQ(report.verdict, Verdict::loads_cannot_launch);
  build("libamd_comgr.so.2", "int version(void) { return 2; }", {"-Wl,-soname,libamd_comgr.so.2"});
  EXPECT_EQ(find(diagnose(question, known, image), "DCU423"), nullptr);
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
