// This machine, asked once, and said line by line.
#include <array>
#include <cstdio>
#include <functional>
#include <system_error>

#include "dcuop/doctor/doctor.hpp"

#include "dcuop/support/error.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

/// What `ask` says; its error's text goes to `problem`.
template <typename Ask> auto asked(std::string& problem, const Ask& ask) -> std::optional<decltype(ask())> {
  try {
    return ask();
  } catch (const std::exception& fault) {
    problem = fault.what();
    return std::nullopt;
  }
}

/// Why a program of a saved machine was not asked.
constexpr std::string_view not_started = "nothing is started of ";

using Lines = std::vector<FactLine>;

void add_absent(Lines& lines, std::string_view name, const std::string& problem) {
  lines.push_back({std::string(name), problem.starts_with(not_started) ? "unknown" : "none", problem});
}

void add_python(Lines& lines, const EnvironmentFacts& facts) {
  if (!facts.python) {
    add_absent(lines, "python", facts.python_problem);
    return;
  }
  const auto& python = *facts.python;
  lines.push_back({"python", python.implementation + " " + python.version, python.origin});
  lines.push_back({"python executable", python.executable.string(), python.origin});
  const bool was_asked = python.config_file.empty() && python.not_told.empty();
  if (!python.ext_suffix.empty()) {
    lines.push_back(
        {"python EXT_SUFFIX", python.ext_suffix, was_asked ? "sysconfig" : python.config_file.string()});
  }
  if (!python.include_dir.empty()) {
    lines.push_back({"python include", python.include_dir.string(), was_asked ? "sysconfig" : "its place"});
  }
  for (const auto& [fact, reason] : python.not_told) {
    lines.push_back({"python " + fact, "unknown", reason});
  }
}

void add_torch(Lines& lines, const EnvironmentFacts& facts) {
  if (!facts.torch) {
    add_absent(lines, "torch", facts.torch_problem);
    return;
  }
  const auto& torch = *facts.torch;
  const auto version_file = (torch.package / "version.py").string();
  const auto libc10 = torch.libraries.empty() ? torch.library_dir.string() : torch.libraries.front().string();
  lines.push_back({"torch", torch.summary(), version_file});
  lines.push_back({"torch hip", torch.hip.empty() ? "none" : torch.hip, version_file});
  lines.push_back({"torch cuda", torch.cuda.empty() ? "none" : torch.cuda, version_file});
  if (!torch.dtk.empty()) {
    lines.push_back({"torch dtk", torch.dtk, "tag of its version " + torch.version});
  }
  lines.push_back(
      {"torch C++ standard",
       torch.cxx_standard == 0 ? "unknown" : "C++" + std::to_string(torch.cxx_standard) + " or later",
       "its ATen/ATen.h"});
  lines.push_back({"torch libraries", torch.library_dir.string(), "real path of libtorch_cpu.so"});
  lines.push_back({"torch C++ string ABI",
                   !torch.cxx11_abi   ? "unknown"
                   : *torch.cxx11_abi ? "cxx11 (_GLIBCXX_USE_CXX11_ABI=1)"
                                      : "pre-cxx11 (_GLIBCXX_USE_CXX11_ABI=0)",
                   "symbols of " + libc10});
  if (!torch.pybind11_build_abi.empty()) {
    lines.push_back({"torch pybind11 ABI",
                     torch.pybind11_compiler + torch.pybind11_stdlib + torch.pybind11_build_abi,
                     "libtorch_python.so"});
  }
}

void add_compilers(Lines& lines, const EnvironmentFacts& facts) {
  if (facts.hip_compiler) {
    const auto& hip = *facts.hip_compiler;
    lines.push_back({"HIP compiler", hip.program.string(), hip.origin});
    lines.push_back(
        {"HIP version", hip.hip_version.empty() ? "unknown" : hip.hip_version, hip.program.string()});
    lines.push_back({"HIP compiler's clang", hip.version_line.empty() ? hip.version : hip.version_line,
                     hip.program.string()});
  } else {
    add_absent(lines, "HIP compiler", facts.hip_compiler_problem);
  }
  if (facts.host_compiler) {
    const auto& host = *facts.host_compiler;
    lines.push_back({"C++ compiler", host.program.string(), host.origin});
    lines.push_back({"C++ compiler version", host.version_line.empty() ? host.version : host.version_line,
                     host.program.string()});
  } else {
    add_absent(lines, "C++ compiler", facts.host_compiler_problem);
  }
}

void add_toolkit(Lines& lines, const EnvironmentFacts& facts) {
  if (!facts.rocm) {
    add_absent(lines, "toolkit",
               facts.rocm_problem.empty() ? "no DTK or ROCm root was found" : facts.rocm_problem);
    return;
  }
  const auto& rocm = *facts.rocm;
  lines.push_back(
      {"toolkit",
       (rocm.is_dtk ? "DTK " : "ROCm ") + (rocm.version.empty() ? "of unknown version" : rocm.version),
       rocm.version_source.empty() ? "no version file" : rocm.version_source});
  lines.push_back({"toolkit root", rocm.root.string(), rocm.origin});
}

void add_uses(Lines& lines, const EnvironmentFacts& facts) {
  for (const auto& use : facts.toolkits.uses) {
    const auto value = use.version.empty() ? use.value.string() + " (does not exist)"
                                           : use.version + " in " + use.root.string();
    lines.push_back({"toolkit by " + use.variable, value, use.value.string()});
  }
}

std::string device_text(const probe::Device& device) {
  auto value = device.target_id.empty() ? device.name : device.target_id;
  if (!device.name.empty() && !device.target_id.empty()) {
    value += " " + device.name;
  }
  if (device.compute_units > 0) {
    value += ", " + counted(device.compute_units, "compute unit");
  }
  if (device.wavefront > 0) {
    value += ", wavefront " + std::to_string(device.wavefront);
  }
  return device.chip.empty() ? value : value + " (the chip is a " + device.chip + ")";
}

void add_devices(Lines& lines, const EnvironmentFacts& facts) {
  const auto& devices = facts.devices;
  if (devices.devices.empty()) {
    lines.push_back({"devices", "none", join(devices.sources, "; ")});
  }
  for (std::size_t i = 0; i < devices.devices.size(); ++i) {
    lines.push_back(
        {"device " + std::to_string(i), device_text(devices.devices[i]), devices.devices[i].source});
  }
  for (const auto& disagreement : devices.disagreements) {
    lines.push_back({"devices disagree", disagreement, ""});
  }
  for (const auto& variable : devices.overrides) {
    lines.push_back(
        {variable.variable,
         variable.value + (variable.processor.empty() ? " (no version)" : " = " + variable.processor),
         "environment"});
  }
  for (const auto& variable : devices.visibility) {
    lines.push_back({variable.variable,
                     "\"" + variable.value + "\" leaves " + std::to_string(variable.after) + " of " +
                         counted(variable.before, "device"),
                     "environment"});
  }
}

std::string node_text(const probe::DeviceNode& node) {
  if (!node.exists) {
    return "missing";
  }
  std::array<char, 8> mode{};
  std::snprintf(mode.data(), mode.size(), "%04o", node.mode);
  auto text = node.owner + ":" + node.group + " " + mode.data();
  if (node.open_error) {
    text += *node.open_error == 0
                ? ", can be opened"
                : ", cannot be opened: " + std::generic_category().message(*node.open_error);
  }
  return text;
}

void add_host(Lines& lines, const EnvironmentFacts& facts) {
  const auto& host = facts.host;
  if (!facts.saved_root.empty()) {
    lines.push_back(
        {"machine", "saved in " + facts.saved_root.string() + "; nothing of it is started",
         facts.saved_user_space
             ? "--root: with its Python and libraries"
             : "--root: it has neither ld.so nor a Python; Python, torch, libraries are this machine's"});
  }
  lines.push_back(
      {"container", host.container.there() ? host.container.kind : "none seen", host.container.evidence});
  std::vector<std::string> drivers, evidence;
  for (const auto& driver : host.drivers) {
    drivers.push_back(driver.name);
    evidence.push_back(driver.evidence);
  }
  lines.push_back({"kernel driver",
                   !drivers.empty()     ? join(drivers, ", ")
                   : host.drivers_known ? "none"
                                        : "unknown",
                   drivers.empty() ? "/proc/modules, /sys/module" : join(evidence, ", ")});
  for (const auto& device : host.accelerators) {
    lines.push_back({"PCI accelerator", device, "/sys/bus/pci/devices"});
  }
  for (const auto& node : host.nodes) {
    lines.push_back(
        {node.path.string(), node_text(node), facts.saved_root.empty() ? "" : "mode and owner only"});
  }
  if (!host.hyhal.empty()) {
    lines.push_back({"hyhal", host.hyhal.string() + (host.hyhal_empty ? " (empty)" : ""), ""});
  }
}

std::string why_not_asked(const probe::Machine& machine) {
  return std::string(not_started) + machine.root.string();
}

} // namespace

EnvironmentFacts gather_facts(const probe::Machine& machine, const probe::PythonWish& wish,
                              const std::optional<probe::SavedRocminfo>& rocminfo) {
  EnvironmentFacts facts;
  auto here = machine;
  if (machine.is_saved) {
    facts.saved_root = machine.root;
    here.root = probe::process_root(machine);
    here.is_saved = here.root != "/";
    facts.saved_user_space = here.is_saved;
  }
  facts.python = asked(facts.python_problem, [&] { return probe::find_python(here, wish); });
  if (facts.python) {
    const auto& python = *facts.python;
    if (auto torch = asked(facts.torch_problem, [&] { return probe::find_torch(here, python); })) {
      facts.torch = std::move(*torch);
    }
    if (!facts.torch && facts.torch_problem.empty()) {
      facts.torch_problem = "no torch on the search path of " + python.executable.string();
    }
  } else {
    facts.torch_problem = "no Python to look for it";
  }
  if (machine.is_saved) {
    facts.hip_compiler_problem = why_not_asked(machine);
  } else {
    facts.hip_compiler = asked(facts.hip_compiler_problem, [&] { return probe::find_hip_compiler(machine); });
  }
  if (here.is_saved) {
    facts.host_compiler_problem = why_not_asked(machine);
  } else {
    facts.host_compiler = asked(facts.host_compiler_problem, [&] { return probe::find_host_compiler(here); });
  }
  if (auto rocm = asked(facts.rocm_problem, [&] { return probe::find_rocm(machine); })) {
    facts.rocm = std::move(*rocm);
  }
  std::string problem;
  const auto find_devices = [&] {
    return rocminfo ? probe::find_devices(machine, *rocminfo) : probe::find_devices(machine, true);
  };
  if (auto devices = asked(problem, find_devices)) {
    facts.devices = std::move(*devices);
  } else {
    facts.devices.sources.push_back(problem);
  }
  facts.host = probe::find_host(machine);
  facts.toolkits = probe::find_toolkit_uses(machine);
  return facts;
}

std::vector<FactLine> fact_lines(const EnvironmentFacts& facts) {
  Lines lines;
  add_python(lines, facts);
  add_torch(lines, facts);
  add_compilers(lines, facts);
  add_toolkit(lines, facts);
  add_uses(lines, facts);
  add_devices(lines, facts);
  add_host(lines, facts);
  return lines;
}

} // namespace dcuop::doctor
