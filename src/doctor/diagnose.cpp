// The main flow of the doctor: sanity, then loading, then device code, then the machine, then the sentence.
#include "dcuop/doctor/doctor.hpp"

#include <algorithm>

#include "checks.hpp"
#include "headline.hpp"

namespace dcuop::doctor {
namespace {

using finding::Severity;

void apply(const std::vector<Check>& checks, CaseFile& file, Report& report) {
  for (const auto& check : checks) {
    check.apply(file, report.findings);
    report.checks += static_cast<int>(check.rules.size());
  }
}

/// Of the machine, but nothing that loading needs: device nodes, the driver, a variable of the runtime's.
bool concerns_launch_only(std::string_view rule) {
  return rule.starts_with("DCU3") || rule == "DCU411" || rule == "DCU412" || rule == "DCU413" ||
         rule == "DCU418" || rule == "DCU423" || rule == "DCU424";
}

/// Errors of the file and of linking keep it from loading; those of device code only from launching.
Verdict verdict_of(const Findings& findings) {
  auto verdict = Verdict::loads;
  for (const auto& finding : findings) {
    if (finding.severity == Severity::error) {
      if (!concerns_launch_only(finding.rule)) {
        return Verdict::does_not_load;
      }
      verdict = Verdict::loads_cannot_launch;
    }
  }
  return verdict;
}

void examine_file(CaseFile& file, Report& report) {
  apply(sanity_checks(), file, report);
  if (finding::has_error(report.findings)) {
    return;
  }
  file.trace_load();
  for (const auto& checks :
       {mapping_checks(), torch_checks(), library_checks(), version_checks(), symbol_checks(),
        binding_checks(), module_checks(), device_checks(), runtime_code_checks(), opened_file_checks()}) {
    apply(checks, file, report);
  }
}

} // namespace

Report diagnose(const Question& question, const EnvironmentFacts& facts, const probe::Machine& machine) {
  Report report;
  CaseFile file(question, facts, machine);
  const bool has_file = !question.file.empty();
  if (has_file) {
    examine_file(file, report);
  }
  apply(environment_checks(), file, report);
  report.verdict = has_file ? verdict_of(report.findings) : Verdict::environment_only;
  finding::sort_findings(report.findings);
  report.headline = headline_of(file, report, finding::LanguageOfText::en);
  report.headline_chinese = headline_of(file, report, finding::LanguageOfText::zh);
  report.facts = fact_lines(facts);
  return report;
}

} // namespace dcuop::doctor
