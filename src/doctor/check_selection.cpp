// DCU409, DCU410, DCU418, DCU419: the variables that rename and pick devices.
#include <algorithm>

#include "check_machine.hpp"

#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

using finding::Severity;

void report_invalid(CaseFile& file, const probe::GfxOverride& variable, Findings& findings) {
  auto finding = file.finding("DCU418", {{"variable", variable.variable}, {"value", variable.value}});
  const bool here = file.facts.devices.in_topology > 0 && launch_matters(file);
  finding.severity = here ? Severity::error : Severity::warning;
  finding.evidence.push_back(
      {"expected", "major.minor.stepping, like 9.0.6 for gfx906, 9.0.10 for gfx90a, 9.2.8 for gfx928"});
  finding.fix = finding.chinese.fix = "unset " + variable.variable;
  findings.push_back(std::move(finding));
}

/// Devices that pass for another chip, each kind once: "gfx1035 (KFD)".
std::vector<std::string> chips_renamed_to(const CaseFile& file, const std::string& processor) {
  std::vector<std::string> chips;
  for (const auto& device : file.facts.devices.devices) {
    const auto chip = device.chip + " (" + device.source + ")";
    const bool renamed = !device.chip.empty() && device.target_id.starts_with(processor);
    if (renamed && std::find(chips.begin(), chips.end(), chip) == chips.end()) {
      chips.push_back(chip);
    }
  }
  return chips;
}

void report_override(CaseFile& file, const probe::GfxOverride& variable, Findings& findings) {
  const auto& devices = file.facts.devices;
  const auto chips = chips_renamed_to(file, variable.processor);
  if (chips.empty() && !devices.devices.empty() && devices.in_topology > 0) {
    return; // it says what the chips are
  }
  auto finding = file.finding(
      "DCU409", {{"variable", variable.variable}, {"value", variable.value}, {"arch", variable.processor}});
  if (chips.empty()) {
    finding.severity = Severity::note;
    finding.evidence.push_back({"devices", "KFD tells of none here to compare it with"});
  }
  for (const auto& chip : chips) {
    finding.evidence.push_back({"devices", chip});
  }
  if (file.image != nullptr && !file.device_code.targets().empty()) {
    finding.evidence.push_back({"wanted", "code for " + variable.processor + " in the file, which has " +
                                              join(file.device_code.targets(), ", ")});
  }
  finding.fix = finding.chinese.fix = "unset " + variable.variable;
  findings.push_back(std::move(finding));
}

void check_override(CaseFile& file, Findings& findings) {
  for (const auto& variable : file.facts.devices.overrides) {
    if (variable.processor.empty()) {
      report_invalid(file, variable, findings);
    } else {
      report_override(file, variable, findings);
    }
  }
}

/// What can be said without a device to count: an entry that could name none, or ROCr's empty list.
bool hides_everything(const probe::Visibility& variable) {
  if (variable.before > 0) {
    return variable.after == 0;
  }
  const auto entries = split(variable.value, ',');
  if (entries.empty()) {
    return variable.variable == "ROCR_VISIBLE_DEVICES";
  }
  const auto first = trimmed(entries.front());
  const bool number = !first.empty() && first.find_first_not_of("0123456789") == std::string_view::npos;
  return !number && !first.starts_with("GPU-") && !first.starts_with("gpu-");
}

void check_visibility(CaseFile& file, Findings& findings) {
  for (const auto& variable : file.facts.devices.visibility) {
    const bool hidden = hides_everything(variable);
    if (!hidden && variable.unknown_entry.empty()) {
      continue;
    }
    auto finding = file.finding(hidden ? "DCU410" : "DCU419", {{"variable", variable.variable},
                                                               {"value", variable.value},
                                                               {"entry", variable.unknown_entry},
                                                               {"count", std::to_string(variable.before)}});
    if (!variable.unknown_entry.empty()) {
      finding.evidence.push_back({"so", "\"" + variable.unknown_entry + "\" names none of the " +
                                            counted(variable.before, "device") +
                                            "; it and what follows it count for nothing"});
    }
    finding.fix = finding.chinese.fix = "unset " + variable.variable;
    findings.push_back(std::move(finding));
  }
}

} // namespace

std::vector<Check> selection_checks() {
  return {{{"DCU409", "DCU418"}, check_override}, {{"DCU410", "DCU419"}, check_visibility}};
}

} // namespace dcuop::doctor
