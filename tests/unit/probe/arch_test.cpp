#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcuop/probe/devices.hpp"
#include "dcuop/support/error.hpp"
#include "probe/fake_machine.hpp"

namespace dcuop::probe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using testing::write;

class ArchTest : public testing::MachineTest {
 protected:
  void add_gpu(int number, unsigned version) {
    write(root / "dev/kfd", "");
    write(root / "sys/class/kfd/kfd/topology/nodes" / std::to_string(number) / "properties",
          "simd_count 240\nsimd_per_cu 4\ngfx_target_version " + std::to_string(version) + "\n");
  }
  Error error_of(const std::vector<std::string>& asked, const std::vector<std::string>& configured = {}) {
    try {
      const ArchSelection selection = select_archs(machine(), asked, configured);
      ADD_FAILURE() << "selected " << selection.archs.size() << " from " << selection.origin;
    } catch (const Error& error) {
      return error;
    }
    return {ExitCode::ok, ""};
  }
};

TEST_F(ArchTest, EachOriginYieldsToTheOneBefore) {
  add_gpu(1, 90306);
  EXPECT_EQ(select_archs(machine(), {}, {}).origin, "visible devices (KFD)");
  EXPECT_THAT(select_archs(machine(), {}, {}).archs, ElementsAre("gfx936"));

  ArchSelection selection = select_archs(machine(), {}, {"gfx928"});
  EXPECT_EQ(selection.origin, "user config");
  EXPECT_THAT(selection.archs, ElementsAre("gfx928"));

  environment.set("PYTORCH_ROCM_ARCH", "gfx926");
  selection = select_archs(machine(), {}, {"gfx928"});
  EXPECT_EQ(selection.origin, "PYTORCH_ROCM_ARCH");
  EXPECT_THAT(selection.archs, ElementsAre("gfx926"));

  environment.set("DCUOP_ARCH", "gfx908");
  selection = select_archs(machine(), {}, {"gfx928"});
  EXPECT_EQ(selection.origin, "DCUOP_ARCH");
  EXPECT_THAT(selection.archs, ElementsAre("gfx908"));

  selection = select_archs(machine(), {"gfx906"}, {"gfx928"});
  EXPECT_EQ(selection.origin, "--arch");
  EXPECT_THAT(selection.archs, ElementsAre("gfx906"));
  EXPECT_THAT(runner.commands, IsEmpty());
}

TEST_F(ArchTest, SplitsSortsAndRemovesDoubles) {
  environment.set("PYTORCH_ROCM_ARCH", "gfx936;gfx906 gfx928,gfx906;");
  EXPECT_THAT(select_archs(machine(), {}, {}).archs, ElementsAre("gfx906", "gfx928", "gfx936"));
  EXPECT_THAT(select_archs(machine(), {"gfx908,gfx906", "gfx1030"}, {}).archs,
              ElementsAre("gfx1030", "gfx906", "gfx908"));
}

TEST_F(ArchTest, WritesTargetIdsInCanonicalForm) {
  EXPECT_THAT(select_archs(machine(), {"gfx90a:xnack-:sramecc+"}, {}).archs,
              ElementsAre("gfx90a:sramecc+:xnack-"));
  EXPECT_THAT(select_archs(machine(), {"gfx90a:xnack-", "gfx90a:xnack+"}, {}).archs,
              ElementsAre("gfx90a:xnack+", "gfx90a:xnack-"));
}

TEST_F(ArchTest, EmptyVariablesSayNothing) {
  environment.set("DCUOP_ARCH", "");
  environment.set("PYTORCH_ROCM_ARCH", " ; ");
  EXPECT_EQ(select_archs(machine(), {}, {"gfx906"}).origin, "user config");
}

TEST_F(ArchTest, NativeMeansTheVisibleDevices) {
  add_gpu(1, 90306);
  add_gpu(2, 90306);
  const ArchSelection selection = select_archs(machine(), {"gfx906,native"}, {});
  EXPECT_THAT(selection.archs, ElementsAre("gfx906", "gfx936"));
  EXPECT_EQ(selection.origin, "--arch, visible devices (KFD)");
}

TEST_F(ArchTest, NothingAtAllListsWhatWasLookedAt) {
  const Error error = error_of({});
  EXPECT_EQ(error.code, ExitCode::environment);
  EXPECT_THAT(error.what(), StartsWith("no offload arch: no --arch, no DCUOP_ARCH, no PYTORCH_ROCM_ARCH, "
                                       "no device visible (/dev/kfd is missing"));
  EXPECT_THAT(error.hint, HasSubstr("--arch gfx906"));

  const Error native = error_of({"native"});
  EXPECT_EQ(native.code, ExitCode::environment);
  EXPECT_THAT(native.what(), HasSubstr("'native' (--arch) means the visible devices"));
}

TEST_F(ArchTest, HiddenDevicesAreNamedAsTheReason) {
  add_gpu(1, 90306);
  environment.set("ROCR_VISIBLE_DEVICES", "-1");
  EXPECT_THAT(error_of({}).what(), HasSubstr("ROCR_VISIBLE_DEVICES=-1 hides all of the 1 device"));
}

TEST_F(ArchTest, MalformedTargetIdsAreUsageErrors) {
  for (const char* bad : {"sm_90", "gfx", "gfx906:", "gfx906:xnack", "gfx906:foo+", "gfx90a:xnack+:xnack-",
                          "906", "gfx906:xnack+-", "GFX906", "nativ", "gfx906\x01"}) {
    const Error error = error_of({"gfx908", bad});
    EXPECT_EQ(error.code, ExitCode::usage) << bad;
    EXPECT_THAT(error.what(), HasSubstr("--arch")) << bad;
  }
  environment.set("PYTORCH_ROCM_ARCH", "gfx906;sm_90");
  EXPECT_THAT(error_of({}).what(), HasSubstr("'sm_90' (PYTORCH_ROCM_ARCH)"));
}

TEST_F(ArchTest, OneProcessorWithAndWithoutFeaturesCannotBeBuilt) {
  const Error error = error_of({"gfx90a", "gfx90a:xnack-"});
  EXPECT_EQ(error.code, ExitCode::usage);
  EXPECT_THAT(error.what(), HasSubstr("gfx90a and gfx90a:xnack- (--arch) cannot go into one file"));
}

TEST_F(ArchTest, OnWslRocminfoIsAskedAndFeaturesAreLeftOut) {
  write(root / "dev/dxg", "");
  const fs::path program = directory.path() / "bin/rocminfo";
  write(program, "#!/bin/sh\n");
  testing::make_executable(program);
  environment.set("PATH", program.parent_path().string());
  runner.reply = [](const Command&) {
    return testing::printed(
        "Agent 2\n  Name: gfx90a\n      Name: amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-\n");
  };
  const ArchSelection selection = select_archs(machine(), {}, {});
  EXPECT_THAT(selection.archs, ElementsAre("gfx90a"));
  EXPECT_EQ(selection.origin, "visible devices (rocminfo)");
}

} // namespace
} // namespace dcuop::probe
