// DCU4xx: the machine.
#include "check_machine.hpp"
#include "device_access.hpp"

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
    const auto advice = how_to_get_access(file.facts.host, {});
    finding.fix = advice.en;
    finding.chinese.fix = advice.zh;
    findings.push_back(std::move(finding));
  }
  for (const auto& what : devices.disagreements) {
    findings.push_back(file.finding("DCU407", {{"what", what}}));
    findings.back().fix = findings.back().chinese.fix =
        "unset HSA_OVERRIDE_GFX_VERSION HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES; dcuop env";
  }
}

} // namespace

std::vector<Check> environment_checks() {
  std::vector<Check> checks;
  const auto add = [&checks](const std::vector<Check>& more) {
    checks.insert(checks.end(), more.begin(), more.end());
  };
  add(process_checks());
  add({{{"DCU401"}, check_python},
       {{"DCU402", "DCU403", "DCU404"}, check_torch},
       {{"DCU405"}, check_compiler}});
  add(access_checks());
  add({{{"DCU406", "DCU407"}, check_devices}});
  add(selection_checks());
  add(toolkit_checks());
  return checks;
}

} // namespace dcuop::doctor
