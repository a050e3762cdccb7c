// What the process around a file has: mounts, limits, its libstdc++, its runtimes.
#include <gmock/gmock.h>

#include "clinic.hpp"

namespace dcuop::doctor {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class ProcessChecks : public Clinic {
 protected:
  /// A small libstdc++ that knows versions up to `newest`.
  std::filesystem::path runtime(const std::string& directory, const std::vector<std::string>& versions) {
    std::filesystem::create_directories(directory_ / directory);
    std::string script;
    std::string above;
    for (const auto& version : versions) {
      script += version + " { " + (above.empty() ? "global: from_cxx_" + version.substr(12) + ";" : "") +
                " }" + above + ";\n";
      above = " " + version;
    }
    const auto map = write(directory + "/map", script);
    return build(directory + "/libstdc++.so.6",
                 "int from_cxx_" + versions.front().substr(12) + "(void) { return 1; }",
                 {"-Wl,--version-script=" + map.string(), "-Wl,-soname,libstdc++.so.6", "-nostdlib"});
  }
};

TEST_F(ProcessChecks, AFileOnANoexecMountNamesTheMount) {
  std::filesystem::create_directories(directory_ / "a b");
  const auto file = build("a b/plain.so", "int f(void) { return 1; }");
  const auto above = std::filesystem::canonical(directory_).string();
  const auto line = [](const std::string& point, const std::string& options) {
    return "30 27 0:40 / " + point + " " + options + " shared:1 - tmpfs tmpfs rw\n";
  };
  const std::string root = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n";
  auto here = machine();
  here.root = directory_ / "tree";
  std::filesystem::create_directories(here.root / "proc/self");
  const auto mounted = [&](const std::string& mountinfo) {
    write("tree/proc/self/mountinfo", mountinfo);
    Question question;
    question.file = file;
    return diagnose(question, facts(), here);
  };
  const auto report = mounted(root + "broken line\n" + line(above + "/a\\040b", "rw,nosuid,noexec"));
  ASSERT_NE(find(report, "DCU116"), nullptr);
  EXPECT_THAT(evidence_of(report, "DCU116"), HasSubstr(above + "/a b is tmpfs, rw,nosuid,noexec"));
  EXPECT_EQ(report.verdict, Verdict::does_not_load);
  EXPECT_NE(find(mounted(root + line(above, "rw,noexec")), "DCU116"), nullptr) << "the directory above";
  for (const auto& fine :
       {root, root + line(above, "rw,exec"), root + line(above + "/a", "rw,noexec"),
        root + line(above, "rw,noexec") + line(above + "/a\\040b", "rw"), // a mount below it
        root + line(above, "rw,noexec") + line(above, "rw")}) {           // a mount on top of it
    EXPECT_EQ(find(mounted(fine), "DCU116"), nullptr) << fine;
  }
}

TEST_F(ProcessChecks, ALimitOfTheAddressSpaceIsHeldAgainstTheSegments) {
  const auto file = build("large.so", "char room[400 << 20]; char* f(void) { return room; }");
  auto here = machine();
  here.root = directory_ / "tree";
  std::filesystem::create_directories(here.root / "proc/self");
  const auto limited = [&](const std::string& value) {
    write("tree/proc/self/limits",
          "Limit                     Soft Limit           Hard Limit           Units     \n"
          "Max address space         " +
              value + "            unlimited            bytes     \n");
    Question question;
    question.file = file;
    return diagnose(question, facts(), here);
  };
  EXPECT_EQ(find(limited("unlimited"), "DCU421"), nullptr);
  EXPECT_EQ(find(limited("1073741824"), "DCU421"), nullptr);
  const auto report = limited("314572800");
  ASSERT_NE(find(report, "DCU421"), nullptr);
  EXPECT_THAT(find(report, "DCU421")->cause, HasSubstr("the address space is limited to 300 MiB"));
  EXPECT_THAT(evidence_of(report, "DCU421"), HasSubstr("Max address space 314572800"));
  EXPECT_EQ(report.verdict, Verdict::does_not_load);
}

TEST_F(ProcessChecks, CondasOlderRuntimeIsNamedAndTheNewerOneOffered) {
  const auto newer = runtime("system", {"GLIBCXX_3.4.90"});
  const auto file =
      build("user.so", "int from_cxx_90(void); int f(void) { return from_cxx_90(); }", {newer.string()});
  // Older, and the first on the path.
  std::filesystem::create_directories(directory_ / "env/conda-meta");
  std::filesystem::create_directories(directory_ / "env/lib");
  const auto old = runtime("env/lib", {"GLIBCXX_3.4.19"});
  environment_.set("LD_LIBRARY_PATH",
                   (directory_ / "env/lib").string() + ":" + (directory_ / "system").string());
  auto known = facts();
  known.torch.reset();
  known.python.reset(); // a process that has no libstdc++ yet
  Question question;
  question.file = file;
  const auto report = diagnose(question, known, machine());
  ASSERT_NE(find(report, "DCU420"), nullptr);
  EXPECT_EQ(find(report, "DCU220"), nullptr) << "one cause, one finding";
  EXPECT_EQ(find(report, "DCU420")->cause,
            "conda's " + old.string() + " is loaded and has no GLIBCXX_3.4.90; " + newer.string() + " has");
  EXPECT_THAT(evidence_of(report, "DCU420"), HasSubstr("GLIBCXX_3.4.19 at most; found by LD_LIBRARY_PATH"));
  EXPECT_THAT(find(report, "DCU420")->fix, HasSubstr("conda install -c conda-forge libstdcxx-ng"));
  EXPECT_THAT(find(report, "DCU420")->fix, HasSubstr("LD_PRELOAD=" + newer.string()));
}

TEST_F(ProcessChecks, WithoutANewerCopyBuildingAgainStaysTheFix) {
  const auto newer = runtime("system", {"GLIBCXX_3.4.90"});
  const auto file =
      build("user.so", "int from_cxx_90(void); int f(void) { return from_cxx_90(); }", {newer.string()});
  std::filesystem::remove_all(directory_ / "system");
  runtime("old", {"GLIBCXX_3.4.19"});
  environment_.set("LD_LIBRARY_PATH", (directory_ / "old").string());
  auto known = facts();
  known.torch.reset();
  known.python.reset();
  Question question;
  question.file = file;
  const auto report = diagnose(question, known, machine());
  EXPECT_EQ(find(report, "DCU420"), nullptr);
  EXPECT_NE(find(report, "DCU220"), nullptr);
}

TEST_F(ProcessChecks, TwoCopiesOfARuntimeAreSaid) {
  std::filesystem::create_directories(directory_ / "torch");
  std::filesystem::create_directories(directory_ / "rocm");
  const auto bundled =
      build("torch/libamdhip64.so", "int hip_a(void) { return 1; }", {"-Wl,-soname,libamdhip64.so"});
  const auto system =
      build("rocm/libamdhip64.so.6", "int hip_b(void) { return 1; }", {"-Wl,-soname,libamdhip64.so.6"});
  const auto file =
      build("both.so", "int hip_a(void); int hip_b(void); int f(void) { return hip_a() + hip_b(); }",
            {bundled.string(), system.string(),
             "-Wl,-rpath," + (directory_ / "torch").string() + ":" + (directory_ / "rocm").string()});
  const auto report = examine(file);
  ASSERT_NE(find(report, "DCU417"), nullptr);
  EXPECT_EQ(find(report, "DCU417")->cause, "libamdhip64 would be loaded from 2 files");
  EXPECT_THAT(evidence_of(report, "DCU417"), HasSubstr(std::filesystem::canonical(bundled).string()));
  EXPECT_THAT(evidence_of(report, "DCU417"), HasSubstr(std::filesystem::canonical(system).string()));
  EXPECT_THAT(errors_of(report), IsEmpty());
}

TEST_F(ProcessChecks, OneFileUnderTwoNamesIsOne) {
  const auto library =
      build("libamdhip64.so.6", "int hip_a(void) { return 1; }", {"-Wl,-soname,libamdhip64.so.6"});
  std::filesystem::create_symlink(library, directory_ / "libamdhip64.so");
  const auto helper = build("libhelp.so", "int hip_a(void); int g(void) { return hip_a(); }",
                            {library.string(), "-Wl,-rpath,$ORIGIN"});
  const auto file = build("one.so", "int hip_a(void); int g(void); int f(void) { return hip_a() + g(); }",
                          {library.string(), helper.string(), "-Wl,-rpath,$ORIGIN"});
  EXPECT_EQ(find(examine(file), "DCU417"), nullptr);
}

} // namespace
} // namespace dcuop::doctor
