#include "check_view.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "report_text.hpp"
#include "sarif.hpp"

#include "dcuop/support/json_text.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::cli {
namespace {

std::string verdict(const check::Report& report, bool chinese) {
  const bool bad = finding::has_error(report.findings);
  const std::string name = report.directory.filename().string();
  if (chinese) {
    return name + (bad ? "：发现错误" : "：没有发现错误") + "（" + std::to_string(report.files) +
           " 个文件，" + std::to_string(report.functions) + " 个函数" +
           (report.allowed > 0 ? "，" + std::to_string(report.allowed) + " 个已允许" : "") + "）";
  }
  return name + (bad ? ": errors found" : ": no error found") + " (" + counted(report.files, "file") + ", " +
         counted(report.functions, "function") +
         (report.allowed > 0 ? ", " + counted(report.allowed, "finding") + " allowed" : "") + ")";
}

} // namespace

void print_report(Context& context, const check::Report& report) {
  const bool chinese = context.chinese();
  auto& terminal = context.terminal;
  const ReportStyle style{chinese ? finding::LanguageOfText::zh : finding::LanguageOfText::en,
                          terminal.options().verbose, context.environment.get("HOME").value_or("")};
  terminal.answer(terminal.styled(verdict(report, chinese),
                                  finding::has_error(report.findings) ? Style::red : Style::green));
  print_findings(terminal, report.findings, style);
  for (const check::ChecklistItem& item : report.checklist) {
    std::string rules;
    for (const auto& finding : report.findings) {
      if (!item.is_met && std::find(item.rules.begin(), item.rules.end(), finding.rule) != item.rules.end() &&
          rules.find(finding.rule) == std::string::npos) {
        rules += (rules.empty() ? "  " : ", ") + finding.rule;
      }
    }
    terminal.answer("  [" + std::string(item.is_met ? "x" : " ") + "] " +
                    std::string(chinese ? item.text.zh : item.text.en) + rules);
  }
  if (!report.findings.empty()) {
    terminal.answer("  " + count_line(report.findings, style));
  }
}

ExitCode answer_reports(Context& context, const std::vector<check::Report>& reports, bool as_sarif) {
  std::vector<finding::Finding> all;
  nlohmann::json document = {{"schema", 1}, {"checked", nlohmann::json::array()}};
  for (const check::Report& report : reports) {
    all.insert(all.end(), report.findings.begin(), report.findings.end());
    if (as_sarif) {
      continue;
    }
    if (context.json()) {
      document["checked"].push_back(check::to_json(report));
    } else {
      print_report(context, report);
    }
  }
  if (as_sarif) {
    answer_sarif(context, all);
  } else if (context.json()) {
    context.terminal.answer(json_text(document, 2));
  }
  return finding::has_error(all) ? ExitCode::failed : ExitCode::ok;
}

} // namespace dcuop::cli
