#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcuop/probe/toolchain.hpp"

namespace dcuop::probe {
namespace {

TEST(CompileVariables, AreSortedAndUnique) {
  const auto& all = compile_variables();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

TEST(CompileVariables, HoldWhatHipccClangAndGccRead) {
  EXPECT_THAT(
      compile_variables(),
      testing::IsSupersetOf({"HIPCC_COMPILE_FLAGS_APPEND", "HCC_AMDGPU_TARGET", "HIP_PLATFORM", "ROCM_PATH",
                             "HIP_DEVICE_LIB_PATH", "CCC_OVERRIDE_OPTIONS", "CPATH", "CPLUS_INCLUDE_PATH",
                             "LIBRARY_PATH", "GCC_EXEC_PREFIX", "LD_RUN_PATH", "SOURCE_DATE_EPOCH"}));
}

TEST(CompileEnvironment, PassesThoseAndWhatAProgramNeeds) {
  const Environment full({{"PATH", "/usr/bin"},
                          {"HOME", "/home/u"},
                          {"CPATH", ""},
                          {"ROCM_PATH", "/opt/dtk"},
                          {"LANG", "zh_CN.UTF-8"},
                          {"LC_ALL", "de_DE.UTF-8"},
                          {"TMPDIR", "/elsewhere"},
                          {"LD_PRELOAD", "/usr/lib/x.so"},
                          {"HIPCC_VERBOSE", "7"},
                          {"DEPENDENCIES_OUTPUT", "/tmp/deps"}});
  EXPECT_THAT(compile_environment(full, "/build/tmp").as_lines(),
              testing::UnorderedElementsAre("PATH=/usr/bin", "HOME=/home/u", "CPATH=", "ROCM_PATH=/opt/dtk",
                                            "LC_ALL=C", "TMPDIR=/build/tmp"));
}

} // namespace
} // namespace dcuop::probe
