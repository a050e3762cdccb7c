#include "dcuop/elf/occupancy.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace dcuop::elf {

namespace {

/// Registers as a lane of wave64 sees them: wave32 has twice the number, and blocks of twice the size.
struct Family {
  std::uint32_t waves;
  std::uint32_t vgprs, vgpr_granule;
  std::uint64_t lds_granule;
  bool has_wgps;
  std::uint64_t lds = 65536; ///< of a CU
};

// From LLVM (https://github.com/llvm/llvm-project): llvm/lib/Target/AMDGPU/Utils/AMDGPUBaseInfo.cpp, namespace
// IsaInfo: getMaxWavesPerEU, getTotalNumVGPRs, getVGPRAllocGranule, getAddressableLocalMemorySize, getEUsPerCU,
// getMaxWorkGroupsPerCU; which processor has which: AMDGPU.td, FeatureISAVersion* (FeatureGFX90AInsts,
// Feature1536VGPRs, FeatureGFX10_3Insts, FeatureAddressableLocalMemorySize*). LDS is given out in blocks of 512
// bytes, on gfx950 of 1280 (https://llvm.org/docs/AMDGPUUsage.html, GRANULATED_LDS_SIZE), on gfx10.3 to gfx12.0 of
// 1024 (https://www.mail-archive.com/llvm-branch-commits@lists.llvm.org/msg93239.html).
constexpr Family gcn = {10, 256, 4, 512, false};
constexpr Family cdna2 = {8, 512, 8, 512, false};
constexpr Family gfx950 = {8, 512, 8, 1280, false, 163840};
constexpr Family rdna1 = {20, 512, 4, 512, true};
constexpr Family rdna2 = {16, 512, 8, 1024, true};
constexpr Family rdna3_large = {16, 768, 12, 1024, true};

struct Row {
  std::string_view processor;
  const Family* family;
};

// gfx802 and gfx805 are left out: their SGPR count is fixed by a hardware fault. gfx9-4-generic and gfx11-generic
// cover processors that differ in LDS or in VGPRs. Of gfx926 to gfx946 (Hygon) no source gives the register
// files.
constexpr std::array<Row, 39> rows = {{
    {"gfx801", &gcn},
    {"gfx803", &gcn},
    {"gfx810", &gcn},
    {"gfx900", &gcn},
    {"gfx902", &gcn},
    {"gfx904", &gcn},
    {"gfx906", &gcn},
    {"gfx908", &gcn},
    {"gfx909", &gcn},
    {"gfx90c", &gcn},
    {"gfx9-generic", &gcn},
    {"gfx90a", &cdna2},
    {"gfx940", &cdna2},
    {"gfx941", &cdna2},
    {"gfx942", &cdna2},
    {"gfx950", &gfx950},
    {"gfx1010", &rdna1},
    {"gfx1011", &rdna1},
    {"gfx1012", &rdna1},
    {"gfx1013", &rdna1},
    {"gfx10-1-generic", &rdna1},
    {"gfx1030", &rdna2},
    {"gfx1031", &rdna2},
    {"gfx1032", &rdna2},
    {"gfx1033", &rdna2},
    {"gfx1034", &rdna2},
    {"gfx1035", &rdna2},
    {"gfx1036", &rdna2},
    {"gfx10-3-generic", &rdna2},
    {"gfx1102", &rdna2},
    {"gfx1103", &rdna2},
    {"gfx1150", &rdna2},
    {"gfx1152", &rdna2},
    {"gfx1100", &rdna3_large},
    {"gfx1101", &rdna3_large},
    {"gfx1151", &rdna3_large},
    {"gfx1200", &rdna3_large},
    {"gfx1201", &rdna3_large},
    {"gfx12-generic", &rdna3_large},
}};

constexpr std::uint32_t sgprs_of_eu = 800;
constexpr std::uint32_t barriers_of_cu = 16;
constexpr std::uint32_t simds_of_gcn_cu = 4;
constexpr std::uint32_t simds_of_rdna_cu = 2;

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t granule) {
  return (value + granule - 1) / granule * granule;
}

/// Not a multiple of 800/granule: LLVM's getOccupancyWithNumSGPRs, for gfx8 and gfx9.
std::uint32_t waves_by_sgprs(std::uint32_t sgprs) {
  return sgprs <= 80 ? 10 : sgprs <= 88 ? 9 : sgprs <= 100 ? 8 : 7;
}

std::uint32_t waves_by_vgprs(const UnitLimits& limits, std::uint32_t vgprs) {
  const std::uint64_t taken = rounded_up(std::max(vgprs, 1U), limits.vgpr_granule);
  return static_cast<std::uint32_t>(limits.vgprs / taken);
}

struct Candidate {
  Limiter limiter;
  std::uint64_t blocks; ///< workgroups of a unit that it allows
  std::uint64_t used, available;
};

/// In the order in which they are named when several allow the same: full wave slots leave nothing to gain.
std::array<Candidate, 5> candidates(const UnitLimits& limits, const KernelInfo& kernel, std::uint64_t waves,
                                    std::uint64_t lds) {
  const auto held = [&](std::uint32_t waves_of_eu) {
    return std::uint64_t{std::min(waves_of_eu, limits.waves)} * limits.units / waves;
  };
  constexpr auto any = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t lds_taken = rounded_up(lds, limits.lds_granule);
  const bool lds_fits = lds <= limits.lds_of_workgroup;
  return {{{Limiter::wave_slots, held(limits.waves), waves, std::uint64_t{limits.waves} * limits.units},
           {Limiter::vgprs, held(waves_by_vgprs(limits, kernel.vgprs)), kernel.vgprs, limits.vgprs},
           {Limiter::sgprs, limits.sgprs_limit ? held(waves_by_sgprs(kernel.sgprs)) : any, kernel.sgprs,
            sgprs_of_eu},
           {Limiter::lds,
            !lds_fits        ? 0
            : lds_taken == 0 ? any
                             : limits.lds / lds_taken,
            lds, lds_fits ? limits.lds : limits.lds_of_workgroup},
           {Limiter::barriers, waves > 1 ? limits.barriers : any, 1, limits.barriers}}};
}

} // namespace

std::optional<UnitLimits> limits_of(std::string_view target, const KernelInfo& kernel) {
  const std::string_view processor = target.substr(0, target.find(':'));
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const Row& candidate) { return candidate.processor == processor; });
  const bool wave32 = kernel.wavefront == 32;
  if (row == rows.end() || (!wave32 && kernel.wavefront != 64)) {
    return std::nullopt;
  }
  const Family& family = *row->family;
  if (family.has_wgps ? !kernel.wgp_mode.has_value() : wave32) {
    return std::nullopt;
  }
  const std::uint32_t width = wave32 ? 2 : 1;
  const std::uint32_t cus = family.has_wgps && *kernel.wgp_mode ? 2 : 1;
  UnitLimits limits;
  limits.is_wgp = cus == 2;
  limits.units = cus * (family.has_wgps ? simds_of_rdna_cu : simds_of_gcn_cu);
  limits.waves = family.waves;
  limits.vgprs = family.vgprs * width;
  limits.vgpr_granule = family.vgpr_granule * width;
  limits.sgprs_limit = !family.has_wgps;
  limits.lds = family.lds * cus;
  limits.lds_granule = family.lds_granule;
  limits.lds_of_workgroup = family.lds;
  limits.barriers = barriers_of_cu * cus;
  return limits;
}

std::uint32_t default_threads(const KernelInfo& kernel) {
  std::uint64_t threads = 1;
  for (const std::uint32_t size : kernel.required_workgroup) {
    threads = std::min<std::uint64_t>(threads * size, std::numeric_limits<std::uint32_t>::max());
  }
  return threads > 0 ? static_cast<std::uint32_t>(threads) : kernel.max_workgroup;
}

std::optional<Occupancy> occupancy_of(std::string_view target, const KernelInfo& kernel,
                                      std::uint32_t threads, std::uint64_t dynamic_lds) {
  const auto limits = limits_of(target, kernel);
  if (!limits || threads == 0) {
    return std::nullopt;
  }
  const std::uint64_t waves = (std::uint64_t{threads} + kernel.wavefront - 1) / kernel.wavefront;
  const std::uint64_t lds_room = std::numeric_limits<std::uint64_t>::max() / 2; // no file's number is trusted
  const std::uint64_t lds = std::min(kernel.lds_bytes, lds_room) + std::min(dynamic_lds, lds_room);
  const auto by = candidates(*limits, kernel, waves, std::min(lds, lds_room));
  const auto least = std::min_element(
      by.begin(), by.end(), [](const Candidate& a, const Candidate& b) { return a.blocks < b.blocks; });
  Occupancy occupancy;
  occupancy.limits = *limits;
  occupancy.threads = threads;
  occupancy.waves_per_eu = std::min(limits->waves, waves_by_vgprs(*limits, kernel.vgprs));
  if (limits->sgprs_limit) {
    occupancy.waves_per_eu = std::min(occupancy.waves_per_eu, waves_by_sgprs(kernel.sgprs));
  }
  occupancy.blocks_per_cu = static_cast<std::uint32_t>(least->blocks);
  occupancy.waves_per_cu = static_cast<std::uint32_t>(least->blocks * waves);
  occupancy.limiter = least->limiter;
  occupancy.used = least->used;
  occupancy.available = least->available;
  return occupancy;
}

std::string why_unknown(const CodeObject& object, const KernelInfo& kernel) {
  if (object.target.empty()) {
    return "the code object does not say its processor in a known way (" + mach_text(object.elf_flags) + ")";
  }
  const std::string processor = object.target.substr(0, object.target.find(':'));
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const Row& candidate) { return candidate.processor == processor; });
  if (row != rows.end()) {
    return kernel.wavefront == 0 ? "its metadata names no wavefront size"
           : row->family->has_wgps && !kernel.wgp_mode
               ? "its workgroup mode (CU or WGP) is not said"
               : "no " + processor + " runs wavefronts of " + std::to_string(kernel.wavefront);
  }
  if (processor.ends_with("-generic")) {
    return "the processors that " + processor + " covers differ, or are not known";
  }
  return "no public source gives the limits of " + processor;
}

std::string to_string(Limiter limiter) {
  switch (limiter) {
  case Limiter::vgprs:
    return "VGPRs";
  case Limiter::sgprs:
    return "SGPRs";
  case Limiter::lds:
    return "LDS";
  case Limiter::barriers:
    return "barriers";
  case Limiter::wave_slots:
    break;
  }
  return "wave slots";
}

} // namespace dcuop::elf
