#include <gmock/gmock.h>

#include "clinic.hpp"

namespace dcuop::doctor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class LibraryChecks : public Clinic {
 protected:
  std::string at(const std::string& name) const { return (directory_ / name).string(); }
  std::filesystem::path provider(const std::string& soname,
                                 const std::string& source = "int helper(void) { return 1; }",
                                 std::vector<std::string> options = {}) {
    options.push_back("-Wl,-soname," + soname);
    return build(soname, source, std::move(options));
  }
};

constexpr const char* user = "int helper(void); int use(void) { return helper(); }";
constexpr const char* hip_user = "int hipFree(void); int use(void) { return hipFree(); }";
constexpr const char* hip_runtime = "int hipFree(void) { return 1; }";

TEST_F(LibraryChecks, NameTheChainToWhatIsMissingAndHideItsSymbols) {
  std::filesystem::create_directory(directory_ / "gone");
  build("gone/libdeep.so.1", "int deep(void) { return 1; }", {"-Wl,-soname,libdeep.so.1"});
  provider("libmiddle.so.1", "int deep(void); int helper(void) { return deep(); }",
           {at("gone/libdeep.so.1")});
  const auto file = build("top.so", user, {at("libmiddle.so.1"), "-Wl,-rpath,$ORIGIN"});
  std::filesystem::remove_all(directory_ / "gone");
  const auto report = examine(file);
  ASSERT_THAT(errors_of(report), ElementsAre("DCU201")) << report.headline;
  EXPECT_EQ(report.headline, "does not load: libdeep.so.1 is not found.");
  EXPECT_THAT(evidence_of(report, "DCU201"),
              HasSubstr("wanted by: top.so -> libmiddle.so.1 -> libdeep.so.1\n"));
}

TEST_F(LibraryChecks, BlameTheDependencyThatLacksASymbol) {
  const auto library =
      provider("libdeep.so.1", "void nowhere(void); int helper(void) { nowhere(); return 1; }");
  const auto file =
      build("op.so", user, {library.string(), "-Wl,-rpath,$ORIGIN", "-Wl,--allow-shlib-undefined"});
  const auto report = examine(file);
  ASSERT_THAT(errors_of(report), ElementsAre("DCU218")) << report.headline;
  EXPECT_EQ(report.headline, "does not load: a source of its own is missing from libdeep.so.1.");
  EXPECT_THAT(evidence_of(report, "DCU218"), HasSubstr("wanted by: libdeep.so.1, which op.so needs"));
}

TEST_F(LibraryChecks, ListTheOtherVersionsThatAreHere) {
  provider("libamdhip64.so.99", hip_runtime);
  const auto file = build("op.so", hip_user, {at("libamdhip64.so.99")});
  std::filesystem::remove(directory_ / "libamdhip64.so.99");
  provider("libamdhip64.so.98");
  const auto report = examine(file);
  ASSERT_THAT(errors_of(report), ElementsAre("DCU202")) << report.headline;
  EXPECT_THAT(find(report, "DCU202")->cause, HasSubstr("libamdhip64.so.99 is not found, but "));
  EXPECT_THAT(evidence_of(report, "DCU202"), HasSubstr("libamdhip64.so.98"));
}

TEST_F(LibraryChecks, SayWhereALibraryLiesThatIsOffThePath) {
  const auto file = build("op.so", user, {provider("libhelper.so.3").string()});
  const auto off_path = examine(file);
  ASSERT_THAT(errors_of(off_path), ElementsAre("DCU209"));
  EXPECT_THAT(find(off_path, "DCU209")->fix, HasSubstr("LD_LIBRARY_PATH=" + directory_.string()));
  environment_.set("LD_LIBRARY_PATH", directory_.string());
  EXPECT_THAT(errors_of(examine(file)), IsEmpty()) << "the fix that was given helps";
}

TEST_F(LibraryChecks, TellTheRuntimesOfDtkAndRocmApart) {
  const auto file = build("op.so", hip_user, {provider("libgalaxyhip.so.5", hip_runtime).string()});
  std::filesystem::remove(directory_ / "libgalaxyhip.so.5");
  provider("libamdhip64.so.77");
  const auto report = examine(file);
  ASSERT_THAT(errors_of(report), ElementsAre("DCU205")) << report.headline;
  EXPECT_EQ(report.headline, "does not load: it was built with DTK, this machine has ROCm.");
}

TEST_F(LibraryChecks, NeedATorchWithHip) {
  const std::string name = "int streams(void) __asm__(\"_ZN3c103hip7streamsEv\"); ";
  const auto library = provider("libc10_hip.so", name + "int streams(void) { return 1; }");
  const auto file = build("op.so", name + "int use(void) { return streams(); }", {library.string()});
  std::filesystem::remove(directory_ / "libc10_hip.so");
  const auto report = examine(file);
  if (has_torch() && facts().torch->is_cpu_only()) {
    ASSERT_THAT(errors_of(report), ElementsAre("DCU204")) << report.headline;
    EXPECT_THAT(find(report, "DCU204")->cause,
                HasSubstr("libc10_hip.so wanted, but torch " + facts().torch->summary()));
  }
  EnvironmentFacts without_torch = facts();
  without_torch.torch.reset();
  without_torch.torch_problem = "no torch on the search path of python3";
  Question question;
  question.file = file;
  EXPECT_THAT(errors_of(diagnose(question, without_torch, machine())), ElementsAre("DCU207"));
}

TEST_F(LibraryChecks, NameADependencyThatIsNoLibrary) {
  const auto file = build("op.so", user, {provider("libhelper.so.1").string(), "-Wl,-rpath,$ORIGIN"});
  write("libhelper.so.1",
        "this is a text that took the place of the library, and it is long enough for a header");
  const auto report = examine(file);
  ASSERT_THAT(errors_of(report), testing::Contains("DCU206")) << report.headline;
  EXPECT_EQ(report.findings.front().rule, "DCU206");
  EXPECT_THAT(evidence_of(report, "DCU206"), HasSubstr("libhelper.so.1: invalid ELF header"));
}

TEST_F(LibraryChecks, SayWhatLiesInThePlaceOfALibrary) {
  const auto file = build("op.so", user, {provider("libhelper.so.1").string(), "-Wl,-rpath,$ORIGIN"});
  write("libhelper.so.1", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n");
  const auto report = examine(file);
  EXPECT_THAT(errors_of(report), ElementsAre("DCU206")) << "what it would have defined is not missed besides";
  EXPECT_THAT(evidence_of(report, "DCU206"), HasSubstr("libhelper.so.1 is a Git LFS pointer"));
}

TEST_F(LibraryChecks, NameADirectoryOfTheRunpathThatIsGone) {
  const auto file = build("op.so", user, {provider("libhelper.so.1").string(), "-Wl,-rpath,/build/op/lib"});
  const auto report = examine(file);
  ASSERT_THAT(errors_of(report), ElementsAre("DCU209")) << report.headline;
  EXPECT_THAT(evidence_of(report, "DCU209"), HasSubstr("/build/op/lib of op.so, which does not exist"));
}

TEST_F(LibraryChecks, NameTheVersionNodeAndTheNewestThatThereIs) {
  const auto script =
      write("new.map", "helper_1.0 { global: old; }; helper_2.0 { global: helper; local: *; } helper_1.0;");
  const auto old_script = write("old.map", "helper_1.0 { global: helper; old; local: *; };");
  const std::string source = "int old(void) { return 0; } int helper(void) { return 1; }";
  provider("libhelper.so.1", source, {"-Wl,--version-script=" + script.string()});
  const auto file = build("op.so", user, {at("libhelper.so.1"), "-Wl,-rpath,$ORIGIN"});
  EXPECT_THAT(errors_of(examine(file)), IsEmpty());
  provider("libhelper.so.1", source, {"-Wl,--version-script=" + old_script.string()});
  const auto report = examine(file);
  ASSERT_THAT(errors_of(report), ElementsAre("DCU220")) << report.headline;
  EXPECT_THAT(find(report, "DCU220")->cause, HasSubstr("libhelper.so.1 has no version helper_2.0"));
  EXPECT_THAT(evidence_of(report, "DCU220"), HasSubstr("offered: helper_1.0 at most"));
}

TEST_F(LibraryChecks, SayWhichGccALibraryIsTooOldFor) {
  // A stand-in for the build machine's newer libstdc++: its node is newer than any that exists.
  const auto script = write("cxx.map", "GLIBCXX_3.4.32 { global: helper; local: *; };");
  provider("libstdc++.so.6", "int helper(void) { return 1; }", {"-Wl,--version-script=" + script.string()});
  const auto file = build("op.so", user, {at("libstdc++.so.6")});
  std::filesystem::remove(directory_ / "libstdc++.so.6");
  const auto report = examine(file);
  ASSERT_THAT(errors_of(report), testing::Contains("DCU220")) << report.headline;
  EXPECT_EQ(report.headline, "does not load: libstdc++.so.6 is too old.");
  EXPECT_THAT(evidence_of(report, "DCU220"), HasSubstr("offered: GLIBCXX_3.4."));
  EXPECT_THAT(evidence_of(report, "DCU220"), HasSubstr("built with GCC 13.2 or newer"));
}

TEST_F(LibraryChecks, NameAStandInWithoutAnyVersions) {
  const auto script = write("versions.map", "helper_1.0 { global: helper; local: *; };");
  provider("libhelper.so.1", "int helper(void) { return 1; }", {"-Wl,--version-script=" + script.string()});
  const auto file = build("op.so", user, {at("libhelper.so.1"), "-Wl,-rpath,$ORIGIN"});
  provider("libhelper.so.1", "int helper(void) { return 1; }", {"-nostdlib"});
  const auto report = examine(file);
  ASSERT_THAT(errors_of(report), ElementsAre("DCU221")) << report.headline;
  EXPECT_THAT(evidence_of(report, "DCU221"), HasSubstr("Assertion"));
}

} // namespace
} // namespace dcuop::doctor
