#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcuop/probe/devices.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "probe/fake_machine.hpp"

namespace dcuop::probe {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::printed;
using ::testing::SizeIs;
using testing::write;

class DevicesTest : public testing::MachineTest {
 protected:
  void add_node(int number, const std::string& properties) {
    write(root / "sys/class/kfd/kfd/topology/nodes" / std::to_string(number) / "properties", properties);
  }
  void add_cpu(int number) { add_node(number, "cpu_cores_count 32\nsimd_count 0\ngfx_target_version 0\n"); }
  void add_gpu(int number, unsigned version, unsigned units = 60, unsigned long long unique_id = 0) {
    add_node(number, "cpu_cores_count 0\nsimd_count " + std::to_string(units * 4) +
                         "\nsimd_per_cu 4\ngfx_target_version " + std::to_string(version) + "\nunique_id " +
                         std::to_string(unique_id) + "\n");
  }
  void add_device_file() { write(root / "dev/kfd", ""); }

  /// Puts a program named rocminfo on PATH; what it prints comes from the fake runner.
  void add_rocminfo(const std::string& output, int exit_code = 0) {
    const fs::path program = directory.path() / "bin/rocminfo";
    write(program, "#!/bin/sh\n");
    testing::make_executable(program);
    environment.set("PATH", program.parent_path().string());
    runner.reply = [=](const Command&) { return printed(output, exit_code); };
  }

  std::vector<std::string> targets(const Devices& found) {
    std::vector<std::string> names;
    for (const Device& device : found.devices) {
      names.push_back(device.target_id);
    }
    return names;
  }
};

std::string agent(int node, const std::string& name, const std::string& isa, const std::string& marketing) {
  return "*******\nAgent " + std::to_string(node + 1) + "\n*******\n  Name:       " + name +
         "\n  Marketing Name:      " + marketing + "\n  Node:        " + std::to_string(node) +
         "\n  ISA Info:\n    ISA 1\n      Name:     amdgcn-amd-amdhsa--" + isa + "\n";
}

TEST_F(DevicesTest, WritesMinorAndSteppingInHex) {
  add_device_file();
  const std::vector<std::pair<unsigned, std::string>> known = {
      {90006, "gfx906"},   {90010, "gfx90a"},   {90012, "gfx90c"}, {90402, "gfx942"},   {90206, "gfx926"},
      {90208, "gfx928"},   {90306, "gfx936"},   {90308, "gfx938"}, {100300, "gfx1030"}, {110000, "gfx1100"},
      {110501, "gfx1151"}, {120001, "gfx1201"}, {80003, "gfx803"}};
  for (std::size_t i = 0; i < known.size(); ++i) {
    add_gpu(static_cast<int>(i), known[i].first);
  }
  const std::vector<Device> devices = devices_from_kfd(root);
  ASSERT_THAT(devices, SizeIs(known.size()));
  for (std::size_t i = 0; i < known.size(); ++i) {
    EXPECT_EQ(devices[i].target_id, known[i].second);
  }
}

TEST_F(DevicesTest, ListsNodesByNumberAndLeavesOutCpus) {
  add_device_file();
  add_cpu(0);
  add_gpu(10, 90308, 64);
  add_gpu(2, 90006, 60);
  const Devices found = find_devices(machine(), false);
  EXPECT_THAT(targets(found), ElementsAre("gfx906", "gfx938"));
  EXPECT_EQ(found.devices[0].compute_units, 60U);
  EXPECT_EQ(found.devices[1].compute_units, 64U);
  EXPECT_EQ(found.devices[0].source, "KFD");
  EXPECT_THAT(found.sources, ElementsAre("KFD: 1 x gfx906, 1 x gfx938"));
  EXPECT_THAT(found.disagreements, IsEmpty());
  EXPECT_THAT(runner.commands, IsEmpty());
}

TEST_F(DevicesTest, SaysWhatIsMissing) {
  const Devices found = find_devices(machine(), false);
  EXPECT_THAT(found.devices, IsEmpty());
  EXPECT_THAT(found.sources,
              ElementsAre("KFD: /dev/kfd is missing", "KFD: /sys/class/kfd/kfd/topology is missing"));
}

TEST_F(DevicesTest, ATopologyWithoutItsDeviceFileGivesNoDevice) {
  add_gpu(1, 90306);
  add_gpu(2, 90306);
  const Devices found = find_devices(machine(), false);
  EXPECT_THAT(found.devices, IsEmpty());
  ASSERT_THAT(found.sources, SizeIs(2));
  EXPECT_EQ(found.sources[0], "KFD: /dev/kfd is missing");
  EXPECT_THAT(found.sources[1], HasSubstr("names 2 devices, out of reach"));
}

TEST_F(DevicesTest, SaysWhichNodesCannotBeRead) {
  add_device_file();
  fs::create_directories(root / "sys/class/kfd/kfd/topology/nodes/1");
  add_node(2, "simd_count 240\nsimd_per_cu 4\n");
  add_gpu(3, 90006);
  add_node(4, "garbage\n\nsimd_count\ngfx_target_version x\n");
  const Devices found = find_devices(machine(), false);
  EXPECT_THAT(targets(found), ElementsAre("gfx906"));
  EXPECT_THAT(found.sources, Contains(HasSubstr("node 1: properties cannot be read")));
  EXPECT_THAT(found.sources, Contains(HasSubstr("node 2: has 240 SIMDs but no gfx_target_version")));
}

TEST_F(DevicesTest, RocminfoAddsFeaturesAndNames) {
  add_device_file();
  add_cpu(0);
  add_gpu(1, 90306);
  add_gpu(2, 90208);
  // In another order than KFD's: the node number tells which is which.
  add_rocminfo(agent(0, "Hygon C86", "none", "Hygon C86") +
               agent(2, "gfx928", "gfx928:sramecc+:xnack-", "K100_AI") +
               agent(1, "gfx936", "gfx936:sramecc+:xnack-", "BW"));
  const Devices found = find_devices(machine(), true);
  EXPECT_THAT(targets(found), ElementsAre("gfx936:sramecc+:xnack-", "gfx928:sramecc+:xnack-"));
  EXPECT_EQ(found.devices[0].name, "BW");
  EXPECT_EQ(found.devices[1].name, "K100_AI");
  EXPECT_EQ(found.devices[0].source, "KFD, rocminfo");
  EXPECT_EQ(found.devices[0].compute_units, 60U);
  EXPECT_THAT(found.devices[1].isas, ElementsAre("gfx928:sramecc+:xnack-"));
  EXPECT_THAT(found.disagreements, IsEmpty());
  ASSERT_THAT(runner.commands, SizeIs(1));
  EXPECT_EQ(runner.commands[0].limit, std::chrono::seconds(20));
}

TEST_F(DevicesTest, CountsAndProcessorsThatDifferAreDisagreements) {
  add_device_file();
  add_gpu(1, 90006);
  add_gpu(2, 90006);
  add_rocminfo(agent(1, "gfx906", "gfx906:sramecc-:xnack-", "Z100"));
  Devices found = find_devices(machine(), true);
  EXPECT_THAT(found.disagreements,
              ElementsAre("KFD says 2 x gfx906; rocminfo says 1 x gfx906:sramecc-:xnack-"));
  EXPECT_THAT(targets(found), ElementsAre("gfx906:sramecc-:xnack-", "gfx906"));

  add_rocminfo(agent(1, "gfx906", "gfx906", "Z100") + agent(2, "gfx908", "gfx908", "MI100"));
  found = find_devices(machine(), true);
  EXPECT_THAT(found.disagreements, ElementsAre("node 2: KFD says gfx906, rocminfo says gfx908"));
  EXPECT_THAT(targets(found), ElementsAre("gfx906", "gfx906"));
}

TEST_F(DevicesTest, ARocminfoThatFailsIsADisagreementWithKfd) {
  add_device_file();
  add_gpu(1, 90006);
  add_rocminfo("\x1b[31mROCk module is NOT loaded, possibly no GPU devices\x1b[0m\n", 1);
  const Devices found = find_devices(machine(), true);
  EXPECT_THAT(targets(found), ElementsAre("gfx906"));
  EXPECT_THAT(found.sources, Contains(HasSubstr("): ROCk module is NOT loaded, possibly no GPU devices")));
  EXPECT_THAT(found.disagreements, ElementsAre("KFD says 1 x gfx906; rocminfo says no device"));
}

TEST_F(DevicesTest, WithoutKfdRocminfoAloneIsBelieved) {
  add_rocminfo("WSL environment detected.\n" + agent(1, "gfx1100", "gfx1100", "Radeon RX 7900"));
  const Devices found = find_devices(machine(), true);
  EXPECT_THAT(targets(found), ElementsAre("gfx1100"));
  EXPECT_EQ(found.devices[0].source, "rocminfo");
  EXPECT_THAT(found.disagreements, IsEmpty());
}

TEST_F(DevicesTest, RocminfoIsLookedForInTheToolkitsToo) {
  const fs::path program = root / "opt/dtk/bin/rocminfo";
  write(program, "#!/bin/sh\n");
  testing::make_executable(program);
  runner.reply = [](const Command&) {
    ProcessResult hung;
    hung.timed_out = true;
    hung.exit_code = 137;
    return hung;
  };
  const Devices found = find_devices(machine(), true);
  ASSERT_THAT(runner.commands, SizeIs(1));
  EXPECT_EQ(runner.commands[0].argv, std::vector<std::string>{program.string()});
  EXPECT_THAT(found.sources, Contains(HasSubstr("did not end within 20 s")));
}

TEST_F(DevicesTest, NoRocminfoIsSaid) {
  const Devices found = find_devices(machine(), true);
  EXPECT_THAT(found.sources, Contains(HasSubstr("rocminfo: not found on PATH")));
  EXPECT_THAT(runner.commands, IsEmpty());
}

TEST_F(DevicesTest, VisibilityVariablesHideDevices) {
  add_device_file();
  add_gpu(1, 90006, 60, 0xa1);
  add_gpu(2, 90208, 120, 0xa2);
  add_gpu(3, 90306, 80, 0xa3);
  struct Case {
    const char* variable;
    const char* value;
    std::vector<std::string> left;
  };
  const std::vector<Case> cases = {
      {"ROCR_VISIBLE_DEVICES", "", {}},
      {"ROCR_VISIBLE_DEVICES", "-1", {}},
      {"ROCR_VISIBLE_DEVICES", "2,0", {"gfx936", "gfx906"}},
      {"ROCR_VISIBLE_DEVICES", "GPU-00000000000000a2", {"gfx928"}},
      {"ROCR_VISIBLE_DEVICES", "1,7,0", {"gfx928"}}, // what follows an unknown one does not count
      {"ROCR_VISIBLE_DEVICES", "1,1,0", {"gfx928"}},
      {"HIP_VISIBLE_DEVICES", "", {"gfx906", "gfx928", "gfx936"}},
      {"HIP_VISIBLE_DEVICES", "-1", {}},
      {"HIP_VISIBLE_DEVICES", "1", {"gfx928"}},
      {"HIP_VISIBLE_DEVICES", "1,1,0", {"gfx928", "gfx906"}},
      {"CUDA_VISIBLE_DEVICES", "2", {"gfx936"}},
  };
  for (const Case& c : cases) {
    environment = Environment();
    environment.set(c.variable, c.value);
    const Devices found = find_devices(machine(), false);
    EXPECT_EQ(targets(found), c.left) << c.variable << "=" << c.value;
    if (c.left.empty()) {
      EXPECT_THAT(found.sources,
                  Contains(std::string(c.variable) + "=" + c.value + " hides all of the 3 devices"));
    }
  }
}

TEST_F(DevicesTest, HipCountsWhatRocrLeft) {
  add_device_file();
  add_gpu(1, 90006);
  add_gpu(2, 90208);
  environment.set("ROCR_VISIBLE_DEVICES", "1");
  environment.set("HIP_VISIBLE_DEVICES", "0");
  EXPECT_THAT(targets(find_devices(machine(), false)), ElementsAre("gfx928"));
}

TEST_F(DevicesTest, AnOverrideIsWhatTheRuntimeLooksFor) {
  add_device_file();
  add_gpu(1, 100305);
  environment.set("HSA_OVERRIDE_GFX_VERSION", "10.3.0");
  const Devices found = find_devices(machine(), false);
  EXPECT_THAT(targets(found), ElementsAre("gfx1030"));
  EXPECT_EQ(found.devices[0].chip, "gfx1035");
  EXPECT_THAT(found.sources, Contains("HSA_OVERRIDE_GFX_VERSION=10.3.0 makes gfx1035 pass for gfx1030"));
  ASSERT_THAT(found.overrides, SizeIs(1));
  EXPECT_EQ(found.overrides[0].processor, "gfx1030");
}

TEST_F(DevicesTest, AnOverrideThatSaysTheChipChangesNothing) {
  add_device_file();
  add_gpu(1, 90010);
  environment.set("HSA_OVERRIDE_GFX_VERSION", "9.0.10");
  const Devices found = find_devices(machine(), false);
  EXPECT_THAT(targets(found), ElementsAre("gfx90a"));
  EXPECT_EQ(found.devices[0].chip, "");
}

TEST_F(DevicesTest, AnOverrideOfANodeGoesBeforeTheGeneralOne) {
  add_device_file();
  add_gpu(1, 100305);
  add_gpu(2, 110002);
  environment.set("HSA_OVERRIDE_GFX_VERSION", "10.3.0");
  environment.set("HSA_OVERRIDE_GFX_VERSION_2", "11.0.0");
  environment.set("HSA_OVERRIDE_GFX_VERSION_x", "9.0.0");
  const Devices found = find_devices(machine(), false);
  EXPECT_THAT(targets(found), ElementsAre("gfx1030", "gfx1100"));
  EXPECT_EQ(found.devices[1].chip, "gfx1102");
  EXPECT_THAT(found.overrides, SizeIs(2));
}

TEST_F(DevicesTest, TheRuntimeDoesNotStartWithAnOverrideThatIsNoVersion) {
  add_device_file();
  add_gpu(1, 100305);
  for (const char* value : {"", "gfx1030", "10.3", "10.3.0 ", "10.3.0x", "10.3.0.0", "10.16.0", "10.3.99",
                            "64.0.0", "0.0.0", "-1.0.0"}) {
    environment.set("HSA_OVERRIDE_GFX_VERSION", value);
    const Devices found = find_devices(machine(), false);
    EXPECT_THAT(targets(found), IsEmpty()) << value;
    EXPECT_THAT(found.sources, Contains(HasSubstr("is no version"))) << value;
    EXPECT_EQ(found.overrides.at(0).processor, "") << value;
    EXPECT_EQ(found.in_topology, 1U);
  }
}

TEST_F(DevicesTest, SaysWhichEntryNamesNoDevice) {
  add_device_file();
  add_gpu(1, 90006, 60, 0xa1);
  add_gpu(2, 90208, 120, 0xb2);
  environment.set("HIP_VISIBLE_DEVICES", "1, 5,0");
  Devices found = find_devices(machine(), false);
  ASSERT_THAT(found.visibility, SizeIs(1));
  EXPECT_EQ(found.visibility[0].variable, "HIP_VISIBLE_DEVICES");
  EXPECT_EQ(found.visibility[0].before, 2U);
  EXPECT_EQ(found.visibility[0].after, 1U);
  EXPECT_EQ(found.visibility[0].unknown_entry, "5");

  environment = Environment{{"ROCR_VISIBLE_DEVICES", "gpu-00000000000000B2,GPU-f"}};
  found = find_devices(machine(), false);
  EXPECT_THAT(targets(found), ElementsAre("gfx928"));
  EXPECT_EQ(found.visibility[0].unknown_entry, "GPU-f");

  environment = Environment{{"ROCR_VISIBLE_DEVICES", "GPU-00000000000000"}};
  EXPECT_THAT(targets(find_devices(machine(), false)), IsEmpty())
      << "the beginning of two UUIDs names neither";
  environment = Environment{{"ROCR_VISIBLE_DEVICES", "GPU-00000000000000a"}};
  EXPECT_THAT(targets(find_devices(machine(), false)), ElementsAre("gfx906"));
}

TEST_F(DevicesTest, ASavedOutputTakesThePlaceOfRocminfo) {
  add_rocminfo(agent(1, "gfx908", "gfx908", "not asked"));
  const SavedRocminfo saved =
      read_saved_rocminfo(agent(1, "gfx936", "gfx936:sramecc+:xnack-", "BW"), "saved.txt");
  const Devices found = find_devices(machine(), saved);
  EXPECT_THAT(targets(found), ElementsAre("gfx936:sramecc+:xnack-"));
  EXPECT_THAT(found.sources, Contains("rocminfo (saved.txt): 1 x gfx936:sramecc+:xnack-"));
  EXPECT_THAT(runner.commands, IsEmpty());
  ASSERT_TRUE(found.rocminfo);
  EXPECT_THAT(found.rocminfo->agents, SizeIs(1));
}

TEST_F(DevicesTest, ASavedMachineNeedsNoDeviceFileAndRunsNothing) {
  add_gpu(1, 90306, 80);
  add_rocminfo(agent(1, "gfx908", "gfx908", "not asked"));
  Machine saved = machine();
  saved.is_saved = true;
  const Devices found = find_devices(saved, true);
  EXPECT_THAT(targets(found), ElementsAre("gfx936"));
  EXPECT_THAT(found.sources, Contains(HasSubstr("rocminfo: not run")));
  EXPECT_THAT(runner.commands, IsEmpty());
}

TEST_F(DevicesTest, KfdIsFollowedInsideTheTree) {
  add_device_file();
  write(root / "sys/devices/virtual/kfd/kfd/topology/nodes/1/properties",
        "simd_count 256\nsimd_per_cu 4\ngfx_target_version 90308\nwave_front_size 64\n");
  fs::create_directories(root / "sys/class/kfd");
  fs::create_symlink("/sys/devices/virtual/kfd/kfd", root / "sys/class/kfd/kfd");
  const Devices found = find_devices(machine(), false);
  EXPECT_THAT(targets(found), ElementsAre("gfx938"));
  EXPECT_EQ(found.devices[0].wavefront, 64U);
}

TEST(SavedRocminfo, RefusesWhatIsNone) {
  for (const char* text : {"", "  \n", "hello\nName\n",
                           "\x7f"
                           "ELF\x02\x01"}) {
    EXPECT_THROW((void)read_saved_rocminfo(text, "x.txt"), Error) << text;
  }
  try {
    (void)read_saved_rocminfo("hello", "x.txt");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("x.txt holds no agent"));
  }
  EXPECT_EQ(read_saved_rocminfo("ROCk module is NOT loaded, possibly no GPU devices", "x").told.agents.size(),
            0U);
}

} // namespace
} // namespace dcuop::probe
