#include "dcuop/elf/occupancy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dcuop::elf {
namespace {

using testing::HasSubstr;

KernelInfo kernel(std::uint32_t vgprs, std::uint32_t wavefront = 64) {
  KernelInfo info;
  info.name = "k";
  info.vgprs = vgprs;
  info.sgprs = 16;
  info.wavefront = wavefront;
  info.max_workgroup = 1024;
  return info;
}

std::uint32_t waves(const std::string& target, const KernelInfo& info) {
  const auto occupancy = occupancy_of(target, info, 64, 0);
  return occupancy ? occupancy->waves_per_eu : 0;
}

// The table that LLVM's getOccupancyWithNumVGPRs held before it was a formula (https://reviews.llvm.org/D65010).
TEST(Occupancy, GoesByVgprsOnGfx9) {
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> steps = {
      {24, 10}, {25, 9}, {28, 9}, {29, 8}, {32, 8}, {33, 7}, {36, 7},  {37, 6},  {40, 6}, {41, 5},
      {48, 5},  {49, 4}, {64, 4}, {65, 3}, {84, 3}, {85, 2}, {128, 2}, {129, 1}, {256, 1}};
  for (const auto& [vgprs, expected] : steps) {
    EXPECT_EQ(waves("gfx906", kernel(vgprs)), expected) << vgprs;
    EXPECT_EQ(waves("gfx908:sramecc+:xnack-", kernel(vgprs)), expected) << vgprs;
    EXPECT_EQ(waves("gfx9-generic", kernel(vgprs)), expected) << vgprs;
  }
}

// agpr-register-count.ll of LLVM: 44 VGPRs in all on gfx90a, occupancy 8; 56: 8; 512 are one wave's.
TEST(Occupancy, GoesByTheUnifiedFileOnGfx90a) {
  EXPECT_EQ(waves("gfx90a", kernel(44)), 8U);
  EXPECT_EQ(waves("gfx90a", kernel(64)), 8U);
  EXPECT_EQ(waves("gfx90a", kernel(65)), 7U);
  EXPECT_EQ(waves("gfx942", kernel(257)), 1U);
  EXPECT_EQ(waves("gfx942", kernel(512)), 1U);
}

TEST(Occupancy, GoesBySgprsBeforeGfx10) {
  for (const auto& [sgprs, expected] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{
           {80, 10}, {81, 9}, {88, 9}, {89, 8}, {100, 8}, {101, 7}}) {
    KernelInfo info = kernel(8);
    info.sgprs = sgprs;
    EXPECT_EQ(waves("gfx906", info), expected) << sgprs;
    info.wgp_mode = true;
    EXPECT_EQ(waves("gfx1030", info), 16U);
  }
}

TEST(Occupancy, TakesWave32AndTheWorkgroupModeFromTheKernel) {
  KernelInfo info = kernel(64, 32);
  EXPECT_FALSE(occupancy_of("gfx1030", info, 256, 0)); // the mode is not said
  info.wgp_mode = false;
  auto occupancy = occupancy_of("gfx1030", info, 256, 0);
  ASSERT_TRUE(occupancy);
  EXPECT_FALSE(occupancy->limits.is_wgp);
  EXPECT_EQ(occupancy->waves_per_eu, 16U);
  EXPECT_EQ(occupancy->blocks_per_cu, 4U); // 2 SIMDs of 16 waves, 8 a workgroup
  info.wgp_mode = true;
  occupancy = occupancy_of("gfx1030", info, 256, 0);
  EXPECT_TRUE(occupancy->limits.is_wgp);
  EXPECT_EQ(occupancy->blocks_per_cu, 8U);
  info.wavefront = 64; // half the registers, the workgroup half the waves
  EXPECT_EQ(occupancy_of("gfx1030", info, 256, 0)->waves_per_eu, 8U);
  info.wavefront = 32;
  info.vgprs = 97;
  EXPECT_EQ(waves("gfx1030", info), 9U);  // 1024 / 112
  EXPECT_EQ(waves("gfx1100", info), 12U); // 1536 / 120
  EXPECT_EQ(waves("gfx1102", info), 9U);
  EXPECT_EQ(waves("gfx1010", info), 9U); // 1024 / 104
}

TEST(Occupancy, NamesWhatLimitsTheWorkgroups) {
  KernelInfo info = kernel(84);
  auto occupancy = occupancy_of("gfx906", info, 256, 0);
  EXPECT_EQ(occupancy->blocks_per_cu, 3U);
  EXPECT_EQ(occupancy->waves_per_cu, 12U);
  EXPECT_EQ(occupancy->limiter, Limiter::vgprs);
  EXPECT_EQ(occupancy->used, 84U);
  EXPECT_EQ(occupancy->available, 256U);

  info = kernel(24);
  info.lds_bytes = 20000; // 40 blocks of 512
  occupancy = occupancy_of("gfx906", info, 256, 0);
  EXPECT_EQ(occupancy->blocks_per_cu, 3U);
  EXPECT_EQ(occupancy->limiter, Limiter::lds);
  EXPECT_EQ(occupancy_of("gfx906", info, 256, 2048)->blocks_per_cu, 2U);

  info = kernel(8);
  occupancy = occupancy_of("gfx906", info, 1024, 0);
  EXPECT_EQ(occupancy->blocks_per_cu, 2U); // 40 slots, 16 waves each
  EXPECT_EQ(occupancy->limiter, Limiter::wave_slots);
  EXPECT_EQ(occupancy_of("gfx906", info, 128, 0)->limiter, Limiter::barriers);
  EXPECT_EQ(occupancy_of("gfx906", info, 128, 0)->blocks_per_cu, 16U);
  EXPECT_EQ(occupancy_of("gfx906", info, 64, 0)->blocks_per_cu, 40U); // one wave needs no barrier
  info.sgprs = 102;
  EXPECT_EQ(occupancy_of("gfx906", info, 1024, 0)->limiter, Limiter::sgprs);
}

TEST(Occupancy, RoundsLdsToWhatIsGivenOut) {
  KernelInfo info = kernel(8);
  info.lds_bytes = 8192;
  EXPECT_EQ(occupancy_of("gfx906", info, 256, 0)->blocks_per_cu, 8U);
  info.lds_bytes = 8193;
  EXPECT_EQ(occupancy_of("gfx906", info, 256, 0)->blocks_per_cu, 7U);
  EXPECT_EQ(occupancy_of("gfx950", info, 512, 0)->limits.lds, 163840U);
  info.lds_bytes = 70000;
  EXPECT_EQ(occupancy_of("gfx906", info, 256, 0)->blocks_per_cu, 0U);
  EXPECT_EQ(occupancy_of("gfx950", info, 256, 0)->blocks_per_cu, 2U);
  info.lds_bytes = ~std::uint64_t{0};
  EXPECT_EQ(occupancy_of("gfx906", info, 256, ~std::uint64_t{0})->blocks_per_cu, 0U);
}

TEST(Occupancy, HoldsNoneOfAKernelThatIsTooLarge) {
  EXPECT_EQ(occupancy_of("gfx906", kernel(256), 1024, 0)->blocks_per_cu, 0U);
  EXPECT_EQ(occupancy_of("gfx906", kernel(0xffffffff), 64, 0)->blocks_per_cu, 0U);
}

TEST(Occupancy, GuessesNothing) {
  CodeObject object;
  for (const char* const target :
       {"gfx926", "gfx928", "gfx936", "gfx936:sramecc+:xnack-", "gfx938", "gfx946", "gfx1250", "gfx9",
        "gfx90", "gfx11-generic", "gfx9-4-generic", "amdgcnspirv", ""}) {
    object.target = target;
    object.elf_flags = 0x581;
    EXPECT_FALSE(occupancy_of(target, kernel(24), 256, 0)) << target;
    EXPECT_NE(why_unknown(object, kernel(24)), "");
  }
  EXPECT_THAT(why_unknown(object, kernel(24)), HasSubstr("unknown mach 0x81"));
  object.target = "gfx936:sramecc+:xnack-";
  EXPECT_EQ(why_unknown(object, kernel(24)), "no public source gives the limits of gfx936");
  EXPECT_FALSE(occupancy_of("gfx906", kernel(24, 32), 256, 0)); // gfx9 has no wave32
  EXPECT_FALSE(occupancy_of("gfx906", kernel(24, 0), 256, 0));
  EXPECT_FALSE(occupancy_of("gfx906", kernel(24), 0, 0));
}

TEST(DefaultThreads, AreTheRequiredOnesElseTheMost) {
  KernelInfo info = kernel(8);
  EXPECT_EQ(default_threads(info), 1024U);
  info.required_workgroup = {32, 4, 2};
  EXPECT_EQ(default_threads(info), 256U);
  info.required_workgroup = {0xffffffff, 0xffffffff, 0xffffffff};
  EXPECT_EQ(default_threads(info), 0xffffffffU);
}

TEST(TargetOfFlags, ReadsLlvmsNumbersAndNoOthers) {
  EXPECT_EQ(target_of_flags(0x52f, 4), "gfx906");
  EXPECT_EQ(target_of_flags(0xe3f, 4), "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(target_of_flags(0x41, 5), "gfx1100");
  EXPECT_EQ(target_of_flags(0x1000151, 6), "gfx9-generic");
  EXPECT_EQ(target_of_flags(0x32f, 3), "gfx906:sramecc+:xnack+");
  EXPECT_EQ(target_of_flags(0x2f, 2), "");
  EXPECT_EQ(target_of_flags(0xd81, 5), "");
  EXPECT_EQ(target_of_flags(0, 5), "");
  EXPECT_EQ(mach_text(0xd81), "unknown mach 0x81");
  EXPECT_EQ(mach_text(0x7f), "unknown mach 0x7f");
  EXPECT_EQ(mach_text(0x1000), "unknown mach 0x00");
  EXPECT_EQ(mach_text(0x34f), "gfx950");
}

} // namespace
} // namespace dcuop::elf
