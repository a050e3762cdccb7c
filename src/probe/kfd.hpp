#pragma once
// The kernel's own list of devices. Private to the probe layer.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "dcuop/probe/devices.hpp"

namespace dcuop::probe {

/// A device and what it is numbered and named by: the KFD node, the UUID that ROCR_VISIBLE_DEVICES takes.
struct NumberedDevice {
  Device device;
  std::optional<std::uint32_t> node;
  std::string uuid; ///< "GPU-00000000000000a1"; "" or "GPU-XX" when the device has none
};

struct KfdReading {
  std::vector<NumberedDevice> devices; ///< in node order
  std::vector<std::string> problems;   ///< "/dev/kfd is missing", "node 2: properties cannot be read"
  bool has_topology = false;
  std::size_t listed = 0; ///< devices in the topology, whether they can be reached or not
};

/// Reads the topology below `root`. Without /dev/kfd nothing can be launched, so there are no devices then. Of a
/// saved machine that is not asked: who copies /sys copies no device files.
[[nodiscard]] KfdReading read_kfd(const std::filesystem::path& root, bool is_saved = false);

/// "90010" -> "gfx90a": major * 10000 + minor * 100 + stepping, the last two written in hex digits.
[[nodiscard]] std::string processor_of(std::uint32_t gfx_target_version);

} // namespace dcuop::probe
