// Rules: RvdFilter of ROCR-Runtime (core/runtime/amd_filter_device.cpp) and Device::init of ROCm CLR
// (rocclr/device/rocm/rocdevice.cpp). A list holds indices and "GPU-<uuid>"; the first entry that names no
// device ends it (for ROCr also one given twice), so "-1" hides everything. An empty ROCR_VISIBLE_DEVICES
// hides everything, an empty HIP_VISIBLE_DEVICES nothing.

#include "visibility.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "dcuop/support/text.hpp"

namespace dcuop::probe {

namespace {

constexpr std::string_view rocr_variable = "ROCR_VISIBLE_DEVICES";

std::optional<std::size_t> index_named(std::string_view entry, const std::vector<NumberedDevice>& devices) {
  if (entry.starts_with("GPU-")) {
    const auto found = std::find_if(devices.begin(), devices.end(),
                                    [&](const NumberedDevice& device) { return device.uuid == entry; });
    return found == devices.end() ? std::nullopt
                                  : std::optional(static_cast<std::size_t>(found - devices.begin()));
  }
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), index);
  if (error != std::errc{} || end != entry.data() + entry.size() || index >= devices.size()) {
    return std::nullopt;
  }
  return index;
}

void keep_listed(std::string_view variable, const std::string& value, std::vector<NumberedDevice>& devices,
                 std::vector<std::string>& notes) {
  if (devices.empty()) {
    return;
  }
  std::vector<std::size_t> kept;
  for (const std::string& entry : split(value, ',')) {
    const std::optional<std::size_t> index = index_named(trimmed(entry), devices);
    const bool again = index && std::find(kept.begin(), kept.end(), *index) != kept.end();
    if (!index || (again && variable == rocr_variable)) {
      break;
    }
    if (!again) {
      kept.push_back(*index);
    }
  }
  const std::size_t before = devices.size();
  std::vector<NumberedDevice> visible;
  visible.reserve(kept.size());
  for (const std::size_t index : kept) {
    visible.push_back(std::move(devices[index]));
  }
  devices = std::move(visible);
  if (devices.size() < before) {
    const std::string what =
        devices.empty() ? "hides all of the " + counted(before, "device")
                        : "leaves " + std::to_string(devices.size()) + " of " + counted(before, "device");
    notes.push_back(std::string(variable) + "=" + value + " " + what);
  }
}

} // namespace

void hide_from_rocr(const Environment& environment, std::vector<NumberedDevice>& devices,
                    std::vector<std::string>& notes) {
  if (const auto value = environment.get(rocr_variable)) {
    keep_listed(rocr_variable, *value, devices, notes);
  }
}

void hide_from_hip(const Environment& environment, std::vector<NumberedDevice>& devices,
                   std::vector<std::string>& notes) {
  for (const std::string_view variable : {"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"}) {
    if (const auto value = environment.get_nonempty(variable)) {
      keep_listed(variable, *value, devices, notes);
      return;
    }
  }
}

} // namespace dcuop::probe
