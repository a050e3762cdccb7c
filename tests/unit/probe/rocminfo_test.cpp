// The project's own samples of rocminfo's shapes, and, where it is there, a wider collection beside the
// source tree (../shared/corpus/rocminfo).

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcuop/probe/devices.hpp"
#include "dcuop/support/files.hpp"

namespace dcuop::probe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Rocminfo sample(const std::string& name) {
  const auto text = read_file(fs::path(DCUOP_SOURCE_DIR) / "tests/corpus/rocminfo" / name);
  EXPECT_TRUE(text) << name;
  return parse_rocminfo(text.value_or(""));
}

TEST(Rocminfo, ReadsHygonsDevicesAndTheirIsas) {
  const Rocminfo told = sample("two_hcu.txt");
  EXPECT_EQ(told.runtime_version, "1.13");
  EXPECT_EQ(told.problem, "");
  ASSERT_THAT(told.agents, SizeIs(3));
  EXPECT_EQ(told.agents[0].name, "Hygon C86-4G 7490");
  EXPECT_EQ(told.agents[0].device_type, "CPU");
  EXPECT_EQ(told.agents[0].compute_units, 64U);
  EXPECT_THAT(told.agents[0].isas, IsEmpty());

  EXPECT_EQ(told.agents[1].name, "gfx936");
  EXPECT_EQ(told.agents[1].marketing_name, "BW");
  EXPECT_EQ(told.agents[1].vendor, "C-3000");
  EXPECT_EQ(told.agents[1].device_type, "HCU");
  EXPECT_EQ(told.agents[1].uuid, "GPU-0c0ffee000000001");
  EXPECT_EQ(told.agents[1].node, 1U);
  EXPECT_EQ(told.agents[1].compute_units, 80U);
  EXPECT_EQ(told.agents[1].wavefront, 64U);
  EXPECT_THAT(told.agents[1].isas, ElementsAre("amdgcn-amd-amdhsa--gfx936:sramecc+:xnack-"));

  EXPECT_EQ(told.agents[2].name, "gfx928");
  EXPECT_EQ(told.agents[2].marketing_name, "");
  EXPECT_EQ(told.agents[2].node, 2U);
  EXPECT_EQ(told.agents[2].compute_units, 120U);
  EXPECT_THAT(told.agents[2].isas, ElementsAre("amdgcn-amd-amdhsa--gfx928:sramecc+:xnack-"));
}

TEST(Rocminfo, ReadsALineThatHoldsEverything) {
  const Rocminfo told = sample("one_line.txt");
  ASSERT_THAT(told.agents, SizeIs(1));
  EXPECT_EQ(told.agents[0].name, "gfx942");
  EXPECT_EQ(told.agents[0].marketing_name, "MI300A");
  EXPECT_EQ(told.agents[0].wavefront, 64U);
  EXPECT_THAT(told.agents[0].isas, ElementsAre("amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-",
                                               "amdgcn-amd-amdhsa--gfx9-4-generic:sramecc+:xnack-"));
}

TEST(Rocminfo, StartsANewAgentAtANameWhereHeadingsAreCutAway) {
  const Rocminfo told = sample("names_only.txt");
  ASSERT_THAT(told.agents, SizeIs(3));
  EXPECT_EQ(told.agents[0].name, "AMD Ryzen 9 7940HS");
  EXPECT_EQ(told.agents[1].name, "gfx1103");
  EXPECT_EQ(told.agents[1].marketing_name, "Radeon 780M");
  EXPECT_THAT(told.agents[1].isas, ElementsAre("amdgcn-amd-amdhsa--gfx1103"));
  EXPECT_EQ(told.agents[2].name, "gfx1100");
  EXPECT_EQ(told.agents[2].marketing_name, "");
}

TEST(Rocminfo, TakesTheProcessorOfAnIsaWithoutItsAgent) {
  const Rocminfo told = sample("isa_tail.txt");
  ASSERT_THAT(told.agents, SizeIs(1));
  EXPECT_EQ(told.agents[0].name, "gfx908");
  EXPECT_THAT(told.agents[0].isas, ElementsAre("amdgcn-amd-amdhsa--gfx908:sramecc-:xnack+"));
}

TEST(Rocminfo, SaysWhatRocminfoSaidWhenThereIsNoAgent) {
  const Rocminfo denied = sample("permission_denied_coloured.txt");
  EXPECT_THAT(denied.agents, IsEmpty());
  EXPECT_EQ(denied.problem, "Unable to open /dev/kfd read-write: Permission denied; alice is not member of "
                            "\"render\" group, the default DRM access group.");
  const Rocminfo resources = sample("out_of_resources.txt");
  EXPECT_THAT(resources.agents, IsEmpty());
  EXPECT_THAT(resources.problem, HasSubstr("HSA_STATUS_ERROR_OUT_OF_RESOURCES"));
}

TEST(Rocminfo, AnEmptyOrForeignTextIsNoAgentAndNoProblem) {
  for (const char* text :
       {"", "\n\n", "\x1b[", "\x1b", "Agent 1\n*******\n", "Name", "Name:", "Agent x\n Node: 3\n"}) {
    const Rocminfo told = parse_rocminfo(text);
    EXPECT_THAT(told.agents, IsEmpty()) << text;
    EXPECT_EQ(told.problem, "") << text;
  }
}

TEST(Rocminfo, SurvivesACutAtEveryByte) {
  const auto text = read_file(fs::path(DCUOP_SOURCE_DIR) / "tests/corpus/rocminfo/two_hcu.txt");
  ASSERT_TRUE(text);
  std::size_t most = 0;
  for (std::size_t length = 0; length <= text->size(); ++length) {
    const std::size_t agents = parse_rocminfo(text->substr(0, length)).agents.size();
    EXPECT_GE(agents, most) << "agents may only be added, cut at " << length;
    most = agents;
  }
  EXPECT_EQ(most, 3U);
  for (std::size_t start = 0; start < text->size(); ++start) {
    EXPECT_LE(parse_rocminfo(text->substr(start)).agents.size(), 4U);
  }
}

// ---- the wider collection ----

struct Expected {
  const char* file;
  std::vector<std::string> devices; ///< agents named gfx...
  std::vector<std::string> isas;    ///< of all devices, without their prefix
  const char* problem;              ///< a part of it, "" for none
};

class RocminfoCollection : public ::testing::TestWithParam<Expected> {};

TEST_P(RocminfoCollection, ReadsDevicesAndIsas) {
  const fs::path file = fs::path(DCUOP_SOURCE_DIR) / "../shared/corpus/rocminfo" / GetParam().file;
  const auto text = read_file(file);
  if (!text) {
    GTEST_SKIP() << "no collection beside the source tree";
  }
  const Rocminfo told = parse_rocminfo(*text);
  std::vector<std::string> devices;
  std::vector<std::string> isas;
  for (const RocminfoAgent& agent : told.agents) {
    if (!agent.name.starts_with("gfx")) {
      continue;
    }
    devices.push_back(agent.name);
    for (const std::string& isa : agent.isas) {
      isas.push_back(isa.substr(std::string("amdgcn-amd-amdhsa--").size()));
    }
  }
  EXPECT_EQ(devices, GetParam().devices);
  EXPECT_EQ(isas, GetParam().isas);
  if (*GetParam().problem == '\0') {
    EXPECT_EQ(told.problem, "");
  } else {
    EXPECT_THAT(told.problem, HasSubstr(GetParam().problem));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Samples, RocminfoCollection,
    ::testing::Values(
        Expected{"01_gfx942_mi300x_vf_two_isas_rocm7.txt",
                 {"gfx942"},
                 {"gfx942:sramecc+:xnack-", "gfx9-4-generic:sramecc+:xnack-"},
                 ""},
        Expected{"02_mixed_mi210_mi50_mi100_rocm72.txt",
                 {"gfx90a", "gfx906", "gfx908"},
                 {"gfx90a:sramecc+:xnack-", "gfx906:sramecc+:xnack-", "gfx908:sramecc+:xnack-"},
                 ""},
        Expected{"04_gfx90c_apu_rocm5.txt", {"gfx90c"}, {"gfx90c:xnack-"}, ""},
        Expected{"05_wsl2_gfx1100_rx7900gre_rocm63.txt", {"gfx1100"}, {"gfx1100"}, ""},
        Expected{
            "07_not_loaded_ansi_5.2.3.txt", {}, {}, "ROCk module is NOT loaded, possibly no GPU devices"},
        Expected{"08_not_loaded_no_kfd_video_group_rocm40.txt", {}, {}, "No such file or directory"},
        Expected{"09_kfd_permission_denied_not_member_rocm5.txt", {}, {}, "Permission denied"},
        Expected{"11_kfd_operation_not_permitted.txt", {}, {}, "Operation not permitted"},
        Expected{"12_kfd_invalid_argument.txt", {}, {}, "Invalid argument"},
        Expected{"13_container_no_kfd_node.txt", {}, {}, "No such file or directory"},
        Expected{"14_kfd_cannot_allocate_memory_rocm39.txt", {}, {}, "Cannot allocate memory"},
        Expected{"15_hsa_out_of_resources_rocm33.txt", {}, {}, "HSA_STATUS_ERROR_OUT_OF_RESOURCES"},
        Expected{"17_dcu_gfx936_bw_two_hcu_reduced.txt", {"gfx936", "gfx936"}, {}, ""},
        Expected{"20_header_xnack_yes_rocm64.txt", {}, {}, ""},
        Expected{"22_whitespace_collapsed_rocm26.txt", {}, {}, ""},
        Expected{"23_gfx90a_tail_rocm62.txt", {"gfx90a"}, {"gfx90a:sramecc+:xnack-"}, ""},
        Expected{"25_gfx950_one_line_collapsed.txt",
                 {"gfx950"},
                 {"gfx950:sramecc+:xnack-", "gfx9-4-generic:sramecc+:xnack-"},
                 ""},
        Expected{"27_hsa_override_gfx90c_seen_as_gfx900.txt", {"gfx900"}, {"gfx900:xnack-"}, ""},
        Expected{"30_wsl_rocm7_header_librocdxg.txt", {}, {}, ""},
        Expected{"31_header_gfx1150_rocm70rc1.txt", {}, {}, ""},
        Expected{"34_gfx1035_pool_flags_empty.txt", {"gfx1035"}, {"gfx1035"}, ""}),
    [](const auto& info) {
      std::string name = info.param.file;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
      return name;
    });

TEST(RocminfoCollection, ReadsTheFieldsOfAnAgent) {
  const auto text = read_file(fs::path(DCUOP_SOURCE_DIR) /
                              "../shared/corpus/rocminfo/01_gfx942_mi300x_vf_two_isas_rocm7.txt");
  if (!text) {
    GTEST_SKIP() << "no collection beside the source tree";
  }
  const Rocminfo told = parse_rocminfo(*text);
  ASSERT_THAT(told.agents, SizeIs(2));
  EXPECT_EQ(told.agents[0].name, "INTEL(R) XEON(R) PLATINUM 8568Y+");
  EXPECT_EQ(told.agents[1].marketing_name, "AMD Instinct MI300X VF");
  EXPECT_EQ(told.agents[1].uuid, "GPU-00000000000000a1");
  EXPECT_EQ(told.agents[1].compute_units, 304U);
  EXPECT_EQ(told.agents[1].wavefront, 64U);
  EXPECT_EQ(told.agents[1].node, 1U);
  EXPECT_EQ(told.agents[1].device_type, "GPU");
}

} // namespace
} // namespace dcuop::probe
