#include "dcuop/probe/toolchain.hpp"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>

#include "dcuop/support/error.hpp"
#include "toolchain_fixture.hpp"

namespace dcuop::probe {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::vector<std::string> hip_compile = {"--offload-arch=gfx906", "-O3", "-c", "-x", "hip"};
const std::vector<std::string> hip_link = {"--offload-arch=gfx906", "-shared"};

std::vector<std::string> names(const Toolchain& toolchain) {
  std::vector<std::string> all;
  for (const auto& file : toolchain.files) {
    all.push_back(file.role + " " + file.path.filename().string());
  }
  return all;
}

class ToolchainTest : public ToolchainFixture {
 protected:
  Toolchain resolve(const std::vector<std::string>& arguments = hip_compile) {
    return resolve_toolchain(machine(), fake_hipcc(), arguments, scrubbed());
  }
};

TEST_F(ToolchainTest, GathersWrapperScriptsToolsAndBitcode) {
  install_fake_hip();
  const auto toolchain = resolve();
  EXPECT_EQ(toolchain.problem, "");
  EXPECT_THAT(names(toolchain),
              ElementsAre("bitcode oclc_isa_version_906.bc", "bitcode ocml.bc",
                          "bundler clang-offload-bundler", "compiler clang", "linker lld",
                          "script .hipVersion", "script hipcc.sh", "script hipvars.sh", "wrapper hipcc"));
  EXPECT_THAT(toolchain.resolved_cpu, IsEmpty());
}

TEST_F(ToolchainTest, RemembersWithoutStartingAProcess) {
  install_fake_hip();
  const auto cold = resolve();
  const auto started = processes_.started();
  EXPECT_GT(started, 0u);
  const auto warm = resolve();
  EXPECT_EQ(processes_.started(), started);
  EXPECT_EQ(warm.identity, cold.identity);
  EXPECT_EQ(names(warm), names(cold));
  EXPECT_EQ(warm.compiler.program, cold.compiler.program);
}

TEST_F(ToolchainTest, EveryPartChangesTheIdentity) {
  install_fake_hip();
  auto last = resolve().identity;
  for (const auto* part :
       {"bin/hipcc.sh", "bin/hipvars.sh", "bin/.hipVersion", "llvm/bin/clang", "llvm/bin/lld",
        "llvm/bin/clang-offload-bundler", "bitcode/ocml.bc", "bitcode/oclc_isa_version_906.bc"}) {
    const auto path = fs::path("rocm") / part;
    write(path, read_file(directory_ / path).value() + "\n# changed\n");
    const auto now = resolve();
    EXPECT_EQ(now.problem, "");
    EXPECT_NE(now.identity, last) << part;
    last = now.identity;
  }
  write("rocm/bin/notes.sh", "changed");
  EXPECT_EQ(resolve().identity, last) << "a script that only a comment mentions";
}

TEST_F(ToolchainTest, IdentityIsThatOfContentsNotOfDirectories) {
  install_fake_hip("rocm");
  install_fake_hip("elsewhere/dtk-25.04");
  auto other = fake_hipcc();
  other.program = directory_ / "elsewhere/dtk-25.04/bin/hipcc";
  const auto moved = resolve_toolchain(machine(), other, hip_compile, scrubbed());
  EXPECT_EQ(moved.identity, resolve().identity);
  EXPECT_NE(moved.files.front().path, resolve().files.front().path);
}

TEST_F(ToolchainTest, OrderOfFlagsIsNotPartOfTheIdentity) {
  install_fake_hip();
  const auto one = resolve({"--offload-arch=gfx906", "-DA=1", "-DB=2", "-c", "-x", "hip"});
  const auto other = resolve({"-DB=2", "-DA=1", "--offload-arch=gfx906", "-c", "-x", "hip"});
  EXPECT_EQ(one.identity, other.identity);
}

TEST_F(ToolchainTest, AsksForTheLinkWithAnObject) {
  install_fake_hip();
  const auto toolchain = resolve(hip_link);
  EXPECT_EQ(toolchain.problem, "");
  EXPECT_THAT(names(toolchain), AllOf(Contains("linker lld"), Not(Contains("compiler clang"))));
}

TEST_F(ToolchainTest, AVariableThatReachesTheCompilerIsAnotherQuestion) {
  install_fake_hip();
  (void)resolve();
  const auto started = processes_.started();
  environment_.set("HIPCC_COMPILE_FLAGS_APPEND", "-DX=7");
  (void)resolve();
  EXPECT_EQ(processes_.started(), started + 1);
  environment_.set("EDITOR", "ed");
  (void)resolve();
  EXPECT_EQ(processes_.started(), started + 1) << "EDITOR does not reach it";
}

TEST_F(ToolchainTest, LibrariesOfToolsBelongToIt) {
  install_fake_hip();
  fs::copy_file("/bin/true", directory_ / "rocm/llvm/bin/lld", fs::copy_options::overwrite_existing);
  const auto plain = resolve();
  EXPECT_THAT(names(plain), Contains("library libc.so.6"));

  const auto libc = std::find_if(plain.files.begin(), plain.files.end(),
                                 [](const ToolFile& file) { return file.path.filename() == "libc.so.6"; });
  fs::create_directories(directory_ / "lib");
  fs::copy_file(libc->path, directory_ / "lib/libc.so.6");
  std::ofstream(directory_ / "lib/libc.so.6", std::ios::app) << "changed";
  auto with_library = scrubbed();
  with_library.set("LD_LIBRARY_PATH", (directory_ / "lib").string());
  const auto other = resolve_toolchain(machine(), fake_hipcc(), hip_compile, with_library);
  EXPECT_NE(other.identity, plain.identity);
  EXPECT_TRUE(std::any_of(other.files.begin(), other.files.end(),
                          [&](const ToolFile& file) { return file.path == directory_ / "lib/libc.so.6"; }));
}

TEST_F(ToolchainTest, ALibraryThatAppearsEarlierIsSeen) {
  install_fake_hip();
  fs::copy_file("/bin/true", directory_ / "rocm/llvm/bin/lld", fs::copy_options::overwrite_existing);
  environment_.set("LD_LIBRARY_PATH", (directory_ / "lib").string());
  const auto before = resolve();
  fs::create_directories(directory_ / "lib");
  const auto libc = std::find_if(before.files.begin(), before.files.end(),
                                 [](const ToolFile& file) { return file.path.filename() == "libc.so.6"; });
  fs::copy_file(libc->path, directory_ / "lib/libc.so.6");
  std::ofstream(directory_ / "lib/libc.so.6", std::ios::app) << "changed";
  const auto after = resolve();
  EXPECT_NE(after.identity, before.identity);
}

TEST_F(ToolchainTest, AMissingLibraryIsAProblem) {
  install_fake_hip();
  fs::remove(directory_ / "rocm/bitcode/ocml.bc");
  const auto toolchain = resolve();
  EXPECT_THAT(toolchain.problem, AllOf(HasSubstr("ocml.bc"), HasSubstr("cannot be read")));
}

TEST_F(ToolchainTest, AProblemIsNotRemembered) {
  install_fake_hip();
  write("rocm/bin/hipvars.sh", "status=3\n");
  const auto broken = resolve();
  EXPECT_THAT(broken.problem, AllOf(HasSubstr("does not answer -###"), HasSubstr("hipcc")));
  EXPECT_THAT(broken.files, IsEmpty());
  write("rocm/bin/hipvars.sh", "status=0\n");
  EXPECT_EQ(resolve().problem, "");
}

TEST_F(ToolchainTest, ADriverThatSaysNothingKnownIsAProblem) {
  write("rocm/bin/hipcc", "#!/bin/sh\necho 'nvcc fatal: unknown option' >&2\n", true);
  EXPECT_THAT(resolve().problem, HasSubstr("nvcc fatal: unknown option"));
}

TEST_F(ToolchainTest, AnErrorBesideTheStepsIsAProblem) {
  install_fake_hip();
  const auto report = read_file(directory_ / "rocm/reports/compile").value();
  write("rocm/reports/compile",
        "clang: error: cannot find ROCm device library; provide its path via '--rocm-path'\n" + report);
  EXPECT_THAT(resolve().problem, HasSubstr("cannot find ROCm device library"));
}

TEST_F(ToolchainTest, AHipCompilerIsNeverCalledWithoutAnArch) {
  install_fake_hip();
  const auto toolchain = resolve({"-c", "-x", "hip"});
  EXPECT_THAT(toolchain.problem, HasSubstr("--offload-arch"));
  EXPECT_EQ(processes_.started(), 0u);
}

TEST_F(ToolchainTest, ToolsFoundOnPathAreWatchedForEarlierOnes) {
  write("gcc/g++", "#!/bin/sh\nprintf '%s\\n' 'gcc version 12.2.0' ' /no/cc1plus -quiet' ' as --64' >&2\n",
        true);
  write("gcc/g++",
        "#!/bin/sh\nprintf '%s\\n' 'gcc version 12.2.0' ' \"" + (directory_ / "gcc/cc1plus").string() +
            "\" -quiet' ' as --64' >&2\n",
        true);
  write("gcc/cc1plus", "cc1plus", true);
  write("second/as", "as", true);
  environment_.set("PATH", (directory_ / "first").string() + ":" + (directory_ / "second").string() +
                               ":/usr/bin:/bin");
  Compiler compiler;
  compiler.program = directory_ / "gcc/g++";
  const std::vector<std::string> arguments = {"-c", "-x", "c++"};
  const auto before = resolve_toolchain(machine(), compiler, arguments, scrubbed());
  EXPECT_EQ(before.problem, "");
  EXPECT_THAT(names(before), Contains("assembler as"));

  write("first/as", "another as", true);
  const auto after = resolve_toolchain(machine(), compiler, arguments, scrubbed());
  EXPECT_NE(after.identity, before.identity);
  const auto assembler = std::find_if(after.files.begin(), after.files.end(),
                                      [](const ToolFile& file) { return file.role == "assembler"; });
  ASSERT_NE(assembler, after.files.end());
  EXPECT_EQ(assembler->path, directory_ / "first/as");
}

TEST_F(ToolchainTest, UnknownArchIsAUsageErrorWithTheWayOut) {
  install_fake_hip();
  const auto refusal = [&](const std::string& arch) {
    write("rocm/reports/compile", "Debian clang version 15.0.6\nclang: error: invalid target ID '" + arch +
                                      "'; format is a processor name\n");
    try {
      (void)resolve();
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ExitCode::usage);
      return std::pair<std::string, std::string>(error.what(), error.hint);
    }
    return std::pair<std::string, std::string>();
  };
  const auto [message, hint] = refusal("gfx942");
  EXPECT_EQ(message, "hipcc 5.2.21153 (clang 15.0.6) cannot compile for gfx942");
  EXPECT_THAT(hint, AllOf(HasSubstr("--arch"), HasSubstr("clang: error: invalid target ID 'gfx942'"),
                          Not(HasSubstr("DTK"))));
  const auto [dcu_message, dcu_hint] = refusal("gfx936:sramecc+");
  EXPECT_THAT(dcu_message, HasSubstr("gfx936:sramecc+"));
  EXPECT_THAT(dcu_hint, AllOf(HasSubstr("gfx936 is a Hygon DCU (BW1000)"), HasSubstr("DTK")));
}

class RealToolchainTest : public ToolchainFixture {
 protected:
  bool has(const std::string& program) { return environment_.find_program(program).has_value(); }
};

TEST_F(RealToolchainTest, HipccIsMadeOfAllItsParts) {
  if (!has("hipcc")) {
    GTEST_SKIP() << "no hipcc";
  }
  const auto compiler = find_hip_compiler(machine());
  const auto toolchain = resolve_toolchain(machine(), compiler, hip_compile, scrubbed());
  EXPECT_EQ(toolchain.problem, "");
  EXPECT_THAT(names(toolchain),
              AllOf(Contains("bitcode ocml.bc"), Contains("bitcode oclc_isa_version_906.bc"),
                    Contains("bundler clang-offload-bundler"), Contains("compiler clang"),
                    Contains("linker lld"), Contains("library libc.so.6")));
  const auto started = processes_.started();
  EXPECT_EQ(resolve_toolchain(machine(), compiler, hip_compile, scrubbed()).identity, toolchain.identity);
  EXPECT_EQ(processes_.started(), started);

  if (compiler.version == "15.0.6") {
    EXPECT_THAT(names(toolchain),
                AllOf(Contains("wrapper hipcc"), Contains("script hipcc.pl"), Contains("script hipvars.pm"),
                      Contains("library libLLVM-15.so.1"), Contains("library libclang-cpp.so.15")));
  }
  auto other_arch = hip_compile;
  other_arch[0] = "--offload-arch=gfx90a";
  const auto other = resolve_toolchain(machine(), compiler, other_arch, scrubbed());
  EXPECT_NE(other.identity, toolchain.identity);
  EXPECT_THAT(names(other), Contains("bitcode oclc_isa_version_90a.bc"));
}

TEST_F(RealToolchainTest, HipccRefusesAnArchOfDtk) {
  if (!has("hipcc")) {
    GTEST_SKIP() << "no hipcc";
  }
  const auto compiler = find_hip_compiler(machine());
  if (compiler.version != "15.0.6") {
    GTEST_SKIP() << "another hipcc: " << compiler.version;
  }
  for (const std::string arch : {"gfx928", "gfx1100", "nonsense"}) {
    try {
      (void)resolve_toolchain(machine(), compiler, {"--offload-arch=" + arch, "-c", "-x", "hip"}, scrubbed());
      ADD_FAILURE() << arch << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()), "hipcc 5.2.21153 (clang 15.0.6) cannot compile for " + arch);
      EXPECT_THAT(error.hint, HasSubstr("clang: error: "));
    }
  }
}

TEST_F(RealToolchainTest, HipccLinksWithTheHostLinker) {
  if (!has("hipcc")) {
    GTEST_SKIP() << "no hipcc";
  }
  const auto compiler = find_hip_compiler(machine());
  const auto plain = resolve_toolchain(machine(), compiler, hip_link, scrubbed());
  EXPECT_EQ(plain.problem, "");
  EXPECT_THAT(names(plain), Contains("linker ld"));
  auto relocatable = hip_link;
  relocatable.insert(relocatable.end(), {"-fgpu-rdc", "--hip-link"});
  const auto device = resolve_toolchain(machine(), compiler, relocatable, scrubbed());
  EXPECT_THAT(names(device), AllOf(Contains("linker lld"), Contains("bundler clang-offload-bundler")));
}

TEST_F(RealToolchainTest, GccBringsItsAssemblerAndLinker) {
  if (!has("g++")) {
    GTEST_SKIP() << "no g++";
  }
  Compiler compiler;
  compiler.program = environment_.find_program("g++").value();
  const auto compile = resolve_toolchain(machine(), compiler, {"-O2", "-c", "-x", "c++"}, scrubbed());
  EXPECT_EQ(compile.problem, "");
  EXPECT_THAT(names(compile), AllOf(Contains("compiler cc1plus"), Contains("assembler as"),
                                    Contains("driver g++"), Contains(HasSubstr("library libmpfr.so"))));
  EXPECT_THAT(compile.resolved_cpu, IsEmpty());

  const auto link = resolve_toolchain(machine(), compiler, {"-shared"}, scrubbed());
  EXPECT_EQ(link.problem, "");
  EXPECT_THAT(names(link),
              AllOf(Contains("linker collect2"), Contains("linker ld"), Contains("tool liblto_plugin.so")));
}

TEST_F(RealToolchainTest, NativeIsResolved) {
  if (!has("g++")) {
    GTEST_SKIP() << "no g++";
  }
  Compiler compiler;
  compiler.program = environment_.find_program("g++").value();
  const auto native =
      resolve_toolchain(machine(), compiler, {"-march=native", "-c", "-x", "c++"}, scrubbed());
  EXPECT_THAT(native.resolved_cpu, AllOf(Contains(HasSubstr("-march=")), Not(Contains("-march=native"))));
  EXPECT_EQ(
      resolve_toolchain(machine(), compiler, {"-march=native", "-c", "-x", "c++"}, scrubbed()).resolved_cpu,
      native.resolved_cpu);
}

} // namespace
} // namespace dcuop::probe
