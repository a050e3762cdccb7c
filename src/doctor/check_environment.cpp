// DCU4xx: the machine.
#include <algorithm>
#include <array>
#include <charconv>

#include "checks.hpp"

#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

void check_python(CaseFile& file, Findings& findings) {
  if (file.facts.python) {
    return;
  }
  findings.push_back(file.finding("DCU401", {{"reason", file.facts.python_problem}}));
  findings.back().fix = findings.back().chinese.fix = "dcuop doctor --python /usr/bin/python3";
}

void check_torch(CaseFile& file, Findings& findings) {
  const auto& facts = file.facts;
  if (!facts.python) {
    return;
  }
  if (facts.torch) {
    if (facts.torch->is_cpu_only()) {
      auto finding = file.finding("DCU404", {{"torch", facts.torch->version}});
      finding.evidence.push_back({"file", (facts.torch->package / "version.py").string()});
      finding.fix =
          "install the torch of your DTK (+das...dtk) or ROCm, where operators are to run on a device";
      finding.chinese.fix = "若要在设备上运行算子，安装与 DTK（+das...dtk）或 ROCm 配套的 torch";
      findings.push_back(std::move(finding));
    }
    return;
  }
  const bool absent = facts.torch_problem.empty() || facts.torch_problem.starts_with("no torch");
  if (absent) {
    findings.push_back(file.finding("DCU402", {{"reason", facts.python->executable.string() + " (" +
                                                              facts.python->origin + ") has none"}}));
    findings.back().fix = findings.back().chinese.fix = "--python PATH";
    return;
  }
  auto finding = file.finding("DCU403", {{"reason", facts.torch_problem}});
  finding.evidence.push_back({"asked", facts.python->executable.string()});
  finding.fix = facts.python->executable.string() + " -m pip install --force-reinstall torch==VERSION";
  finding.chinese.fix = finding.fix;
  if (!file.uses_torch && file.image != nullptr) {
    finding.severity = finding::Severity::warning; // this file does not need it
  }
  findings.push_back(std::move(finding));
}

void check_compiler(CaseFile& file, Findings& findings) {
  if (!file.facts.hip_compiler) {
    findings.push_back(file.finding("DCU405", {{"reason", file.facts.hip_compiler_problem}}));
    findings.back().fix = findings.back().chinese.fix =
        "source /opt/dtk/env.sh, module load compiler/dtk, export ROCM_PATH=DIR";
  }
}

void check_devices(CaseFile& file, Findings& findings) {
  const auto& devices = file.facts.devices;
  if (devices.devices.empty()) {
    auto finding = file.finding("DCU406");
    for (const auto& source : devices.sources) {
      finding.evidence.push_back({"asked", source});
    }
    finding.fix = finding.chinese.fix = "ls -l /dev/kfd /dev/mkfd /dev/dri; lsmod | grep -E 'hy.*cu|amdgpu'";
    findings.push_back(std::move(finding));
  }
  for (const auto& what : devices.disagreements) {
    findings.push_back(file.finding("DCU407", {{"what", what}}));
    findings.back().fix = findings.back().chinese.fix =
        "unset HSA_OVERRIDE_GFX_VERSION HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES; dcuop env";
  }
}

void check_dtk(CaseFile& file, Findings& findings) {
  const auto& torch = file.facts.torch;
  const auto& rocm = file.facts.rocm;
  if (!torch || !rocm || torch->dtk.empty() || !rocm->is_dtk || rocm->version.empty()) {
    return;
  }
  // torch's tag has year and month; the toolkit may add a patch ("25.04.1").
  const bool same = rocm->version == torch->dtk || rocm->version.starts_with(torch->dtk + ".") ||
                    torch->dtk.starts_with(rocm->version + ".");
  if (!same) {
    auto finding = file.finding(
        "DCU408", {{"torch", torch->dtk}, {"installed", rocm->version}, {"root", rocm->root.string()}});
    finding.evidence.push_back({"torch", torch->version});
    finding.evidence.push_back({"file", rocm->version_source});
    finding.fix = "install the torch wheel tagged for DTK " + rocm->version + ", or load DTK " + torch->dtk;
    finding.chinese.fix = "安装面向 DTK " + rocm->version + " 的 torch wheel，或加载 DTK " + torch->dtk;
    findings.push_back(std::move(finding));
  }
}

/// "9.2.8" -> "gfx928", "10.3.0" -> "gfx1030": minor and stepping are hexadecimal digits in the name.
std::string arch_of_override(const std::string& value) {
  const auto parts = split(value, '.');
  if (parts.size() != 3) {
    return {};
  }
  std::string arch = "gfx" + parts[0];
  for (std::size_t i = 1; i < 3; ++i) {
    int number = -1;
    const auto [end, fault] = std::from_chars(parts[i].data(), parts[i].data() + parts[i].size(), number);
    if (fault != std::errc{} || end != parts[i].data() + parts[i].size() || number < 0 || number > 15) {
      return {};
    }
    arch += "0123456789abcdef"[number];
  }
  return arch;
}

void check_override(CaseFile& file, Findings& findings) {
  const auto value = file.machine.environment.get_nonempty("HSA_OVERRIDE_GFX_VERSION");
  if (!value) {
    return;
  }
  const auto arch = arch_of_override(*value);
  auto finding =
      file.finding("DCU409", {{"value", *value}, {"arch", arch.empty() ? "an unknown processor" : arch}});
  for (const auto& device : file.facts.devices.devices) {
    finding.evidence.push_back({"devices", device.target_id + " (" + device.source + ")"});
  }
  finding.fix = finding.chinese.fix = "unset HSA_OVERRIDE_GFX_VERSION";
  findings.push_back(std::move(finding));
}

void check_visibility(CaseFile& file, Findings& findings) {
  constexpr std::array variables = {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES",
                                    "GPU_DEVICE_ORDINAL"};
  for (const auto* variable : variables) {
    const auto value = file.machine.environment.get(variable);
    if (value && (trimmed(*value).empty() || trimmed(*value).starts_with("-1"))) {
      findings.push_back(file.finding("DCU410", {{"variable", variable}, {"value", *value}}));
      findings.back().fix = findings.back().chinese.fix = std::string("unset ") + variable;
    }
  }
}

} // namespace

std::vector<Check> environment_checks() {
  return {{{"DCU401"}, check_python},    {{"DCU402", "DCU403", "DCU404"}, check_torch},
          {{"DCU405"}, check_compiler},  {{"DCU406", "DCU407"}, check_devices},
          {{"DCU408"}, check_dtk},       {{"DCU409"}, check_override},
          {{"DCU410"}, check_visibility}};
}

} // namespace dcuop::doctor
