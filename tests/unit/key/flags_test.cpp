#include "dcuop/key/flags.hpp"

#include <fstream>

#include <gmock/gmock.h>

#include "dcuop/support/files.hpp"

namespace dcuop::key {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const PathBase base{"/ws/ops/a", "/ws", {}, {}};

FlagReport examine(std::vector<std::string> flags) {
  return examine_flags(flags, base);
}

TEST(Flags, KnownOnesAreCacheable) {
  const std::vector<std::string> flags = {"-O3",    "-DX=1",     "-std=c++20", "-ffast-math", "-Wall",
                                          "-mavx2", "-pthread",  "-isystem",   "/usr/x",      "-Xclang",
                                          "-foo",   "-mllvm",    "-amdgpu-x",  "-Wl,-z,now",  "-lfoo",
                                          "-s",     "-fgpu-rdc", "-g",         "--hip-link"};
  const FlagReport report = examine(flags);
  EXPECT_THAT(report.uncacheable, IsEmpty());
  EXPECT_EQ(report.flags, flags);
  EXPECT_TRUE(report.rdc);
}

TEST(Flags, AbsolutePathsInTheWorkspaceBecomeRelative) {
  const FlagReport report = examine({"-I/ws/common", "-isystem", "/ws/ops/a/include", "-I/opt/x", "-Irel"});
  EXPECT_THAT(report.flags, ElementsAre("-I../../common", "-isystem", "include", "-I/opt/x", "-Irel"));
}

TEST(Flags, FilesTheyName) {
  const FlagReport report =
      examine({"-include-pch", "pre.h.gch", "-fprofile-use=/p/x.profdata", "-Wl,--version-script=v.map",
               "-Wl,--dynamic-list,d.list,-z,now", "-Wl,-T,link.ld"});
  EXPECT_THAT(report.files, ElementsAre("/ws/ops/a/pre.h.gch", "/p/x.profdata", "/ws/ops/a/v.map",
                                        "/ws/ops/a/d.list", "/ws/ops/a/link.ld"));
  EXPECT_THAT(report.uncacheable, IsEmpty());
}

TEST(Flags, ADirectoryOfProfilesIsNotFollowed) {
  const FlagReport report = examine({"-fprofile-use=/usr", "-fprofile-instr-use=/usr"});
  EXPECT_THAT(report.uncacheable,
              ElementsAre("-fprofile-use=/usr names a directory: what is read in it is not followed",
                          "-fprofile-instr-use=/usr names a directory: what is read in it is not followed"));
  EXPECT_THAT(report.files, IsEmpty());
}

TEST(Flags, AddressesAreNoFiles) {
  const std::vector<std::string> flags = {"-Ttext=0x1000",    "-Tdata",         "0x2000",
                                          "-Tbss=0x3000",     "-Wl,-Ttext=0x1", "-Wl,-Ttext-segment=0x1",
                                          "-Wl,-Tdata,0x2000"};
  const FlagReport report = examine(flags);
  EXPECT_THAT(report.files, IsEmpty());
  EXPECT_THAT(report.uncacheable, IsEmpty());
  EXPECT_EQ(report.flags, flags);
  EXPECT_THAT(examine({"-Ttext.ld", "-Wl,-Tdata.ld"}).files,
              ElementsAre("/ws/ops/a/text.ld", "/ws/ops/a/data.ld"));
}

TEST(Flags, FilesOfTheAssemblerAreNotFollowed) {
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{"-Wa,blob.s"},
                                             {"-Wa,--noexecstack,blob.s"},
                                             {"-Xassembler", "blob.s"},
                                             {"-Xarch_host", "-Wa,blob.s"}}) {
    EXPECT_THAT(examine(flags).uncacheable,
                ElementsAre("the assembler reads blob.s, which dcuop does not follow"));
  }
  for (const char* flag : {"-Wa,-Iinc", "-Wa,-I,inc", "-Wa,-adhln=x.lst", "-Wa,--MD,x.d"}) {
    EXPECT_FALSE(examine({flag}).uncacheable.empty()) << flag;
  }
  EXPECT_THAT(examine({"-Wa,--noexecstack", "-Wa,-mbig-obj", "-Wa,--defsym,X=1,-gdwarf-4", "-Xassembler",
                       "--noexecstack"})
                  .uncacheable,
              IsEmpty());
}

/// -include NAME, with a file x.h in the op's directory.
class ForcedInclude : public ::testing::Test {
 protected:
  ForcedInclude() : top_(fs::temp_directory_path() / ("dcuop-forced-" + std::to_string(::getpid()))) {
    fs::create_directories(top_ / "op/directory");
    std::ofstream(top_ / "op/x.h") << "1";
  }
  ~ForcedInclude() override { fs::remove_all(top_); }
  [[nodiscard]] std::vector<std::filesystem::path> files(const std::vector<std::string>& flags) const {
    const FlagReport report = examine_flags(flags, {top_ / "op", top_});
    EXPECT_THAT(report.uncacheable, IsEmpty());
    EXPECT_EQ(report.flags, flags);
    return report.files;
  }
  fs::path top_;
};

TEST_F(ForcedInclude, OfTheOpIsAnInput) {
  EXPECT_THAT(files({"-include", "x.h", "-imacros", "../op/x.h", "-includex.h"}),
              ElementsAre(top_ / "op/x.h", top_ / "op/x.h", top_ / "op/x.h"));
  EXPECT_THAT(files({"-include", "/absent/x.h"}), ElementsAre("/absent/x.h"));
}

TEST_F(ForcedInclude, OfTheSearchPathIsTheDepfilesToTell) {
  EXPECT_THAT(files({"-include", "cstdlib", "-imacros", "lib/x.h", "-include", "directory"}), IsEmpty());
}

TEST(Flags, WhatDcuopDoesNotKnowIsNotCached) {
  for (const char* flag : {"--foo", "-Zunknown", "stray.o", "@response", "-save-temps", "-ftime-trace",
                           "-save-temps=obj", "--coverage", "-fprofile-use", "-fprofile-instr-use",
                           "-fauto-profile", "-Wl,-Map=x.map", "-shiny", "-wide"}) {
    EXPECT_EQ(examine({"-O2", flag}).uncacheable.size(), 1U) << flag;
  }
}

TEST(Flags, CarriedFlagsAreExamined) {
  EXPECT_THAT(examine({"-Xarch_host", "-fprofile-use=/p"}).files, ElementsAre("/p"));
  EXPECT_EQ(examine({"-Xarch_device", "-save-temps"}).uncacheable.size(), 1U);
  EXPECT_EQ(examine({"-Xcompiler", "--foo"}).uncacheable.size(), 1U);
  EXPECT_TRUE(examine({"-Xarch_host", "-w"}).silent);
  EXPECT_THAT(examine({"-Xclang", "-some-flag-of-cc1"}).uncacheable, IsEmpty());
}

TEST(Flags, LastRdcFlagWins) {
  EXPECT_FALSE(examine({"-fgpu-rdc", "-fno-gpu-rdc"}).rdc);
  EXPECT_TRUE(examine({"-fno-gpu-rdc", "-fgpu-rdc"}).rdc);
}

TEST(Flags, ShortFlagAtTheEndHasNoValue) {
  EXPECT_THAT(examine({"-O2", "-I"}).flags, ElementsAre("-O2", "-I"));
}

// nvcc
// ---------------------------------------------------------------------------------------------------

FlagReport examine_cuda(const std::vector<std::string>& flags) {
  return examine_cuda_flags(flags, base);
}

TEST(CudaFlags, KnownOnesAreCacheable) {
  const std::vector<std::string> flags = {"-O3",
                                          "-DX=1",
                                          "-D",
                                          "Y",
                                          "--use_fast_math",
                                          "-ftz=true",
                                          "-ftz",
                                          "true",
                                          "-lineinfo",
                                          "-maxrregcount=64",
                                          "-t",
                                          "4",
                                          "-Xptxas=-v",
                                          "--expt-relaxed-constexpr",
                                          "-std=c++20",
                                          "-I/opt/x",
                                          "-G",
                                          "-Werror",
                                          "all-warnings"};
  const FlagReport report = examine_cuda(flags);
  EXPECT_THAT(report.uncacheable, IsEmpty());
  EXPECT_EQ(report.flags, flags);
  EXPECT_THAT(report.host_flags, IsEmpty());
}

TEST(CudaFlags, PathsBecomeRelative) {
  EXPECT_THAT(examine_cuda({"-I/ws/common", "-isystem", "/ws/ops/a/include"}).flags,
              ElementsAre("-I../../common", "-isystem", "include"));
}

TEST(CudaFlags, WhatIsForTheHostCompilerIsExaminedAsItsOwn) {
  const FlagReport report =
      examine_cuda({"-Xcompiler", "-Wall,-march=native", "--compiler-options=-fprofile-use=p.profdata"});
  EXPECT_THAT(report.host_flags, ElementsAre("-Wall", "-march=native", "-fprofile-use=p.profdata"));
  EXPECT_THAT(report.files, ElementsAre("/ws/ops/a/p.profdata"));
  EXPECT_THAT(report.uncacheable, IsEmpty());
  EXPECT_THAT(examine_cuda({"-Xcompiler=--frobnicate"}).uncacheable,
              ElementsAre("unknown flag --frobnicate"));
}

TEST(CudaFlags, UnknownOnesAreNotCached) {
  EXPECT_THAT(examine_cuda({"--frobnicate"}).uncacheable, ElementsAre("unknown flag --frobnicate"));
  EXPECT_THAT(examine_cuda({"-march=native"}).uncacheable, ElementsAre("unknown flag -march=native"));
  EXPECT_THAT(examine_cuda({"-keep"}).uncacheable, ElementsAre(HasSubstr("writes files")));
  const FlagReport forwarded = examine_cuda({"-march=native", "-forward-unknown-to-host-compiler"});
  EXPECT_THAT(forwarded.uncacheable, IsEmpty());
  EXPECT_THAT(forwarded.host_flags, ElementsAre("-march=native"));
}

} // namespace
} // namespace dcuop::key
