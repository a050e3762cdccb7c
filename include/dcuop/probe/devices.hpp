#pragma once
// Devices that a process here could launch on.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dcuop/probe/machine.hpp"

namespace dcuop::probe {

struct Device {
  std::string target_id;           ///< "gfx936:sramecc+:xnack-"; features only when the source says them
  std::string name;                ///< marketing name, "" when unknown
  std::string source;              ///< "KFD", "rocminfo", "KFD, rocminfo" (both tell of it)
  std::uint32_t compute_units = 0; ///< 0: unknown
  std::vector<std::string> isas;   ///< all that rocminfo lists, generic ones too
};

struct Devices {
  std::vector<Device> devices;            ///< KFD and rocminfo merged in node order
  std::vector<std::string> sources;       ///< what was asked: "KFD: /sys/class/kfd/kfd/topology is missing"
  std::vector<std::string> disagreements; ///< KFD says 2 x gfx906, rocminfo says 1: a finding for the doctor
};

/// KFD sysfs, then rocminfo (in a child with a limit of 20 s) when `ask_rocminfo`.
/// Devices that ROCR_, HIP_ or CUDA_VISIBLE_DEVICES hide are left out, and HSA_OVERRIDE_GFX_VERSION renames them,
/// as the runtime does it; `sources` says so. Without /dev/kfd there are none.
[[nodiscard]] Devices find_devices(const Machine& machine, bool ask_rocminfo);

/// /sys/class/kfd/kfd/topology/nodes/*/properties below machine.root; gfx_target_version 90006 -> "gfx906"
/// (major*10000 + minor*100 + stepping; minor and stepping in hex digits, Linux kfd_topology.c).
[[nodiscard]] std::vector<Device> devices_from_kfd(const std::filesystem::path& root);

struct RocminfoAgent {
  std::string name, marketing_name, vendor, device_type, uuid;
  std::uint32_t compute_units = 0, wavefront = 0, node = 0;
  std::vector<std::string> isas; ///< as printed: "amdgcn-amd-amdhsa--gfx936:sramecc+:xnack-"
};
/// rocminfo's text in all its shapes; agents in order, CPUs included. A text with an error message and no
/// agent gives none, and `problem` says what rocminfo said.
struct Rocminfo {
  std::vector<RocminfoAgent> agents;
  std::string runtime_version;
  std::string problem;
};
[[nodiscard]] Rocminfo parse_rocminfo(std::string_view text);

/// Where the arch selection came from, and what it is.
struct ArchSelection {
  std::vector<std::string> archs; ///< canonical target ids, sorted, unique
  std::string origin; ///< "--arch", "DCUOP_ARCH", "PYTORCH_ROCM_ARCH", "user config", "visible devices (KFD)"
};
/// --arch > DCUOP_ARCH > PYTORCH_ROCM_ARCH (';' or ',' or ' ' separated) > `configured` > visible devices.
/// "native" anywhere means the visible devices (by KFD; rocminfo is asked on WSL alone), processors without
/// features. Throws Error(usage) for a malformed target id, and
/// Error(environment), listing what was looked at, when nothing says one.
[[nodiscard]] ArchSelection select_archs(const Machine& machine, const std::vector<std::string>& asked,
                                         const std::vector<std::string>& configured);

} // namespace dcuop::probe
