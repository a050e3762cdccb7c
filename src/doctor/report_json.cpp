// The report for programs.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "dcuop/doctor/doctor.hpp"

namespace dcuop::doctor {
namespace {

auto count_of(const Report& report, finding::Severity severity) {
  return std::count_if(report.findings.begin(), report.findings.end(),
                       [severity](const finding::Finding& finding) { return finding.severity == severity; });
}

} // namespace

std::string to_string(Verdict verdict) {
  switch (verdict) {
  case Verdict::loads:
    return "loads";
  case Verdict::loads_cannot_launch:
    return "loads_cannot_launch";
  case Verdict::does_not_load:
    return "does_not_load";
  case Verdict::environment_only:
    break;
  }
  return "environment_only";
}

nlohmann::json to_json(const Report& report) {
  auto findings = nlohmann::json::array();
  for (const auto& finding : report.findings) {
    findings.push_back(finding::to_json(finding));
  }
  auto facts = nlohmann::json::array();
  for (const auto& [name, value, origin] : report.facts) {
    facts.push_back({{"name", name}, {"value", value}, {"origin", origin}});
  }
  return {{"schema", 1},
          {"verdict", to_string(report.verdict)},
          {"headline", report.headline},
          {"checks", report.checks},
          {"counts",
           {{"error", count_of(report, finding::Severity::error)},
            {"warning", count_of(report, finding::Severity::warning)},
            {"note", count_of(report, finding::Severity::note)}}},
          {"findings", std::move(findings)},
          {"facts", std::move(facts)}};
}

} // namespace dcuop::doctor
