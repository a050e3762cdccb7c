#include <gmock/gmock.h>

#include "toolchain_fixture.hpp"

namespace dcuop::probe {
namespace {

class RocmTest : public ToolchainFixture {
 protected:
  RocmTest() {
    root_ = directory_ / "tree";
    environment_.set("PATH", "/nowhere");
  }
};

TEST_F(RocmTest, NothingInstalled) {
  EXPECT_FALSE(find_rocm(machine()));
}

TEST_F(RocmTest, DtkSaysItsVersionInItsOwnFile) {
  write("tree/opt/dtk/.dtk_version", "DTK-25.04.1\n");
  write("tree/opt/dtk/.info/version", "6.1.0-25065\n");
  write("tree/opt/rocm/.info/version", "6.3.0-39\n");
  const auto rocm = find_rocm(machine());
  ASSERT_TRUE(rocm);
  EXPECT_TRUE(rocm->is_dtk);
  EXPECT_EQ(rocm->version, "25.04.1");
  EXPECT_EQ(rocm->root, root_ / "opt/dtk");
  EXPECT_EQ(rocm->origin, "/opt/dtk");
  EXPECT_EQ(rocm->version_source, root_ / "opt/dtk/.dtk_version");
}

TEST_F(RocmTest, ARocmVersionOfDtksNumberingIsADtk) {
  write("tree/opt/dtk-x/.info/rocm_version", "26.04\n");
  environment_.set("ROCM_PATH", "/opt/dtk-x");
  const auto rocm = find_rocm(machine());
  ASSERT_TRUE(rocm);
  EXPECT_TRUE(rocm->is_dtk);
  EXPECT_EQ(rocm->version, "26.04");
  EXPECT_EQ(rocm->origin, "ROCM_PATH");
}

TEST_F(RocmTest, AmdsRocm) {
  write("tree/opt/rocm/.info/version", "6.3.0-39\n");
  write("tree/opt/rocm/.info/rocm_version", "6.3.0\n");
  const auto rocm = find_rocm(machine());
  ASSERT_TRUE(rocm);
  EXPECT_FALSE(rocm->is_dtk);
  EXPECT_EQ(rocm->version, "6.3.0");
  EXPECT_EQ(rocm->version_source, root_ / "opt/rocm/.info/version");
}

TEST_F(RocmTest, TheDirectorysNameIsTheLastResort) {
  fs::create_directories(root_ / "opt/dtk-24.04.3");
  fs::create_directory_symlink("dtk-24.04.3", root_ / "opt/dtk");
  const auto rocm = find_rocm(machine());
  ASSERT_TRUE(rocm);
  EXPECT_TRUE(rocm->is_dtk);
  EXPECT_EQ(rocm->version, "24.04.3");
  EXPECT_EQ(rocm->root, root_ / "opt/dtk-24.04.3");
}

TEST_F(RocmTest, DtksRuntimeMarksADtkWithoutAVersion) {
  write("tree/opt/rocm/hip/lib/libgalaxyhip.so.5", "x");
  const auto rocm = find_rocm(machine());
  ASSERT_TRUE(rocm);
  EXPECT_TRUE(rocm->is_dtk);
  EXPECT_EQ(rocm->version, "");
}

TEST_F(RocmTest, HipPathIsThePartBelowTheRoot) {
  write("tree/opt/dtk-25/.dtk_version", "25.04");
  fs::create_directories(root_ / "opt/dtk-25/hip");
  environment_.set("HIP_PATH", "/opt/dtk-25/hip/");
  const auto rocm = find_rocm(machine());
  ASSERT_TRUE(rocm);
  EXPECT_EQ(rocm->root, root_ / "opt/dtk-25");
  EXPECT_EQ(rocm->origin, "HIP_PATH");
}

TEST_F(RocmTest, TheDirectoryAboveHipcc) {
  install_fake_hip("rocm");
  write("rocm/.info/version", "garbage\n");
  environment_.set("PATH", (directory_ / "rocm/bin").string());
  const auto rocm = find_rocm(machine());
  ASSERT_TRUE(rocm);
  EXPECT_EQ(rocm->root, directory_ / "rocm");
  EXPECT_EQ(rocm->origin, "hipcc on PATH");
  EXPECT_EQ(rocm->version, "");
  EXPECT_FALSE(rocm->is_dtk);
}

TEST_F(RocmTest, AVariableThatNamesNothingIsPassedOver) {
  write("tree/opt/rocm/.info/version", "5.7.1\n");
  environment_.set("ROCM_PATH", "/opt/gone");
  const auto rocm = find_rocm(machine());
  ASSERT_TRUE(rocm);
  EXPECT_EQ(rocm->root, root_ / "opt/rocm");
}

} // namespace
} // namespace dcuop::probe
