// KFD sysfs: drivers/gpu/drm/amd/amdkfd/kfd_topology.c of Linux, node_show().

#include "kfd.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <map>
#include <system_error>

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::probe {

namespace {

using Properties = std::map<std::string, std::uint64_t, std::less<>>;

std::vector<std::uint32_t> node_numbers(const fs::path& nodes);
Properties parse_properties(std::string_view text);
void read_node(const fs::path& file, std::uint32_t number, KfdReading& into);
void look_at_device_file(const fs::path& root, KfdReading& into);

} // namespace

KfdReading read_kfd(const fs::path& root, bool is_saved) {
  KfdReading reading;
  if (!is_saved) {
    look_at_device_file(root, reading);
  }
  const bool device_file_missing = !reading.problems.empty() && reading.problems[0].ends_with("is missing");

  const fs::path topology = inside(root, "/sys/class/kfd/kfd/topology");
  std::error_code ignored;
  reading.has_topology = fs::is_directory(topology, ignored);
  if (!reading.has_topology) {
    reading.problems.emplace_back("/sys/class/kfd/kfd/topology is missing");
    return reading;
  }
  const fs::path nodes = inside(root, topology / "nodes");
  for (const std::uint32_t number : node_numbers(nodes)) {
    read_node(inside(root, nodes / std::to_string(number) / "properties"), number, reading);
  }
  reading.listed = reading.devices.size();
  if (device_file_missing && !reading.devices.empty()) {
    reading.problems.emplace_back("the topology names " + counted(reading.devices.size(), "device") +
                                  ", out of reach without /dev/kfd (not passed into this container?)");
    reading.devices.clear();
  }
  return reading;
}

std::vector<Device> devices_from_kfd(const fs::path& root) {
  std::vector<Device> devices;
  for (NumberedDevice& found : read_kfd(root).devices) {
    devices.push_back(std::move(found.device));
  }
  return devices;
}

std::string processor_of(std::uint32_t gfx_target_version) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "gfx%u%x%x", gfx_target_version / 10000U,
                gfx_target_version / 100U % 100U, gfx_target_version % 100U);
  return text.data();
}

namespace {

/// Not in the group of /dev/kfd: the device is there and can be built for, but not launched on.
void look_at_device_file(const fs::path& root, KfdReading& into) {
  const fs::path kfd = inside(root, "/dev/kfd");
  if (::access(kfd.c_str(), R_OK | W_OK) == 0) {
    return;
  }
  if (errno == ENOENT || errno == ENOTDIR) {
    into.problems.emplace_back("/dev/kfd is missing");
  } else {
    into.problems.emplace_back("/dev/kfd cannot be opened: " + std::generic_category().message(errno));
  }
}

std::vector<std::uint32_t> node_numbers(const fs::path& nodes) {
  std::vector<std::uint32_t> numbers;
  for (const std::string& name : list_directory(nodes)) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc{} && end == name.data() + name.size()) {
      numbers.push_back(number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string uuid_of(std::uint64_t unique_id) {
  if (unique_id == 0) {
    return {};
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "GPU-%016llx", static_cast<unsigned long long>(unique_id));
  return text.data();
}

void read_node(const fs::path& file, std::uint32_t number, KfdReading& into) {
  const std::string label = "node " + std::to_string(number);
  const std::optional<std::string> text = read_file(file);
  if (!text) {
    // The kernel answers EPERM for a device that the process' cgroup does not allow.
    into.problems.push_back(label + ": properties cannot be read (not allowed in this container?)");
    return;
  }
  const Properties properties = parse_properties(*text);
  const auto value = [&](std::string_view key) -> std::uint64_t {
    const auto found = properties.find(key);
    return found == properties.end() ? 0 : found->second;
  };
  const auto version = static_cast<std::uint32_t>(value("gfx_target_version"));
  const std::uint64_t simds = value("simd_count");
  if (version == 0) {
    if (simds != 0) {
      into.problems.push_back(label + ": has " + counted(simds, "SIMD") +
                              " but no gfx_target_version (kernel driver too old to tell)");
    }
    return;
  }
  NumberedDevice found;
  found.device.target_id = processor_of(version);
  found.device.source = "KFD";
  if (const std::uint64_t per_unit = value("simd_per_cu"); per_unit != 0) {
    found.device.compute_units = static_cast<std::uint32_t>(simds / per_unit);
  }
  found.device.wavefront = static_cast<std::uint32_t>(value("wave_front_size"));
  found.node = number;
  found.uuid = uuid_of(value("unique_id"));
  into.devices.push_back(std::move(found));
}

Properties parse_properties(std::string_view text) {
  Properties properties;
  for (const std::string& line : split(text, '\n')) {
    const std::size_t space = line.find(' ');
    if (space == std::string::npos) {
      continue;
    }
    const std::string_view value = trimmed(std::string_view(line).substr(space + 1));
    std::uint64_t number = 0;
    if (std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc{}) {
      properties[line.substr(0, space)] = number;
    }
  }
  return properties;
}

} // namespace

} // namespace dcuop::probe
