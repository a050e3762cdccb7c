#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcuop/probe/host.hpp"
#include "probe/fake_machine.hpp"

namespace dcuop::probe {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::write;

class HostTest : public testing::MachineTest {
 protected:
  Host look() { return find_host(machine()); }
  Host look_at_saved() {
    Machine saved = machine();
    saved.is_saved = true;
    return find_host(saved);
  }
  std::string container() { return look().container.kind; }
  void add_pci(const std::string& address, const std::string& vendor, const std::string& device_class) {
    const fs::path device = root / "sys/bus/pci/devices" / address;
    write(device / "vendor", "0x" + vendor + "\n");
    write(device / "device", "0x740f\n");
    write(device / "class", "0x" + device_class + "\n");
  }
};

TEST_F(HostTest, InsideFollowsLinksWithinTheTree) {
  write(root / "opt/dtk-25.04/bin/hipcc", "");
  fs::create_symlink("/opt/dtk-25.04", root / "opt/dtk");
  fs::create_symlink("../../../../../opt/dtk", root / "upward");
  fs::create_symlink("/etc/passwd", root / "escape");
  EXPECT_EQ(inside(root, "/opt/dtk/bin/hipcc"), root / "opt/dtk-25.04/bin/hipcc");
  EXPECT_EQ(inside(root, "/upward/bin"), root / "opt/dtk-25.04/bin");
  EXPECT_EQ(inside(root, "/escape"), root / "etc/passwd") << "which does not exist";
  EXPECT_EQ(inside(root, "/opt/../../../opt/./dtk"), root / "opt/dtk-25.04");
  EXPECT_EQ(inside(root, root / "opt/dtk/lib"), root / "opt/dtk-25.04/lib") << "a path of the tree already";
  EXPECT_EQ(inside(root, "no/such/thing"), root / "no/such/thing");
  EXPECT_EQ(inside(root, root / "../../etc/passwd"), root / "etc/passwd") << "no way up out of it";
  EXPECT_EQ(inside(root, root / "opt/dtk/.."), root / "opt") << "of where the link leads";
  EXPECT_EQ(inside("/", "/opt/dtk/../x"), "/opt/dtk/../x");
  EXPECT_EQ(followed_in(root, root / "opt/dtk/lib"), root / "opt/dtk-25.04/lib");
  EXPECT_EQ(followed_in(root, "/opt/dtk/lib"), "/opt/dtk/lib") << "not of the tree";
}

TEST_F(HostTest, InsideEndsALoopOfLinks) {
  fs::create_symlink("/b", root / "a");
  fs::create_symlink("/a", root / "b");
  EXPECT_FALSE(fs::exists(inside(root, "/a/x")));
}

TEST_F(HostTest, KnowsContainersByWhatTheyLeave) {
  EXPECT_EQ(container(), "");
  write(root / "proc/1/cgroup", "12:devices:/system.slice/docker.service\n0::/init.scope\n");
  EXPECT_EQ(container(), "") << "docker's service runs on the host";
  write(root / "proc/1/cgroup", "12:devices:/docker/0123abc\n");
  EXPECT_EQ(container(), "docker");
  write(root / "proc/1/cgroup", "0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-9.scope\n");
  EXPECT_EQ(container(), "kubernetes");
  EXPECT_EQ(look().container.evidence, "/proc/1/cgroup");
  write(root / ".dockerenv", "");
  EXPECT_EQ(container(), "docker");
  write(root / "run/.containerenv", "engine=\"podman-4.3\"\n");
  EXPECT_EQ(container(), "podman");
  write(root / "proc/self/mountinfo",
        "1 0 0:30 / / rw - overlay overlay rw,lowerdir=/home/u/.local/share/enroot/x\n");
  EXPECT_EQ(container(), "enroot");
  fs::create_directories(root / ".singularity.d");
  EXPECT_EQ(container(), "apptainer");
  EXPECT_EQ(look().container.evidence, "/.singularity.d");
}

TEST_F(HostTest, VariablesTellOfThisProcessAlone) {
  environment.set("APPTAINER_CONTAINER", "/x.sif");
  EXPECT_EQ(container(), "apptainer");
  EXPECT_EQ(look_at_saved().container.kind, "");
  environment = Environment{{"container", "lxc"}};
  EXPECT_EQ(container(), "lxc");
}

TEST_F(HostTest, NamesOwnersAndGroupsByTheTreesOwnFiles) {
  write(root / "dev/kfd", "");
  write(root / "dev/dri/card0", "");
  write(root / "dev/dri/renderD128", "");
  ASSERT_EQ(::chmod((root / "dev/kfd").c_str(), 0660), 0);
  const std::string gid = std::to_string(::getegid());
  write(root / "etc/passwd", "alice:x:" + std::to_string(::geteuid()) + ":0::/:/bin/sh\n");
  write(root / "etc/group", "broken\nrender:x:" + gid + ":bob,alice\n");
  const Host host = look();
  ASSERT_THAT(host.nodes, SizeIs(3));
  EXPECT_EQ(host.nodes[0].path, "/dev/kfd");
  EXPECT_TRUE(host.nodes[0].exists);
  EXPECT_EQ(host.nodes[0].mode, 0660U);
  EXPECT_EQ(host.nodes[0].owner, "alice");
  EXPECT_EQ(host.nodes[0].group, "render");
  EXPECT_EQ(host.nodes[0].open_error, 0);
  EXPECT_TRUE(host.nodes[0].in_group);
  EXPECT_TRUE(host.nodes[0].listed_in_group);
  EXPECT_EQ(host.nodes[1].path, "/dev/mkfd");
  EXPECT_FALSE(host.nodes[1].exists);
  EXPECT_EQ(host.nodes[1].open_error, std::nullopt);
  EXPECT_EQ(host.nodes[2].path, "/dev/dri/renderD128");
  EXPECT_EQ(host.user.name, "alice");
}

TEST_F(HostTest, AnUnknownGroupIsItsNumber) {
  write(root / "dev/kfd", "");
  EXPECT_EQ(look().node("/dev/kfd")->group, std::to_string(::getegid()));
  EXPECT_FALSE(look().node("/dev/kfd")->listed_in_group);
}

TEST_F(HostTest, KeepsTheErrorOfOpening) {
  const fs::path node = root / "dev/kfd";
  fs::create_directories(node.parent_path());
  // A socket cannot be opened as a file, whoever tries (open(2): ENXIO).
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(node.string().size(), sizeof address.sun_path);
  std::strncpy(address.sun_path, node.c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(descriptor);
  EXPECT_EQ(look().node("/dev/kfd")->open_error, ENXIO);
  EXPECT_EQ(look_at_saved().node("/dev/kfd")->open_error, std::nullopt) << "a saved machine's is not opened";
  EXPECT_TRUE(look_at_saved().node("/dev/kfd")->exists);
}

TEST_F(HostTest, ListsDriversOnceAndOnlyThose) {
  EXPECT_FALSE(look().drivers_known);
  write(root / "proc/modules",
        "hydcu 123 0 - Live 0x0\nnvidia 1 0\namdgpu 99 1 x, Live 0x0\nhyperv_drm 1 0\n");
  write(root / "sys/module/amdgpu/initstate", "live\n");
  write(root / "sys/module/amd_uncore/x", "");
  const Host host = look();
  EXPECT_TRUE(host.drivers_known);
  ASSERT_THAT(host.drivers, SizeIs(2));
  EXPECT_EQ(host.drivers[0].name, "hydcu");
  EXPECT_EQ(host.drivers[1].name, "amdgpu");
  EXPECT_TRUE(host.has_hygon_driver());
  fs::remove(root / "proc/modules");
  EXPECT_EQ(look().drivers[0].evidence, "/sys/module/amdgpu");
  EXPECT_FALSE(look().has_hygon_driver());
}

TEST_F(HostTest, CountsAcceleratorsAndNotBridges) {
  add_pci("0000:00:00.0", "1d94", "060000"); // a host bridge of a Hygon CPU
  add_pci("0000:03:00.0", "1002", "038000");
  add_pci("0000:04:00.0", "1d94", "0b4000");
  add_pci("0000:05:00.0", "10de", "030200");
  EXPECT_THAT(look().accelerators, ElementsAre("0000:03:00.0 (1002:740f)", "0000:04:00.0 (1d94:740f)"));
}

TEST_F(HostTest, TellsAMissingHyhalFromAnEmptyOne) {
  EXPECT_THAT(look().hyhal.string(), IsEmpty());
  fs::create_directories(root / "opt/hyhal");
  EXPECT_EQ(look().hyhal, "/opt/hyhal");
  EXPECT_TRUE(look().hyhal_empty);
  write(root / "usr/local/hyhal/lib/libhsa-runtime64.so.1", "");
  EXPECT_EQ(look().hyhal, "/usr/local/hyhal");
  EXPECT_FALSE(look().hyhal_empty);
}

} // namespace
} // namespace dcuop::probe
