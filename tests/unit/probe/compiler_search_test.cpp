#include <algorithm>

#include <gmock/gmock.h>

#include "dcuop/support/error.hpp"
#include "toolchain_fixture.hpp"

namespace dcuop::probe {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class CompilerSearchTest : public ToolchainFixture {
 protected:
  CompilerSearchTest() { environment_.set("PATH", (directory_ / "path").string() + ":/bin:/usr/bin"); }

  /// The error of `find`, with code 0 when there is none.
  template <typename Find> Error error_of(Find find) {
    try {
      (void)find();
    } catch (const Error& error) {
      return error;
    }
    return {ExitCode::ok, "no error"};
  }
  void install_fake_gcc(const std::string& name) {
    write(name,
          "#!/bin/sh\nprintf '%s\\n' 'Target: x86_64-linux-gnu' 'gcc version 12.2.0 (Debian 12.2.0-14)' "
          "' /usr/lib/gcc/x86_64-linux-gnu/12/cc1plus -quiet' >&2\n",
          true);
  }
};

TEST_F(CompilerSearchTest, DcuopHipccComesFirst) {
  install_fake_hip("rocm");
  install_fake_hip("other");
  environment_.set("ROCM_PATH", (directory_ / "rocm").string());
  EXPECT_EQ(find_hip_compiler(machine()).program, directory_ / "rocm/bin/hipcc");
  environment_.set("DCUOP_HIPCC", "other/bin/hipcc");
  const auto compiler = find_hip_compiler(machine());
  EXPECT_EQ(compiler.program, directory_ / "other/bin/hipcc");
  EXPECT_EQ(compiler.origin, "DCUOP_HIPCC");
}

TEST_F(CompilerSearchTest, ReadsVersionsFromTheReportAndFiles) {
  install_fake_hip("rocm");
  environment_.set("ROCM_PATH", (directory_ / "rocm").string());
  const auto compiler = find_hip_compiler(machine());
  EXPECT_EQ(compiler.origin, "ROCM_PATH");
  EXPECT_EQ(compiler.family, Family::clang);
  EXPECT_EQ(compiler.version, "15.0.0");
  EXPECT_EQ(compiler.version_line, "HCC clang version 15.0.0");
  EXPECT_EQ(compiler.target, "x86_64-unknown-linux-gnu");
  EXPECT_EQ(compiler.hip_version, "5.2.21153");

  const auto started = processes_.started();
  EXPECT_EQ(find_hip_compiler(machine()).version, "15.0.0");
  EXPECT_EQ(processes_.started(), started);

  write("rocm/reports/compile", "AMD clang version 17.0.0 (x)\n \"/x/clang\" \"-cc1\"\n");
  write("rocm/bin/hipcc.sh", read_file(directory_ / "rocm/bin/hipcc.sh").value() + "\n");
  EXPECT_EQ(find_hip_compiler(machine()).version, "17.0.0");
}

TEST_F(CompilerSearchTest, TakesDtksOwnDriversFromAnInstallationOnly) {
  install_fake_hip("opt/dtk");
  fs::rename(directory_ / "opt/dtk/bin/hipcc", directory_ / "opt/dtk/bin/dcc");
  environment_.set("ROCM_PATH", (directory_ / "opt/dtk").string());
  EXPECT_EQ(find_hip_compiler(machine()).program, directory_ / "opt/dtk/bin/dcc");

  environment_.unset("ROCM_PATH");
  environment_.set("PATH", (directory_ / "opt/dtk/bin").string());
  root_ = directory_ / "nothing";
  const auto error = error_of([&] { return find_hip_compiler(machine()); });
  EXPECT_EQ(error.code, ExitCode::environment);
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr("no HIP compiler"), HasSubstr("PATH"), HasSubstr("/opt/dtk/bin")));
  EXPECT_THAT(error.hint, HasSubstr("DCUOP_HIPCC"));
}

TEST_F(CompilerSearchTest, PathComesBeforeOpt) {
  install_fake_hip("tree/opt/dtk");
  root_ = directory_ / "tree";
  environment_.set("PATH", "/nowhere");
  const auto from_opt = find_hip_compiler(machine());
  EXPECT_EQ(from_opt.program, directory_ / "tree/opt/dtk/bin/hipcc");
  EXPECT_EQ(from_opt.origin, "/opt/dtk");
  write("path/hipcc", "#!/bin/sh\n", true);
  environment_.set("PATH", (directory_ / "path").string());
  EXPECT_EQ(find_hip_compiler(machine()).origin, "hipcc on PATH");
}

TEST_F(CompilerSearchTest, AnUnusableDcuopHipccIsAnError) {
  write("not-executable", "text");
  for (const std::string value : {"no-such-program", "/no/such/file", "./not-executable"}) {
    environment_.set("DCUOP_HIPCC", value);
    const auto error = error_of([&] { return find_hip_compiler(machine()); });
    EXPECT_EQ(error.code, ExitCode::environment) << value;
    EXPECT_THAT(error.what(), HasSubstr("DCUOP_HIPCC=" + value));
  }
}

TEST_F(CompilerSearchTest, CxxComesBeforeThePath) {
  install_fake_gcc("path/c++");
  install_fake_gcc("mine/g++-12");
  const auto from_path = find_host_compiler(machine());
  EXPECT_EQ(from_path.program, directory_ / "path/c++");
  EXPECT_EQ(from_path.origin, "c++ on PATH");
  EXPECT_EQ(from_path.family, Family::gcc);
  EXPECT_EQ(from_path.version, "12.2.0");
  EXPECT_EQ(from_path.target, "x86_64-linux-gnu");

  environment_.set("CXX", (directory_ / "mine/g++-12").string());
  EXPECT_EQ(find_host_compiler(machine()).program, directory_ / "mine/g++-12");
  EXPECT_EQ(find_host_compiler(machine()).origin, "CXX");
}

TEST_F(CompilerSearchTest, CxxMayBeAPathWithSpacesButNotACommand) {
  install_fake_gcc("path/g++");
  ASSERT_THAT(directory_.string(), HasSubstr(" "));
  environment_.set("CXX", (directory_ / "path/g++").string());
  EXPECT_EQ(find_host_compiler(machine()).program, directory_ / "path/g++");

  environment_.set("CXX", "g++ -m32");
  const auto error = error_of([&] { return find_host_compiler(machine()); });
  EXPECT_EQ(error.code, ExitCode::usage);
  EXPECT_THAT(error.what(), HasSubstr("CXX=g++ -m32"));
  EXPECT_THAT(error.hint, HasSubstr("CXX=g++ "));

  environment_.set("CXX", "no-such-compiler");
  EXPECT_EQ(error_of([&] { return find_host_compiler(machine()); }).code, ExitCode::environment);
}

TEST_F(CompilerSearchTest, ALauncherInCxxIsPassedOver) {
  install_fake_gcc("path/g++");
  environment_.set("CXX", "ccache g++");
  EXPECT_EQ(find_host_compiler(machine()).program, directory_ / "path/g++");
  environment_.set("CXX", "/usr/lib/ccache/sccache g++");
  EXPECT_EQ(find_host_compiler(machine()).program, directory_ / "path/g++");
}

TEST_F(CompilerSearchTest, NoHostCompilerIsAnEnvironmentError) {
  environment_.set("PATH", "/nowhere");
  EXPECT_THAT(error_of([&] { return find_host_compiler(machine()); }).what(),
              StartsWith("no host compiler: c++"));
  EXPECT_THAT(error_of([&] { return find_host_compiler(machine(), true); }).what(),
              HasSubstr("CC is not set"));
}

TEST_F(CompilerSearchTest, ACompilerThatDoesNotAnswerIsOfUnknownFamily) {
  write("path/c++", "#!/bin/sh\nexit 1\n", true);
  const auto compiler = find_host_compiler(machine());
  EXPECT_EQ(compiler.family, Family::unknown);
  EXPECT_EQ(compiler.version, "");
}

TEST_F(CompilerSearchTest, TheToolchainsClangCompilesForTheHost) {
  install_fake_hip("rocm");
  write("rocm/llvm/bin/clang++",
        "#!/bin/sh\nprintf '%s\\n' 'HCC clang version 15.0.0' ' \"/x/clang\" \"-cc1\"' >&2\n", true);
  const auto host = host_compiler_of(machine(), fake_hipcc());
  EXPECT_EQ(host.program, directory_ / "rocm/llvm/bin/clang++");
  EXPECT_EQ(host.family, Family::clang);
  EXPECT_EQ(host.hip_version, "");

  fs::rename(directory_ / "rocm/llvm/bin/clang++", directory_ / "rocm/llvm/bin/clang++-15");
  EXPECT_EQ(host_compiler_of(machine(), fake_hipcc()).program, directory_ / "rocm/llvm/bin/clang++-15");

  fs::remove(directory_ / "rocm/llvm/bin/clang++-15");
  const auto error = error_of([&] { return host_compiler_of(machine(), fake_hipcc()); });
  EXPECT_EQ(error.code, ExitCode::environment);
  EXPECT_THAT(error.what(), HasSubstr("names no clang++"));
}

TEST_F(CompilerSearchTest, RealHipcc) {
  environment_.set("PATH", "/usr/bin:/bin");
  if (!environment_.find_program("hipcc")) {
    GTEST_SKIP() << "no hipcc";
  }
  const auto compiler = find_hip_compiler(machine());
  EXPECT_EQ(compiler.family, Family::clang);
  EXPECT_FALSE(compiler.version.empty());
  EXPECT_THAT(compiler.version_line, HasSubstr("clang version " + compiler.version));
  EXPECT_EQ(std::count(compiler.hip_version.begin(), compiler.hip_version.end(), '.'), 2)
      << compiler.hip_version;
  const auto host = host_compiler_of(machine(), compiler);
  EXPECT_EQ(host.version, compiler.version);
  EXPECT_EQ(host.program.filename().string().substr(0, 7), "clang++");
}

TEST_F(CompilerSearchTest, RealGcc) {
  environment_.set("PATH", "/usr/bin:/bin");
  if (!environment_.find_program("gcc")) {
    GTEST_SKIP() << "no gcc";
  }
  environment_.set("CC", "gcc");
  const auto compiler = find_host_compiler(machine(), true);
  EXPECT_EQ(compiler.family, Family::gcc);
  EXPECT_THAT(compiler.version_line, StartsWith("gcc version " + compiler.version));
}

} // namespace
} // namespace dcuop::probe
