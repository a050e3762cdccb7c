#include "check_view.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "report_text.hpp"
#include "sarif.hpp"

#include "dcuop/support/json_text.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::cli {
namespace {

enum class Verdict { errors, none, nothing_to_check };

Verdict verdict_of(const check::Report& report, bool has_ascend) {
  return finding::has_error(report.findings) ? Verdict::errors
         : has_ascend                        ? Verdict::none
                                             : Verdict::nothing_to_check;
}

std::string verdict_text(const check::Report& report, Verdict verdict, bool chinese) {
  const bool bad = verdict == Verdict::errors;
  const std::string name = report.directory.filename().string();
  if (verdict == Verdict::nothing_to_check) {
    return name + (chinese ? "：没有可检查的内容：没有昇腾核函数或 tiling，也没有 super_kernel() 调用（" +
                                 std::to_string(report.files) + " 个文件）"
                           : ": nothing to check: no Ascend kernel or tiling, and no super_kernel() call (" +
                                 counted(report.files, "file") + ")");
  }
  const int percent = static_cast<int>(report.understood * 100);
  if (chinese) {
    return name + (bad ? "：发现错误" : "：没有发现错误") + "（" + std::to_string(report.files) +
           " 个文件，" + std::to_string(report.functions) + " 个函数" +
           (report.allowed > 0 ? "，" + std::to_string(report.allowed) + " 个已允许" : "") +
           (report.understood < 1 ? "，解析了 " + std::to_string(percent) + "%" : "") + "）";
  }
  return name + (bad ? ": errors found" : ": no error found") + " (" + counted(report.files, "file") + ", " +
         counted(report.functions, "function") +
         (report.allowed > 0 ? ", " + counted(report.allowed, "finding") + " allowed" : "") +
         (report.understood < 1 ? ", " + std::to_string(percent) + " % understood" : "") + ")";
}

void print_report(Context& context, const check::Report& report, Verdict verdict) {
  const bool chinese = context.chinese();
  auto& terminal = context.terminal;
  const ReportStyle style{chinese ? finding::LanguageOfText::zh : finding::LanguageOfText::en,
                          terminal.options().verbose, context.environment.get("HOME").value_or("")};
  terminal.answer(terminal.styled(verdict_text(report, verdict, chinese),
                                  verdict == Verdict::none ? Style::green : Style::red));
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

} // namespace

void print_report(Context& context, const check::Report& report) {
  print_report(context, report, verdict_of(report, true));
}

ExitCode answer_reports(Context& context, const std::vector<check::Report>& reports, bool as_sarif,
                        const std::vector<bool>& has_ascend) {
  std::vector<finding::Finding> all;
  bool has_nothing = false;
  nlohmann::json document = {{"schema", 1}, {"checked", nlohmann::json::array()}};
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const check::Report& report = reports[i];
    const Verdict verdict = verdict_of(report, has_ascend.empty() || has_ascend[i]);
    has_nothing = has_nothing || verdict == Verdict::nothing_to_check;
    all.insert(all.end(), report.findings.begin(), report.findings.end());
    if (as_sarif) {
      if (verdict == Verdict::nothing_to_check) {
        context.terminal.remark(verdict_text(report, verdict, context.chinese()));
      }
      continue;
    }
    if (context.json()) {
      document["checked"].push_back(check::to_json(report));
      if (!has_ascend.empty()) {
        document["checked"].back()["ascend"] = static_cast<bool>(has_ascend[i]);
      }
    } else {
      print_report(context, report, verdict);
    }
  }
  if (as_sarif) {
    answer_sarif(context, all);
  } else if (context.json()) {
    context.terminal.answer(json_text(document, 2));
  }
  return finding::has_error(all) ? ExitCode::failed : has_nothing ? ExitCode::usage : ExitCode::ok;
}

} // namespace dcuop::cli
