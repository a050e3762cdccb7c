#include "dcuop/probe/driver_report.hpp"

#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcuop/support/files.hpp"

namespace dcuop::probe {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

DriverReport recorded(const std::string& name) {
  const auto path = fs::path(DCUOP_SOURCE_DIR) / "tests/unit/probe/data/driver" / name;
  const auto text = read_file(path);
  EXPECT_TRUE(text) << path;
  return parse_driver_report(text.value_or(""));
}

std::vector<std::string> roles(const DriverReport& report) {
  std::vector<std::string> all;
  for (const auto& step : report.steps) {
    all.emplace_back(role_of(step));
  }
  return all;
}

TEST(DriverReport, ReadsEachPassOfHipcc) {
  const auto report = recorded("hipcc-5.2-two-archs.txt");
  EXPECT_EQ(report.family, Family::clang);
  EXPECT_EQ(report.version, "15.0.6");
  EXPECT_EQ(report.version_line, "Debian clang version 15.0.6");
  EXPECT_EQ(report.target, "x86_64-pc-linux-gnu");
  EXPECT_EQ(report.installed_dir, "/usr/bin");
  EXPECT_THAT(roles(report), ElementsAre("compiler", "linker", "compiler", "linker", "bundler", "compiler"));
  EXPECT_EQ(report.steps[1].argv[0], "/usr/bin/lld");
  EXPECT_EQ(report.steps[4].argv[0], "/usr/lib/llvm-15/bin/clang-offload-bundler");
  EXPECT_THAT(report.errors, IsEmpty());
}

TEST(DriverReport, NamesTheBitcodeOfEachArch) {
  const auto report = recorded("hipcc-5.2-two-archs.txt");
  const auto first = bitcode_of(report.steps[0]);
  const auto second = bitcode_of(report.steps[2]);
  ASSERT_EQ(first.size(), 10u);
  ASSERT_EQ(second.size(), 10u);
  const fs::path directory = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode";
  EXPECT_THAT(first, AllOf(Contains(directory / "ocml.bc"), Contains(directory / "oclc_isa_version_906.bc"),
                           Not(Contains(directory / "oclc_isa_version_90a.bc"))));
  EXPECT_THAT(second, Contains(directory / "oclc_isa_version_90a.bc"));
  EXPECT_THAT(bitcode_of(report.steps[5]), IsEmpty());
}

TEST(DriverReport, TellsTheHostPassFromTheDevicePasses) {
  const auto report = recorded("hipcc-5.2-two-archs.txt");
  const auto* host = host_compile_step(report);
  ASSERT_NE(host, nullptr);
  EXPECT_EQ(option_of(*host, "-triple"), "x86_64-pc-linux-gnu");
  EXPECT_EQ(option_of(*host, "-resource-dir"), "/usr/lib/llvm-15/lib/clang/15.0.6");
  EXPECT_EQ(option_of(*host, "-no-such-option"), std::nullopt);
}

TEST(DriverReport, ReadsUnquotedCommandsOfGcc) {
  const auto report = recorded("gcc-12-native.txt");
  EXPECT_EQ(report.family, Family::gcc);
  EXPECT_EQ(report.version, "12.2.0");
  EXPECT_EQ(report.version_line, "gcc version 12.2.0 (Debian 12.2.0-14+deb12u1)");
  EXPECT_EQ(report.collect_gcc, "g++");
  EXPECT_THAT(roles(report), ElementsAre("compiler", "assembler"));
  EXPECT_EQ(report.steps[1].argv[0], "as");
  EXPECT_THAT(report.program_path,
              ElementsAre("/usr/lib/gcc/x86_64-linux-gnu/12/", "/usr/lib/gcc/x86_64-linux-gnu/"));
}

TEST(DriverReport, ReadsTheLinkOfGcc) {
  const auto report = recorded("gcc-12-link.txt");
  ASSERT_THAT(roles(report), ElementsAre("linker"));
  EXPECT_EQ(report.lto_wrapper, "/usr/lib/gcc/x86_64-linux-gnu/12/lto-wrapper");
  EXPECT_THAT(plugins_of(report.steps[0]), ElementsAre("/usr/lib/gcc/x86_64-linux-gnu/12/liblto_plugin.so",
                                                       "/usr/lib/gcc/x86_64-linux-gnu/12/lto-wrapper"));
  EXPECT_THAT(report.steps[0].argv, Contains("-fuse-ld=lld"));
}

TEST(DriverReport, ReadsTheLinkOfClang) {
  const auto report = recorded("clang-15-link.txt");
  ASSERT_THAT(roles(report), ElementsAre("linker"));
  EXPECT_EQ(report.steps[0].argv[0], "/usr/bin/ld.lld");
  EXPECT_THAT(gcc_installations(report), ElementsAre("/usr/lib/gcc/x86_64-linux-gnu/12"));
}

TEST(DriverReport, ResolvesNativeOfClang) {
  const auto cpu = resolved_cpu(recorded("clang-15-native.txt"));
  ASSERT_FALSE(cpu.empty());
  EXPECT_EQ(cpu.front(), "-target-cpu=znver3");
  EXPECT_THAT(cpu, AllOf(Contains("-target-feature=+avx2"), Contains("-target-feature=-tbm")));
}

TEST(DriverReport, ResolvesNativeOfGcc) {
  const auto cpu = resolved_cpu(recorded("gcc-12-native.txt"));
  EXPECT_THAT(cpu, AllOf(Contains("-march=znver3"), Contains("-mtune=znver3"), Contains("-mno-fma4"),
                         Contains("--param=l1-cache-size=32"), Not(Contains("-march=native"))));
}

TEST(DriverReport, FindsRefusedArchs) {
  const auto missing = refused_arch(recorded("hipcc-5.2-gfx1100.txt"));
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->arch, "gfx1100");
  EXPECT_THAT(missing->line, HasSubstr("clang: error: cannot find ROCm device library for gfx1100"));

  const auto arch_in = [](const std::string& line) {
    const auto refused = refused_arch(parse_driver_report(line));
    return refused ? refused->arch : "none";
  };
  EXPECT_EQ(arch_in("clang: error: invalid target ID 'gfx90a:xnack'; format is a processor name"),
            "gfx90a:xnack");
  EXPECT_EQ(arch_in("clang++: error: unsupported HIP gpu architecture: gfx942"), "gfx942");
  EXPECT_EQ(arch_in("clang: error: invalid offload arch combinations: 'gfx90a' and 'gfx90a:xnack-' (for a"),
            "gfx90a and gfx90a:xnack-");
  EXPECT_EQ(arch_in("dcc: error: cannot find ROCm device library for gfx1030"), "gfx1030");
  EXPECT_EQ(arch_in("clang: error: cannot find ROCm device library; provide its path via '--rocm-path'"),
            "none");
  EXPECT_EQ(arch_in("clang: error: cannot find ROCm device library for ABI version 5; provide its"), "none");
  EXPECT_EQ(arch_in("clang: error: unknown argument: '-fwat'"), "none");
}

TEST(DriverReport, KeepsWordsWithSpacesAndQuotes) {
  const auto report = parse_driver_report(
      " (in-process)\n \"/opt/my dtk/clang\" \"-cc1\" \"-DNAME=\\\"a b\\\"\" \"-o\" \"x y.o\"\n");
  ASSERT_EQ(report.steps.size(), 1u);
  EXPECT_THAT(report.steps[0].argv,
              ElementsAre("/opt/my dtk/clang", "-cc1", "-DNAME=\"a b\"", "-o", "x y.o"));
}

TEST(DriverReport, TakesAVendorsDriverByWhatItStarts) {
  const auto report =
      parse_driver_report("dcc version 24.10.0\n \"/opt/dtk/dcc/bin/clang\" \"-cc1\" \"-triple\"\n");
  EXPECT_EQ(report.family, Family::clang);
  EXPECT_EQ(report.version, "24.10.0");
}

TEST(DriverReport, PassesOverWhatItDoesNotKnow) {
  const auto report =
      parse_driver_report("Traceback (most recent call last):\n  File \"/usr/bin/x\", line 3\n"
                          "FileNotFoundError: [Errno 2] No such file\n \n\n \"");
  EXPECT_EQ(report.family, Family::unknown);
  EXPECT_EQ(report.version, "");
  EXPECT_EQ(host_compile_step(report), nullptr);
  EXPECT_THAT(resolved_cpu(report), IsEmpty());
}

TEST(DriverReport, CanBeCutAnywhere) {
  const auto text =
      read_file(fs::path(DCUOP_SOURCE_DIR) / "tests/unit/probe/data/driver/gcc-12-link.txt").value_or("");
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const auto report = parse_driver_report(text.substr(0, size));
    for (const auto& step : report.steps) {
      ASSERT_FALSE(step.argv.empty());
      EXPECT_FALSE(role_of(step).empty());
    }
  }
}

TEST(DriverStepRole, GoesByTheProgramsName) {
  const auto role = [](std::vector<std::string> argv) { return std::string(role_of({std::move(argv)})); };
  EXPECT_EQ(role({"/x/cc1plus", "-quiet"}), "compiler");
  EXPECT_EQ(role({"/x/clang", "-cc1as"}), "assembler");
  EXPECT_EQ(role({"x86_64-linux-gnu-as"}), "assembler");
  EXPECT_EQ(role({"/usr/bin/lld-14", "-flavor", "gnu"}), "linker");
  EXPECT_EQ(role({"/usr/bin/ld.lld"}), "linker");
  EXPECT_EQ(role({"/x/clang-linker-wrapper"}), "linker");
  EXPECT_EQ(role({"/x/clang-offload-packager"}), "bundler");
  EXPECT_EQ(role({"/usr/bin/llvm-mc", "-o"}), "tool");
}

} // namespace
} // namespace dcuop::probe
