#include "dcuop/key/flags.hpp"

#include <gmock/gmock.h>

namespace dcuop::key {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const PathBase base{"/ws/ops/a", "/ws"};

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
      examine({"-include", "pre.h", "-fprofile-use=/p/x.profdata", "-Wl,--version-script=v.map",
               "-Wl,--dynamic-list,d.list,-z,now", "-Wl,-T,link.ld"});
  EXPECT_THAT(report.files, ElementsAre("/ws/ops/a/pre.h", "/p/x.profdata", "/ws/ops/a/v.map",
                                        "/ws/ops/a/d.list", "/ws/ops/a/link.ld"));
  EXPECT_THAT(report.uncacheable, IsEmpty());
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

} // namespace
} // namespace dcuop::key
