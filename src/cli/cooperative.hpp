#pragma once
// Whether all workgroups of a grid can be resident at once, as a cooperative launch demands.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dcuop/probe/devices.hpp"
#include "inspection.hpp"

namespace dcuop::cli {

struct Grid {
  std::uint64_t blocks = 0;
  std::uint32_t threads = 0;
  std::uint32_t cus = 0; ///< of the device, as rocminfo counts them; 0: those of the local devices
};

enum class Fits { yes, no, unknown };
[[nodiscard]] std::string to_string(Fits fits);

struct LaunchVerdict {
  const KernelReport* report = nullptr;
  Fits fits = Fits::unknown;
  std::uint32_t cus = 0;                 ///< 0: unknown
  std::string cus_from;                  ///< "--cus", "gfx906 here (KFD)"
  std::optional<std::uint64_t> capacity; ///< blocks that can be resident
  std::string reason;
};

/// `local`: the devices of this machine, of which the smallest that runs the code counts.
[[nodiscard]] LaunchVerdict judge(const KernelReport& report, const Grid& grid,
                                  const std::vector<probe::Device>& local);

} // namespace dcuop::cli
