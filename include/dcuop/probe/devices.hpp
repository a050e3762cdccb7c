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
  /// Whether it is rocminfo's output at all, whole or a part.
  [[nodiscard]] bool recognised() const {
    return !agents.empty() || !runtime_version.empty() || !problem.empty();
  }
};
[[nodiscard]] Rocminfo parse_rocminfo(std::string_view text);
/// A saved output of rocminfo, taken instead of running it. Throws Error(usage) when the text is none.
struct SavedRocminfo {
  Rocminfo told;
  std::string origin; ///< the file's name
};
[[nodiscard]] SavedRocminfo read_saved_rocminfo(std::string_view text, const std::string& origin);

struct Device {
  std::string target_id;           ///< "gfx936:sramecc+:xnack-"; features only when the source says them
  std::string name;                ///< marketing name, "" when unknown
  std::string source;              ///< "KFD", "rocminfo", "KFD, rocminfo" (both tell of it)
  std::uint32_t compute_units = 0; ///< 0: unknown
  std::vector<std::string> isas;   ///< all that rocminfo lists, generic ones too
  std::string chip;            ///< what KFD says it is, when HSA_OVERRIDE_GFX_VERSION has it pass for another
  std::uint32_t wavefront = 0; ///< 0: unknown
};

/// What a variable that picks devices does here.
struct Visibility {
  std::string variable, value;
  std::size_t before = 0, after = 0; ///< devices; 0 and 0: there were none to pick from
  std::string unknown_entry;         ///< the first that names no device: it ends the list
};

/// HSA_OVERRIDE_GFX_VERSION (or HSA_OVERRIDE_GFX_VERSION_<node>) as it is set.
struct GfxOverride {
  std::string variable, value;
  std::string processor; ///< "gfx1030"; empty: no version, with which the runtime does not start
};

struct Devices {
  std::vector<Device> devices;            ///< KFD and rocminfo merged in node order
  std::vector<std::string> sources;       ///< what was asked: "KFD: /sys/class/kfd/kfd/topology is missing"
  std::vector<std::string> disagreements; ///< KFD says 2 x gfx906, rocminfo says 1: a finding for the doctor
  std::vector<Visibility> visibility;     ///< of each variable that is set
  std::vector<GfxOverride> overrides;     ///< each variable that is set
  std::optional<Rocminfo> rocminfo;       ///< when it was asked, or read
  std::size_t in_topology = 0;            ///< devices that KFD lists, reachable or not
};

/// KFD sysfs, then rocminfo (in a child with a limit of 20 s) when `ask_rocminfo`; on a saved machine it is not
/// run. Devices that ROCR_, HIP_ or CUDA_VISIBLE_DEVICES hide are left out, and HSA_OVERRIDE_GFX_VERSION renames
/// them, as the runtime does it (one that is no version leaves none, as the runtime then does not start);
/// `sources` says so. Without /dev/kfd there are none.
[[nodiscard]] Devices find_devices(const Machine& machine, bool ask_rocminfo);
/// The same with a saved output in the place of rocminfo.
[[nodiscard]] Devices find_devices(const Machine& machine, const SavedRocminfo& saved);

/// /sys/class/kfd/kfd/topology/nodes/*/properties below machine.root; gfx_target_version 90006 -> "gfx906"
/// (major*10000 + minor*100 + stepping; minor and stepping in hex digits, Linux kfd_topology.c).
[[nodiscard]] std::vector<Device> devices_from_kfd(const std::filesystem::path& root);

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
