#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcuop/probe/toolkit_uses.hpp"
#include "probe/fake_machine.hpp"

namespace dcuop::probe {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::write;

class ToolkitUsesTest : public testing::MachineTest {
 protected:
  void add_dtk(const std::string& version) {
    write(root / "opt" / ("dtk-" + version) / ".dtk_version", version + "\n");
    write(root / "opt" / ("dtk-" + version) / "hip/lib/libgalaxyhip.so.5", "");
  }
  ToolkitUses look() { return find_toolkit_uses(machine()); }
  std::vector<std::string> uses() {
    std::vector<std::string> texts;
    for (const ToolkitUse& use : look().uses) {
      texts.push_back(use.variable + " -> " + (use.version.empty() ? "nowhere" : use.version));
    }
    return texts;
  }
};

TEST_F(ToolkitUsesTest, FollowsAVariableToTheRealToolkit) {
  add_dtk("25.04");
  add_dtk("26.04");
  fs::create_symlink("/opt/dtk-26.04", root / "opt/dtk");
  environment.set("ROCM_PATH", "/opt/dtk");
  environment.set("HIP_PATH", "/opt/dtk-25.04/hip");
  environment.set("LD_LIBRARY_PATH", "/opt/dtk-25.04/hip/lib::/usr/lib:/nowhere");
  EXPECT_THAT(uses(),
              ElementsAre("ROCM_PATH -> DTK 26.04", "HIP_PATH -> DTK 25.04", "LD_LIBRARY_PATH -> DTK 25.04"));
  EXPECT_EQ(look().uses[0].root, root / "opt/dtk-26.04");
  EXPECT_TRUE(look().sets_root());
  EXPECT_TRUE(look().sets_library_path());
  ASSERT_THAT(look().installed, SizeIs(2)) << "the link is one of the two";
}

TEST_F(ToolkitUsesTest, ARootThatIsGoneIsSaidAListEntryIsNot) {
  environment.set("ROCM_PATH", "/opt/dtk-24.04");
  environment.set("PATH", "/opt/dtk-24.04/bin:/usr/bin");
  EXPECT_THAT(uses(), ElementsAre("ROCM_PATH -> nowhere"));
}

TEST_F(ToolkitUsesTest, ADistributionsToolkitIsNobodys) {
  write(root / "usr/.info/version", "5.2.3\n");
  fs::create_directories(root / "usr/bin");
  environment.set("PATH", "/usr/bin");
  EXPECT_THAT(uses(), IsEmpty());
}

TEST_F(ToolkitUsesTest, ReadsTheLoadersConfiguration) {
  add_dtk("25.04");
  EXPECT_FALSE(look().in_loader_configuration);
  write(root / "etc/ld.so.conf.d/other.conf", "# /opt/dtk-25.04/lib\n/usr/local/lib\n");
  EXPECT_FALSE(look().in_loader_configuration);
  write(root / "etc/ld.so.conf.d/zz.conf", "/usr/local/lib\n/opt/dtk-25.04/hip/lib\n");
  EXPECT_TRUE(look().in_loader_configuration);
  EXPECT_FALSE(look().sets_root());
}

TEST_F(ToolkitUsesTest, NamesRocmBesideDtk) {
  add_dtk("25.04");
  write(root / "opt/rocm-6.2.0/.info/version", "6.2.0-66\n");
  environment.set("LD_LIBRARY_PATH", "/opt/rocm-6.2.0/lib");
  fs::create_directories(root / "opt/rocm-6.2.0/lib");
  EXPECT_THAT(uses(), ElementsAre("LD_LIBRARY_PATH -> ROCm 6.2.0"));
}

} // namespace
} // namespace dcuop::probe
