#include "dcuop/probe/devices.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <map>
#include <system_error>
#include <utility>

#include "dcuop/elf/bundle.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"
#include "kfd.hpp"
#include "visibility.hpp"

namespace dcuop::probe {

namespace {

using NumberedDevices = std::vector<NumberedDevice>;

constexpr std::chrono::seconds rocminfo_limit{20};

/// What rocminfo said, and how to call that in `sources`.
struct Told {
  Rocminfo rocminfo;
  std::string origin;
  std::string failure; ///< why it may have said nothing
};

/// nullopt: there is no rocminfo, which `into.sources` then says.
using AskRocminfo = std::function<std::optional<Told>(Devices& into)>;

Devices find_devices_with(const Machine& machine, const AskRocminfo& ask);
std::optional<Told> run_rocminfo(const Machine& machine, Devices& into);
void apply_overrides(const Environment& environment, NumberedDevices& devices, Devices& into);
NumberedDevices devices_of(const Told& told, Devices& into);
NumberedDevices merged(NumberedDevices kfd, NumberedDevices rocminfo,
                       std::vector<std::string>& disagreements);
std::string summary_of(const NumberedDevices& devices);

} // namespace

Devices find_devices(const Machine& machine, bool ask_rocminfo) {
  return find_devices_with(machine, ask_rocminfo
                                        ? [&machine](Devices& into) { return run_rocminfo(machine, into); }
                                        : AskRocminfo());
}

Devices find_devices(const Machine& machine, const SavedRocminfo& saved) {
  return find_devices_with(machine, [&saved](Devices&) {
    return std::optional(Told{saved.told, "rocminfo (" + saved.origin + ")", {}});
  });
}

namespace {

Devices find_devices_with(const Machine& machine, const AskRocminfo& ask) {
  Devices result;
  KfdReading kfd = read_kfd(machine.root, machine.is_saved);
  result.in_topology = kfd.listed;
  NumberedDevices devices = std::move(kfd.devices);
  for (const std::string& problem : kfd.problems) {
    result.sources.push_back("KFD: " + problem);
  }
  if (!devices.empty() || kfd.problems.empty()) {
    result.sources.push_back("KFD: " + summary_of(devices));
  }
  hide_from_rocr(machine.environment, devices, result);
  apply_overrides(machine.environment, devices, result);
  if (std::optional<Told> told = ask ? ask(result) : std::nullopt) {
    NumberedDevices listed = devices_of(*told, result);
    result.rocminfo = std::move(told->rocminfo);
    // WSL has no KFD, and a saved output may be all there is: then rocminfo is the only source.
    devices = kfd.has_topology ? merged(std::move(devices), std::move(listed), result.disagreements)
                               : std::move(listed);
  }
  hide_from_hip(machine.environment, devices, result);
  result.devices.reserve(devices.size());
  for (NumberedDevice& found : devices) {
    result.devices.push_back(std::move(found.device));
  }
  return result;
}

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

/// As libhsakmt reads it (topology.c, topology_sysfs_get_node_props): three numbers and nothing behind them.
/// Only hexadecimal digits make a processor's name; of other numbers the runtime has no ISA.
std::string processor_of_override(const std::string& value) {
  std::array<unsigned, 3> version{};
  char more = 0;
  const int fields = std::sscanf(value.c_str(), "%u.%u.%u%c", &version[0], &version[1], &version[2], &more);
  if (fields != 3 || version[0] == 0 || version[0] > 63 || version[1] > 15 || version[2] > 15) {
    return {};
  }
  return processor_of(version[0] * 10000U + version[1] * 100U + version[2]);
}

constexpr std::string_view override_variable = "HSA_OVERRIDE_GFX_VERSION";

/// The variable itself, or with "_" and a node's number behind it.
bool is_override(std::string_view name) {
  if (!name.starts_with(override_variable)) {
    return false;
  }
  const std::string_view rest = name.substr(override_variable.size());
  return rest.empty() || (rest.size() > 1 && rest.front() == '_' &&
                          rest.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

/// 10.3.0: the runtime takes every device for a gfx1030, and looks for its code. The variable with a node's
/// number, which newer releases of libhsakmt know, goes before the general one. A value that is no version fails
/// the reading of the whole topology: the runtime does not start.
void apply_overrides(const Environment& environment, NumberedDevices& devices, Devices& into) {
  for (const auto& [variable, value] : environment.starting_with(override_variable)) {
    if (is_override(variable)) {
      into.overrides.push_back({variable, value, processor_of_override(value)});
    }
  }
  const auto override_of = [&](const NumberedDevice& device) -> const GfxOverride* {
    const std::string own = std::string(override_variable) + "_" + std::to_string(device.node.value_or(0));
    const GfxOverride* chosen = nullptr;
    for (const GfxOverride& candidate : into.overrides) {
      if (candidate.variable == own || (candidate.variable == override_variable && chosen == nullptr)) {
        chosen = &candidate;
      }
    }
    return chosen;
  };
  for (NumberedDevice& found : devices) {
    const GfxOverride* chosen = override_of(found);
    if (chosen == nullptr) {
      continue;
    }
    const std::string what = chosen->variable + "=" + chosen->value;
    if (chosen->processor.empty()) {
      into.sources.push_back(what + " is no version (10.3.0 is one): the runtime does not start with it");
      devices.clear();
      return;
    }
    if (chosen->processor != found.device.target_id) {
      found.device.chip = std::exchange(found.device.target_id, chosen->processor);
      std::string note = what + " makes " + found.device.chip + " pass for " + chosen->processor;
      if (std::find(into.sources.begin(), into.sources.end(), note) == into.sources.end()) {
        into.sources.push_back(std::move(note));
      }
    }
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
  candidates.push_back(inside(machine.root, "/opt/dtk/bin/rocminfo"));
  candidates.push_back(inside(machine.root, "/opt/rocm/bin/rocminfo"));
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
  device.wavefront = agent.wavefront;
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

std::string failure_of(const ProcessResult& result) {
  if (result.timed_out) {
    return "did not end within " + std::to_string(rocminfo_limit.count()) + " s";
  }
  if (!result.ok()) {
    const std::vector<std::string> lines = split(result.diagnostics, '\n');
    return "exit code " + std::to_string(result.exit_code) + (lines.empty() ? "" : ": " + lines.front());
  }
  return {};
}

std::optional<Told> run_rocminfo(const Machine& machine, Devices& into) {
  if (machine.is_saved) {
    into.sources.push_back("rocminfo: not run, as nothing below " + machine.root.string() +
                           " is (--rocminfo FILE reads a saved output)");
    return std::nullopt;
  }
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
  return Told{parse_rocminfo(result.output + "\n" + result.diagnostics), "rocminfo (" + *program + ")",
              failure_of(result)};
}

NumberedDevices devices_of(const Told& told, Devices& into) {
  NumberedDevices devices;
  for (const RocminfoAgent& agent : told.rocminfo.agents) {
    if (is_device(agent)) {
      devices.push_back(
          {device_of(agent), agent.node == 0 ? std::nullopt : std::optional(agent.node), agent.uuid});
    }
  }
  std::string said = told.failure.starts_with("did not end") ? told.failure : told.rocminfo.problem;
  said = said.empty() ? told.failure : said;
  into.sources.push_back(told.origin + ": " +
                         (!devices.empty() ? summary_of(devices)
                          : said.empty()   ? std::string("lists no device")
                                           : said));
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
    if (device.wavefront == 0) {
      device.wavefront = told.wavefront;
    }
  }
  return kfd;
}

} // namespace

} // namespace dcuop::probe
