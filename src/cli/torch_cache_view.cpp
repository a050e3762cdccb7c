#include "torch_cache_view.hpp"

#include <nlohmann/json.hpp>

#include "build_argument.hpp"
#include "report_text.hpp"
#include "sarif.hpp"

#include "dcuop/support/json_text.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::cli {
namespace {

std::string headline(const doctor::TorchCacheReport& report, const Environment& environment, bool zh) {
  const auto place = shortened(report.root.path, environment) + " (" + report.root.origin + ")";
  if (report.entries.empty()) {
    return zh ? "torch 的 JIT 缓存 " + place + " 中没有扩展" : "no extension in torch's JIT cache " + place;
  }
  return zh ? "torch 的 JIT 缓存 " + place + "：" + std::to_string(report.entries.size()) + " 个扩展"
            : "torch's JIT cache " + place + ": " + counted(report.entries.size(), "extension");
}

void print(Context& context, const doctor::TorchCacheReport& report) {
  const bool zh = context.chinese();
  auto& terminal = context.terminal;
  const ReportStyle style{zh ? finding::LanguageOfText::zh : finding::LanguageOfText::en, true,
                          context.environment.get("HOME").value_or("")};
  terminal.answer(terminal.styled(headline(report, context.environment, zh),
                                  finding::has_error(report.findings) ? Style::red : Style::green));
  print_findings(terminal, report.findings, style);
  for (const auto& path : report.removed) {
    terminal.answer((zh ? "  已删除  " : "  removed  ") + shortened(path, context.environment));
  }
  for (const auto& [path, reason, chinese] : report.left) {
    terminal.answer((zh ? "  保留  " : "  left  ") + shortened(path, context.environment) +
                    (zh ? "：" : ": ") + (zh ? chinese : reason));
  }
  if (!report.findings.empty()) {
    terminal.answer("  " + count_line(report.findings, style));
  }
}

} // namespace

ExitCode run_torch_extensions(Context& context, const doctor::TorchCacheQuestion& question, bool sarif) {
  const auto machine = context.machine();
  const auto facts = doctor::gather_facts(machine, context.python_wish());
  auto report = doctor::examine_torch_cache(question, facts, machine);
  name_operators(context, report.findings);
  if (sarif) {
    answer_sarif(context, report.findings);
  } else if (context.json()) {
    context.terminal.answer(json_text(doctor::to_json(report), 2));
  } else {
    print(context, report);
  }
  return finding::has_error(report.findings) ? ExitCode::failed : ExitCode::ok;
}

} // namespace dcuop::cli
