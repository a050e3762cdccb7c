#include "dcuop/probe/devices.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <system_error>

#include "dcuop/elf/bundle.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"
#include "kfd.hpp"
#include "visibility.hpp"

namespace dcuop::probe {

namespace {

using NumberedDevices = std::vector<NumberedDevice>;

constexpr std::chrono::seconds rocminfo_limit{20};

void apply_override(const Machine& machine, NumberedDevices& devices, Devices& into);
std::optional<NumberedDevices> ask_rocminfo_for_devices(const Machine& machine, Devices& into);
NumberedDevices merged(NumberedDevices kfd, NumberedDevices rocminfo,
                       std::vector<std::string>& disagreements);
std::string summary_of(const NumberedDevices& devices);

} // namespace

Devices find_devices(const Machine& machine, bool ask_rocminfo) {
  Devices result;
  KfdReading kfd = read_kfd(machine.root);
  NumberedDevices devices = std::move(kfd.devices);
  for (const std::string& problem : kfd.problems) {
    result.sources.push_back("KFD: " + problem);
  }
  if (!devices.empty() || kfd.problems.empty()) {
    result.sources.push_back("KFD: " + summary_of(devices));
  }
  hide_from_rocr(machine.environment, devices, result.sources);
  apply_override(machine, devices, result);
  if (ask_rocminfo) {
    std::optional<NumberedDevices> told = ask_rocminfo_for_devices(machine, result);
    if (told && kfd.has_topology) {
      devices = merged(std::move(devices), std::move(*told), result.disagreements);
    } else if (told) {
      devices = std::move(*told); // WSL has no KFD: rocminfo is the only source there
    }
  }
  hide_from_hip(machine.environment, devices, result.sources);
  result.devices.reserve(devices.size());
  for (NumberedDevice& found : devices) {
    result.devices.push_back(std::move(found.device));
  }
  return result;
}

namespace {

/// "2 x gfx906, 1 x gfx908".
std::string summary_of(const NumberedDevices& devices) {
  std::map<std::string, std::size_t> counts;
  for (const NumberedDevice& found : devices) {
    ++counts[found.device.target_id];
  }
  std::vector<std::string> parts;
  parts.reserve(counts.size());
  for (const auto& [target, count] : counts) {
    parts.push_back(std::to_string(count) + " x " + target);
  }
  return parts.empty() ? "no device" : join(parts, ", ");
}

std::string processor_in(const std::string& target_id) {
  return target_id.substr(0, target_id.find(':'));
}

/// HSA_OVERRIDE_GFX_VERSION=10.3.0: the runtime takes every device for a gfx1030, and looks for its code.
void apply_override(const Machine& machine, NumberedDevices& devices, Devices& into) {
  const auto value = machine.environment.get_nonempty("HSA_OVERRIDE_GFX_VERSION");
  if (!value || devices.empty()) {
    return;
  }
  std::array<unsigned, 3> version{};
  int used = 0;
  const int fields = std::sscanf(value->c_str(), "%u.%u.%u%n", &version[0], &version[1], &version[2], &used);
  if (fields != 3 || static_cast<std::size_t>(used) != value->size() || version[1] > 15 || version[2] > 15) {
    into.sources.push_back("HSA_OVERRIDE_GFX_VERSION=" + *value + " is no version (10.3.0 is one)");
    return;
  }
  const std::string processor = processor_of(version[0] * 10000U + version[1] * 100U + version[2]);
  into.sources.push_back("HSA_OVERRIDE_GFX_VERSION=" + *value + " makes " + summary_of(devices) +
                         " pass for " + processor);
  for (NumberedDevice& found : devices) {
    found.device.target_id = processor;
  }
}

std::optional<std::string> find_rocminfo(const Machine& machine) {
  if (auto found = machine.environment.find_program("rocminfo")) {
    return found;
  }
  std::vector<fs::path> candidates;
  if (const auto rocm = machine.environment.get_nonempty("ROCM_PATH")) {
    candidates.push_back(absolute_from(*rocm, machine.working_directory) / "bin/rocminfo");
  }
  candidates.push_back(machine.root / "opt/dtk/bin/rocminfo");
  candidates.push_back(machine.root / "opt/rocm/bin/rocminfo");
  for (const fs::path& candidate : candidates) {
    if (auto found = machine.environment.find_program(candidate.string())) {
      return found;
    }
  }
  return std::nullopt;
}

bool is_device(const RocminfoAgent& agent) {
  return agent.name.starts_with("gfx") && elf::TargetId::parse(agent.name).has_value();
}

/// The first ISA is the agent's own; those behind it are generic ones that it also runs.
Device device_of(const RocminfoAgent& agent) {
  constexpr std::string_view isa_prefix = "amdgcn-amd-amdhsa--";
  Device device;
  device.target_id = agent.name;
  device.name = agent.marketing_name;
  device.source = "rocminfo";
  device.compute_units = agent.compute_units;
  for (const std::string& isa : agent.isas) {
    device.isas.push_back(isa.starts_with(isa_prefix) ? isa.substr(isa_prefix.size()) : isa);
  }
  if (!device.isas.empty()) {
    const auto target = elf::TargetId::parse(device.isas.front());
    if (target && target->processor == agent.name) {
      device.target_id = target->text();
    }
  }
  return device;
}

std::string failure_of(const ProcessResult& result, const Rocminfo& told) {
  if (result.timed_out) {
    return "did not end within " + std::to_string(rocminfo_limit.count()) + " s";
  }
  if (!told.problem.empty()) {
    return told.problem;
  }
  if (!result.ok()) {
    const std::vector<std::string> lines = split(result.diagnostics, '\n');
    return "exit code " + std::to_string(result.exit_code) + (lines.empty() ? "" : ": " + lines.front());
  }
  return "lists no device";
}

std::optional<NumberedDevices> ask_rocminfo_for_devices(const Machine& machine, Devices& into) {
  const auto program = find_rocminfo(machine);
  if (!program) {
    into.sources.emplace_back("rocminfo: not found on PATH, in $ROCM_PATH, /opt/dtk or /opt/rocm");
    return std::nullopt;
  }
  Command command;
  command.argv = {*program};
  command.working_directory = machine.working_directory;
  command.environment = machine.environment;
  command.limit = rocminfo_limit;
  const ProcessResult result = machine.processes.run(command);
  const Rocminfo told = parse_rocminfo(result.output + "\n" + result.diagnostics);

  NumberedDevices devices;
  for (const RocminfoAgent& agent : told.agents) {
    if (is_device(agent)) {
      devices.push_back(
          {device_of(agent), agent.node == 0 ? std::nullopt : std::optional(agent.node), agent.uuid});
    }
  }
  into.sources.push_back("rocminfo (" + *program +
                         "): " + (devices.empty() ? failure_of(result, told) : summary_of(devices)));
  return devices;
}

/// By node number where rocminfo says it, else by position.
NumberedDevice* partner_of(const NumberedDevice& device, std::size_t position, NumberedDevices& among) {
  const auto same_node = std::find_if(among.begin(), among.end(), [&](const NumberedDevice& candidate) {
    return candidate.node && candidate.node == device.node;
  });
  if (same_node != among.end()) {
    return &*same_node;
  }
  return position < among.size() && !among[position].node ? &among[position] : nullptr;
}

NumberedDevices merged(NumberedDevices kfd, NumberedDevices rocminfo,
                       std::vector<std::string>& disagreements) {
  if (kfd.size() != rocminfo.size()) {
    disagreements.push_back("KFD says " + summary_of(kfd) + "; rocminfo says " + summary_of(rocminfo));
  }
  if (kfd.empty()) {
    return rocminfo;
  }
  for (std::size_t i = 0; i < kfd.size(); ++i) {
    Device& device = kfd[i].device;
    NumberedDevice* partner = partner_of(kfd[i], i, rocminfo);
    if (partner == nullptr) {
      continue;
    }
    Device& told = partner->device;
    if (processor_in(told.target_id) != device.target_id) {
      disagreements.push_back("node " + std::to_string(kfd[i].node.value_or(0)) + ": KFD says " +
                              device.target_id + ", rocminfo says " + told.target_id);
    } else {
      device.target_id = told.target_id;
    }
    device.source = "KFD, rocminfo";
    device.name = told.name;
    device.isas = told.isas;
    if (device.compute_units == 0) {
      device.compute_units = told.compute_units;
    }
  }
  return kfd;
}

} // namespace

} // namespace dcuop::probe
