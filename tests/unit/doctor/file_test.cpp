#include <fstream>

#include <gmock/gmock.h>

#include "clinic.hpp"

namespace dcuop::doctor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class FileChecks : public Clinic {
 protected:
  std::string content_of(const std::filesystem::path& file) { return read_file(file).value_or(""); }
  std::filesystem::path healthy() { return build("healthy.so", "int answer(void) { return 42; }"); }
  /// A copy of a healthy library with one byte of its header changed.
  std::filesystem::path with_byte(const std::string& name, std::size_t at, char value) {
    auto bytes = content_of(healthy());
    bytes.at(at) = value;
    return write(name, bytes);
  }
};

TEST_F(FileChecks, NameWhatIsNoElfFile) {
  std::filesystem::create_directory(directory_ / "directory.so");
  write("empty.so", "");
  write("short.so", "\177ELF\002\001\001");
  write("lfs.so", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
  write("text.so",
        "<!DOCTYPE html><html><body>404: this file is not here, and this is no library</body></html>");
  write("archive.so", "!<arch>\nfoo.o/          0           0     0     644     0         `\n");
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"nowhere.so", "DCU101"}, {"directory.so", "DCU102"}, {"empty.so", "DCU104"},  {"short.so", "DCU105"},
      {"lfs.so", "DCU106"},     {"text.so", "DCU107"},      {"archive.so", "DCU108"}};
  for (const auto& [name, rule] : expected) {
    const auto report = examine(directory_ / name);
    EXPECT_THAT(errors_of(report), ElementsAre(rule)) << name;
    EXPECT_EQ(report.verdict, Verdict::does_not_load) << name;
    EXPECT_THAT(report.headline, testing::StartsWith("does not load: ")) << name;
    EXPECT_FALSE(report.findings.front().fix.empty()) << name;
  }
}

TEST_F(FileChecks, FollowADanglingLinkByName) {
  std::filesystem::create_symlink("gone.so", directory_ / "link.so");
  EXPECT_THAT(evidence_of(examine(directory_ / "link.so"), "DCU101"),
              HasSubstr("a symbolic link to gone.so"));
}

TEST_F(FileChecks, NameAnotherMachineThatGlibcCallsMissing) {
  const auto report = examine(with_byte("arm.so", 18, '\xb7')); // e_machine: EM_AARCH64
  EXPECT_THAT(errors_of(report), ElementsAre("DCU110"));
  EXPECT_THAT(report.findings.front().cause, HasSubstr("AArch64"));
  EXPECT_THAT(evidence_of(report, "DCU110"), HasSubstr("No such file or directory"));
}

TEST_F(FileChecks, NameA32BitLibraryBeforeItsMachine) {
  const auto report = examine(with_byte("narrow.so", 4, 1)); // EI_CLASS: ELFCLASS32
  EXPECT_THAT(errors_of(report), ElementsAre("DCU109"));
  EXPECT_THAT(report.findings.front().cause, HasSubstr("32-bit, the interpreter is 64-bit"));
}

TEST_F(FileChecks, NameATruncatedFileWithBothSizes) {
  const auto bytes = content_of(healthy());
  const auto file = write("cut.so", std::string_view(bytes).substr(0, bytes.size() / 3));
  const auto report = examine(file);
  EXPECT_THAT(errors_of(report), ElementsAre("DCU111"));
  EXPECT_THAT(report.findings.front().cause,
              HasSubstr("has " + std::to_string(bytes.size() / 3) + " of the "));
  EXPECT_THAT(evidence_of(report, "DCU111"), HasSubstr("SIGBUS"));
}

TEST_F(FileChecks, NeverThrowWhereverAFileIsCut) {
  const auto bytes = content_of(healthy());
  for (std::size_t size = 0; size < bytes.size() - 64; size += 97) {
    const auto report = examine(write("cut.so", std::string_view(bytes).substr(0, size)));
    EXPECT_FALSE(report.findings.empty()) << size;
    const bool loads = report.verdict == Verdict::loads;
    EXPECT_EQ(loads, find(report, "DCU112") != nullptr) << "cut at " << size << ": " << report.headline;
  }
}

TEST_F(FileChecks, WarnOfCutSectionHeadersAlone) {
  const auto bytes = content_of(healthy());
  const auto report = examine(write("headless.so", std::string_view(bytes).substr(0, bytes.size() - 8)));
  EXPECT_EQ(report.verdict, Verdict::loads);
  EXPECT_NE(find(report, "DCU112"), nullptr);
}

TEST_F(FileChecks, NameWhatIsNotASharedObject) {
  const auto object =
      build("object.so", "int answer(void) { return 42; }", {"-c", "-fno-lto", "-U_FORTIFY_SOURCE"});
  EXPECT_THAT(examine(object).findings.front().cause, HasSubstr("an object file"));
  const auto program = build("program.so", "int main(void) { return 0; }",
                             {"-no-pie", "-fno-pie", "-nostartfiles", "-static"});
  const auto executable = examine(std::filesystem::canonical(python_with_torch));
  EXPECT_THAT(errors_of(executable), ElementsAre("DCU114"));
  EXPECT_THAT(executable.findings.front().cause, HasSubstr("executable"));
}

TEST_F(FileChecks, WarnOfAnExecutableStack) {
  const auto report = examine(build("stack.so", "int answer(void) { return 42; }", {"-Wl,-z,execstack"}));
  ASSERT_NE(find(report, "DCU115"), nullptr);
  EXPECT_THAT(evidence_of(report, "DCU115"), HasSubstr("glibc 2."));
}

TEST_F(FileChecks, WeighStaticThreadLocalStorage) {
  const std::string source = "static __thread char block[SIZE]; char* place(void) { return block; }";
  const auto large = examine(build("large.so", source, {"-ftls-model=initial-exec", "-DSIZE=8192"}));
  EXPECT_THAT(errors_of(large), ElementsAre("DCU117"));
  EXPECT_THAT(find(large, "DCU117")->cause, HasSubstr("8192 bytes"));
  const auto small = examine(build("small.so", source, {"-ftls-model=initial-exec", "-DSIZE=256"}));
  EXPECT_EQ(find(small, "DCU117"), nullptr);
  const auto medium = examine(build("medium.so", source, {"-ftls-model=initial-exec", "-DSIZE=1024"}));
  ASSERT_NE(find(medium, "DCU117"), nullptr);
  EXPECT_EQ(medium.verdict, Verdict::loads);
  environment_.set("GLIBC_TUNABLES", "glibc.malloc.check=0:glibc.rtld.optional_static_tls=16384");
  EXPECT_EQ(find(examine(directory_ / "large.so"), "DCU117"), nullptr) << "the fix that was given helps";
}

TEST_F(FileChecks, LookAtTheLibrariesThatItBringsToo) {
  const auto stack = build("libstack.so", "int one(void) { return 1; }", {"-Wl,-z,execstack"});
  const auto tls = build("libtls.so", "__thread char block[65536]; char* two(void) { return block; }",
                         {"-ftls-model=initial-exec"});
  const auto report =
      examine(build("op.so", "int one(void); int two(void); int use(void) { return one() + two(); }",
                    {"-L" + directory_.string(), "-lstack", "-ltls", "-Wl,-rpath,$ORIGIN"}));
  EXPECT_THAT(errors_of(report), ElementsAre("DCU117"));
  EXPECT_EQ(report.headline, "does not load: libtls.so needs much static thread-local storage.");
  ASSERT_NE(find(report, "DCU115"), nullptr);
  EXPECT_EQ(find(report, "DCU115")->cause, "libstack.so asks for an executable stack");
}

class Relocations : public Clinic {
 protected:
  static constexpr const char* code =
      "#include <stdio.h>\nstatic int v; int* p = &v; int use(void) { return puts(\"\"); }";
  static std::vector<std::string> lld(const std::string& form) {
    return {"-B/usr/lib/llvm-15/bin", "-fuse-ld=lld", "-Wl,--pack-dyn-relocs=" + form};
  }
  void SetUp() override {
    if (!std::filesystem::exists("/usr/lib/llvm-15/bin/ld.lld")) {
      GTEST_SKIP() << "no lld";
    }
  }
  /// A copy of this machine's libc that calls itself one minor older, and has no GLIBC_ABI_DT_RELR.
  void put_older_libc_first() {
    auto libc = read_file("/lib/x86_64-linux-gnu/libc.so.6").value_or("");
    const auto rename = [&](const std::string& from, const std::string& to) {
      for (auto at = libc.find(from + '\0'); at != std::string::npos; at = libc.find(from + '\0', at)) {
        libc.replace(at, from.size(), to);
      }
    };
    rename("GLIBC_ABI_DT_RELR", "GLIBC_ABI_DT_OTHE");
    for (const char* newer : {"36", "37", "38", "39", "40", "41", "42", "43"}) {
      rename(std::string("GLIBC_2.") + newer, "GLIBC_2.35");
    }
    write("libc.so.6", libc);
    environment_.set("LD_LIBRARY_PATH", directory_.string());
  }
};

TEST_F(Relocations, NeedTheVersionThatGlibcAsksFor) {
  const auto refused = examine(build("op.so", code, lld("relr")));
  EXPECT_THAT(errors_of(refused), ElementsAre("DCU118"));
  EXPECT_EQ(refused.verdict, Verdict::does_not_load);
  EXPECT_THAT(evidence_of(refused, "DCU118"), HasSubstr("DT_RELR without GLIBC_ABI_DT_RELR dependency"));
  EXPECT_THAT(find(refused, "DCU118")->chinese.cause, HasSubstr("没有向 libc 要求 GLIBC_ABI_DT_RELR"));
  const auto asks = examine(build("asks.so", code, {"-Wl,-z,pack-relative-relocs"}));
  EXPECT_THAT(errors_of(asks), IsEmpty());
  // Without the libc in DT_NEEDED glibc does not look for the version, and reads them.
  const auto no_libc = examine(build("alone.so", "static int v; int* p = &v;", lld("relr")));
  EXPECT_THAT(errors_of(no_libc), IsEmpty());
}

TEST_F(Relocations, AreLookedAtInTheLibrariesThatItBringsToo) {
  build("libpacked.so", code, lld("relr"));
  const auto report = examine(build("op.so", "int use(void); int run(void) { return use(); }",
                                    {"-L" + directory_.string(), "-lpacked", "-Wl,-rpath,$ORIGIN"}));
  EXPECT_THAT(errors_of(report), ElementsAre("DCU118"));
  EXPECT_THAT(report.headline, HasSubstr("libpacked.so has packed relocations"));
}

TEST_F(Relocations, OfAndroidAreNotReadAtAll) {
  for (const auto& [form, tag] : {std::pair("relr,--use-android-relr-tags", "DT_ANDROID_RELR"),
                                  std::pair("android", "DT_ANDROID_RELA")}) {
    const auto report = examine(build("op.so", code, lld(form)));
    EXPECT_THAT(errors_of(report), ElementsAre("DCU119")) << form;
    EXPECT_THAT(find(report, "DCU119")->cause, HasSubstr(tag));
  }
}

TEST_F(Relocations, AreNotReadByAnOlderGlibc) {
  const auto bare = build("bare.so", code, lld("relr"));
  const auto asks = build("asks.so", code, {"-Wl,-z,pack-relative-relocs"});
  put_older_libc_first();
  const auto unread = examine(bare);
  EXPECT_THAT(errors_of(unread), testing::Contains("DCU119"));
  EXPECT_THAT(evidence_of(unread, "DCU119"), HasSubstr("glibc 2.35"));
  EXPECT_EQ(find(unread, "DCU118"), nullptr);
  const auto refused = examine(asks);
  EXPECT_THAT(errors_of(refused), testing::Contains("DCU220"));
  EXPECT_EQ(find(refused, "DCU119"), nullptr) << "the loader refuses it before";
  EXPECT_THAT(evidence_of(refused, "DCU220"), HasSubstr("which glibc 2.36 and newer read"));
}

TEST_F(FileChecks, TellABuildThatDidNotEnd) {
  EXPECT_EQ(evidence_of(examine(directory_ / "op.so"), "DCU101").find("build.ninja"), std::string::npos);
  write("build.ninja", "");
  EXPECT_THAT(evidence_of(examine(directory_ / "op.so"), "DCU101"),
              HasSubstr("build.ninja lies there without it"));
}

TEST_F(FileChecks, KnowAModuleOfPython2ByItsEntry) {
  const std::string source = "void* PyImport_ImportModule(const char*); void* NAME(void) "
                             "{ return PyImport_ImportModule(\"sys\"); }";
  const auto report = examine(build("warp.so", source, {"-DNAME=initwarp"}));
  EXPECT_THAT(errors_of(report), ElementsAre("DCU230")) << report.headline;
  EXPECT_THAT(evidence_of(report, "DCU230"), HasSubstr("initwarp, the entry of a Python 2 module"));
  EXPECT_THAT(errors_of(examine(build("other.so", source, {"-DNAME=initwarp"}))), IsEmpty());
}

TEST_F(FileChecks, FindNothingInAHealthyLibrary) {
  const auto report = examine(healthy());
  EXPECT_THAT(errors_of(report), IsEmpty());
  EXPECT_EQ(report.verdict, Verdict::loads);
  EXPECT_THAT(report.headline, testing::StartsWith("loads. No error found ("));
  EXPECT_GT(report.checks, 40);
}

} // namespace
} // namespace dcuop::doctor
