#include "dcuop/probe/host.hpp"

#include <algorithm>
#include <array>

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"
#include "host_reading.hpp"

namespace dcuop::probe {

namespace {

/// Hygon's driver was named hycu, hydcu and hyhcu (HYGON-AI/hcu-container-toolkit looks for hy*cu).
bool is_driver(std::string_view name) {
  return name == "amdgpu" || (name.starts_with("hy") && name.ends_with("cu"));
}

/// Built in or loaded, a driver has a directory in /sys/module; containers may hide either place.
void find_drivers(const Machine& machine, Host& host) {
  const auto add = [&host](const std::string& name, std::string evidence) {
    const bool known = std::any_of(host.drivers.begin(), host.drivers.end(),
                                   [&name](const KernelDriver& driver) { return driver.name == name; });
    if (is_driver(name) && !known) {
      host.drivers.push_back({name, std::move(evidence)});
    }
  };
  const auto loaded = read_file(inside(machine.root, "/proc/modules"));
  for (const std::string& line : split(loaded.value_or(""), '\n')) {
    add(line.substr(0, line.find(' ')), "/proc/modules");
  }
  const std::vector<std::string> modules = list_directory(inside(machine.root, "/sys/module"));
  for (const std::string& name : modules) {
    add(name, "/sys/module/" + name);
  }
  host.drivers_known = loaded.has_value() || !modules.empty();
}

/// "0x1002\n" -> "1002".
std::string hexadecimal_in(const fs::path& file) {
  const std::string text(trimmed(read_file_prefix(file, 64).value_or("")));
  return text.starts_with("0x") ? text.substr(2) : std::string();
}

/// Vendors: https://pci-ids.ucw.cz (1002 AMD/ATI, 1d94 Chengdu Haiguang, which is Hygon). Both make much else:
/// only display controllers, co-processors and processing accelerators count.
bool is_accelerator(const std::string& vendor, const std::string& device_class) {
  constexpr std::array<std::string_view, 5> classes = {"0300", "0302", "0380", "0b40", "1200"};
  return (vendor == "1002" || vendor == "1d94") &&
         std::any_of(classes.begin(), classes.end(),
                     [&device_class](std::string_view known) { return device_class.starts_with(known); });
}

std::vector<std::string> find_accelerators(const Machine& machine) {
  const fs::path devices = "/sys/bus/pci/devices";
  std::vector<std::string> found;
  for (const std::string& address : list_directory(inside(machine.root, devices))) {
    const auto field = [&](const char* name) {
      return hexadecimal_in(inside(machine.root, devices / address / name));
    };
    if (const std::string vendor = field("vendor"); is_accelerator(vendor, field("class"))) {
      found.push_back(address + " (" + vendor + ":" + field("device") + ")");
    }
  }
  return found;
}

/// The driver's package puts it into either place; containers get it as a mount.
void find_hyhal(const Machine& machine, Host& host) {
  for (const char* path : {"/opt/hyhal", "/usr/local/hyhal"}) {
    const fs::path place = inside(machine.root, path);
    const auto identity = identity_of(place);
    if (!identity || !identity->is_directory()) {
      continue;
    }
    const bool empty = list_directory(place).empty();
    if (host.hyhal.empty() || (host.hyhal_empty && !empty)) {
      host.hyhal = path;
      host.hyhal_empty = empty;
    }
  }
}

} // namespace

const DeviceNode* Host::node(std::string_view path) const {
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [path](const DeviceNode& node) { return node.path == path; });
  return found == nodes.end() ? nullptr : &*found;
}

bool Host::has_render_node() const {
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const DeviceNode& node) { return node.path.parent_path() == "/dev/dri"; });
}

bool Host::has_hygon_driver() const {
  return std::any_of(drivers.begin(), drivers.end(),
                     [](const KernelDriver& driver) { return driver.name != "amdgpu"; });
}

Host find_host(const Machine& machine) {
  Host host;
  host.container = find_container(machine);
  if (!machine.is_saved) {
    host.user = this_user(machine);
  }
  host.nodes = find_device_nodes(machine, host.user);
  find_drivers(machine, host);
  host.accelerators = find_accelerators(machine);
  find_hyhal(machine, host);
  return host;
}

} // namespace dcuop::probe
