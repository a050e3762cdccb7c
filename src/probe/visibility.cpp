// Rules: RvdFilter of ROCR-Runtime (core/runtime/amd_filter_device.cpp) and Device::init of ROCm CLR
// (rocclr/device/rocm/rocdevice.cpp). A list holds indices and "GPU-<uuid>"; the first entry that names no
// device ends it (for ROCr also one given twice), so "-1" hides everything. An empty ROCR_VISIBLE_DEVICES
// hides everything, an empty HIP_VISIBLE_DEVICES nothing.

#include "visibility.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>

#include "dcuop/support/text.hpp"

namespace dcuop::probe {

namespace {

constexpr std::string_view rocr_variable = "ROCR_VISIBLE_DEVICES";

/// ROCr takes a UUID in any case, and its beginning where that is one device's alone.
bool names_uuid(std::string_view entry, const std::string& uuid) {
  const auto same = [](char a, char b) {
    return std::toupper(static_cast<unsigned char>(a)) == std::toupper(static_cast<unsigned char>(b));
  };
  return entry.size() <= uuid.size() && uuid != "GPU-XX" &&
         std::equal(entry.begin(), entry.end(), uuid.begin(), same);
}

std::optional<std::size_t> index_named(std::string_view entry, const std::vector<NumberedDevice>& devices) {
  if (entry.starts_with("GPU-") || entry.starts_with("gpu-")) {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (entry.size() > 4 && names_uuid(entry, devices[i].uuid)) {
        if (found) {
          return std::nullopt;
        }
        found = i;
      }
    }
    return found;
  }
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), index);
  if (error != std::errc{} || end != entry.data() + entry.size() || index >= devices.size()) {
    return std::nullopt;
  }
  return index;
}

struct Kept {
  std::vector<std::size_t> indices;
  std::string unknown_entry;
};

Kept kept_by(std::string_view variable, const std::string& value,
             const std::vector<NumberedDevice>& devices) {
  Kept kept;
  for (const std::string& entry : split(value, ',')) {
    const std::optional<std::size_t> index = index_named(trimmed(entry), devices);
    const bool again =
        index && std::find(kept.indices.begin(), kept.indices.end(), *index) != kept.indices.end();
    if (!index) {
      kept.unknown_entry = trimmed(entry);
      break;
    }
    if (again && variable == rocr_variable) {
      break;
    }
    if (!again) {
      kept.indices.push_back(*index);
    }
  }
  return kept;
}

void keep_listed(std::string_view variable, const std::string& value, std::vector<NumberedDevice>& devices,
                 Devices& into) {
  const std::size_t before = devices.size();
  if (before == 0) {
    into.visibility.push_back({std::string(variable), value, 0, 0, {}});
    return;
  }
  Kept kept = kept_by(variable, value, devices);
  std::vector<NumberedDevice> visible;
  visible.reserve(kept.indices.size());
  for (const std::size_t index : kept.indices) {
    visible.push_back(std::move(devices[index]));
  }
  devices = std::move(visible);
  into.visibility.push_back(
      {std::string(variable), value, before, devices.size(), std::move(kept.unknown_entry)});
  if (devices.size() < before) {
    const std::string what =
        devices.empty() ? "hides all of the " + counted(before, "device")
                        : "leaves " + std::to_string(devices.size()) + " of " + counted(before, "device");
    into.sources.push_back(std::string(variable) + "=" + value + " " + what);
  }
}

} // namespace

void hide_from_rocr(const Environment& environment, std::vector<NumberedDevice>& devices, Devices& into) {
  if (const auto value = environment.get(rocr_variable)) {
    keep_listed(rocr_variable, *value, devices, into);
  }
}

void hide_from_hip(const Environment& environment, std::vector<NumberedDevice>& devices, Devices& into) {
  for (const std::string_view variable : {"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"}) {
    if (const auto value = environment.get_nonempty(variable)) {
      keep_listed(variable, *value, devices, into);
      return;
    }
  }
}

} // namespace dcuop::probe
