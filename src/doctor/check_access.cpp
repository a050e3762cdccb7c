// DCU411 to DCU413: can a process here open the devices?
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <map>
#include <system_error>

#include "check_device.hpp"
#include "check_machine.hpp"
#include "device_access.hpp"

#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

using finding::Severity;
using Nodes = std::vector<const probe::DeviceNode*>;

bool exists(const probe::Host& host, std::string_view path) {
  const auto* node = host.node(path);
  return node != nullptr && node->exists;
}

std::string paths_of(const Nodes& nodes) {
  std::vector<std::string> paths;
  paths.reserve(nodes.size());
  for (const auto* node : nodes) {
    paths.push_back(node->path.string());
  }
  return join(paths, ", ");
}

void add_fix(finding::Finding& finding, const Phrase& advice) {
  finding.fix = advice.en;
  finding.chinese.fix = advice.zh;
}

std::string membership_text(const probe::Host& host, const probe::DeviceNode& node) {
  const auto who = host.user.name + " (uid " + std::to_string(host.user.id) + ")";
  if (node.in_group) {
    return who + " is in group " + node.group;
  }
  return who + " is not in group " + node.group +
         (node.listed_in_group ? " in this session, though /etc/group lists it" : "");
}

/// A cgroup that does not allow the device says EPERM, whoever asks; missing rights say EACCES.
std::string reason_of(const probe::Host& host, const probe::DeviceNode& node) {
  if (*node.open_error == EPERM && host.container.there()) {
    return "the container's device list does not allow it";
  }
  return node.in_group ? "" : membership_text(host, node);
}

/// Nodes that refuse, one finding an error and group.
void check_denied(CaseFile& file, Findings& findings) {
  const auto& host = file.facts.host;
  if (!exists(host, "/dev/kfd")) {
    return; // render nodes alone may be another vendor's
  }
  std::map<std::pair<int, std::string>, Nodes> refusals;
  for (const auto& node : host.nodes) {
    if (node.exists && node.open_error.value_or(0) != 0) {
      refusals[{*node.open_error, node.group}].push_back(&node);
    }
  }
  for (const auto& [why, nodes] : refusals) {
    const auto& node = *nodes.front();
    auto finding = file.finding(
        "DCU411", {{"nodes", paths_of(nodes)}, {"error", std::generic_category().message(why.first)}});
    finding.severity = launch_matters(file) ? Severity::error : Severity::warning;
    std::array<char, 8> mode{};
    std::snprintf(mode.data(), mode.size(), "%04o", node.mode);
    finding.evidence.push_back(
        {"file", node.path.string() + " " + node.owner + ":" + node.group + " " + mode.data()});
    if (const auto reason = reason_of(host, node); !reason.empty()) {
      finding.evidence.push_back({"so", reason});
    }
    if (host.container.there()) {
      finding.evidence.push_back(
          {"also", "a " + host.container.kind + " container (" + host.container.evidence + ")"});
    }
    add_fix(finding, how_to_get_access(host, nodes));
    findings.push_back(std::move(finding));
  }
}

/// What says that there should be devices; empty: nothing does.
std::string trace_of_devices(const CaseFile& file) {
  const auto& devices = file.facts.devices;
  const auto& host = file.facts.host;
  if (devices.in_topology > 0) {
    return "/sys/class/kfd lists " + counted(devices.in_topology, "device");
  }
  if (!host.drivers.empty() && !host.accelerators.empty()) {
    return "driver " + host.drivers.front().name + " (" + host.drivers.front().evidence + "), PCI device " +
           host.accelerators.front();
  }
  return {};
}

void check_missing_nodes(CaseFile& file, Findings& findings) {
  const auto& host = file.facts.host;
  if (!file.facts.saved_root.empty()) {
    return; // who copies a machine's files copies no device nodes
  }
  const auto add = [&](const std::string& nodes, const std::string& trace, Severity severity) {
    auto finding = file.finding("DCU412", {{"nodes", nodes}, {"trace", trace}});
    finding.severity = severity;
    if (host.container.there()) {
      finding.evidence.push_back({"so", "not passed into this " + host.container.kind + " container (" +
                                            host.container.evidence + ")"});
    }
    add_fix(finding, how_to_get_access(host, {}));
    findings.push_back(std::move(finding));
  };
  const auto trace = trace_of_devices(file);
  if (!exists(host, "/dev/kfd")) {
    if (!trace.empty()) {
      add("/dev/kfd", trace, Severity::warning);
    }
    return;
  }
  if (!host.has_render_node()) {
    add("/dev/dri/renderD*", trace.empty() ? "/dev/kfd is there" : trace, Severity::warning);
  }
  if (host.has_hygon_driver() && host.container.there() && !exists(host, "/dev/mkfd")) {
    add("/dev/mkfd", "Hygon's container toolkit passes it (not verified that every DTK needs it)",
        Severity::note);
  }
}

void check_driver(CaseFile& file, Findings& findings) {
  const auto& host = file.facts.host;
  if (!host.drivers.empty() || !host.drivers_known || exists(host, "/dev/kfd")) {
    return;
  }
  const bool container = host.container.there();
  auto finding = file.finding("DCU413", {{"place", container ? "the host's kernel" : "the kernel"},
                                         {"place:zh", container ? "宿主机的内核" : "内核"}});
  // Without a device there is nothing to load it for: a build host.
  finding.severity = container || host.accelerators.empty() ? Severity::note : Severity::warning;
  for (const auto& device : host.accelerators) {
    finding.evidence.push_back({"devices", device});
  }
  if (container) {
    finding.evidence.push_back({"so", "the driver is the host's to load: nothing in a container can"});
    finding.fix = "on the host: lsmod | grep -E 'hy.*cu|amdgpu'";
    finding.chinese.fix = "在宿主机上：lsmod | grep -E 'hy.*cu|amdgpu'";
  } else if (!host.accelerators.empty()) {
    finding.fix =
        "sudo modprobe amdgpu   (Hygon: install its driver package); sudo dmesg | grep -iE 'amdgpu|hy.*cu'";
    finding.chinese.fix =
        "sudo modprobe amdgpu   （海光：安装其驱动包）; sudo dmesg | grep -iE 'amdgpu|hy.*cu'";
  }
  findings.push_back(std::move(finding));
}

} // namespace

bool launch_matters(const CaseFile& file) {
  return file.question.archs.empty() && (file.question.file.empty() || has_hip_code(file));
}

std::vector<Check> access_checks() {
  return {{{"DCU411"}, check_denied}, {{"DCU412"}, check_missing_nodes}, {{"DCU413"}, check_driver}};
}

} // namespace dcuop::doctor
