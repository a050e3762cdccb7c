#pragma once
// How many waves and workgroups of a kernel a compute unit holds at once, by registers, LDS and wave slots.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dcuop/elf/bundle.hpp"

namespace dcuop::elf {

/// What one compute unit has, for a kernel's wavefront size and workgroup mode.
struct UnitLimits {
  bool is_wgp = false;            ///< the unit is a WGP: two CUs
  std::uint32_t units = 0;        ///< EUs (SIMDs) in it
  std::uint32_t waves = 0;        ///< wave slots of an EU
  std::uint32_t vgprs = 0;        ///< of an EU, a lane
  std::uint32_t vgpr_granule = 0; ///< they are given out in such blocks
  bool sgprs_limit = false;       ///< before gfx10
  std::uint64_t lds = 0, lds_granule = 0;
  std::uint64_t lds_of_workgroup = 0; ///< the most that one can have
  std::uint32_t barriers = 0;         ///< workgroups of more than one wave
};

/// nullopt where no public source gives the numbers: the DCU processors gfx926 to gfx946, unknown processors,
/// and generic ones that cover processors of different sizes.
[[nodiscard]] std::optional<UnitLimits> limits_of(std::string_view target, const KernelInfo& kernel);

enum class Limiter { wave_slots, vgprs, sgprs, lds, barriers };

struct Occupancy {
  UnitLimits limits;
  std::uint32_t threads = 0;       ///< of a workgroup
  std::uint32_t waves_per_eu = 0;  ///< that the registers allow
  std::uint32_t blocks_per_cu = 0; ///< workgroups; of a WGP when limits.is_wgp
  std::uint32_t waves_per_cu = 0;  ///< of those workgroups
  Limiter limiter = Limiter::wave_slots;
  std::uint64_t used = 0, available = 0; ///< of what limits: VGPRs 84 of 512
};

/// The size of a workgroup for which it is asked when nobody says one: the required one, else the largest.
[[nodiscard]] std::uint32_t default_threads(const KernelInfo& kernel);

/// `threads` > 0; `dynamic_lds`: what the launch adds to the kernel's own. nullopt as limits_of.
[[nodiscard]] std::optional<Occupancy> occupancy_of(std::string_view target, const KernelInfo& kernel,
                                                    std::uint32_t threads, std::uint64_t dynamic_lds);

/// Why occupancy_of has no answer, as the end of a sentence: "no public source gives the limits of gfx936".
[[nodiscard]] std::string why_unknown(const CodeObject& object, const KernelInfo& kernel);

[[nodiscard]] std::string to_string(Limiter limiter); ///< "VGPRs", "LDS", "wave slots"

} // namespace dcuop::elf
