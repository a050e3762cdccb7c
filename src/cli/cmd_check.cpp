// dcuop check: faults that an operator's sources show.
#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "report_text.hpp"
#include "sarif.hpp"
#include "selection.hpp"

#include "dcuop/check/check.hpp"
#include "dcuop/op/manifest.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::cli {
namespace {

struct Request {
  std::vector<std::string> targets;
  bool release = false;
  bool sarif = false;
};

unsigned threads() {
  return std::clamp(std::thread::hardware_concurrency(), 1U, 16U);
}

check::Request of_directory(const std::filesystem::path& directory) {
  check::Request request;
  request.directory = directory;
  request.files = check::source_files(directory);
  request.threads = threads();
  return request;
}

check::Request of_op(const op::Op& op) {
  check::Request request = of_directory(op.directory);
  // Sources may lie beside the manifest's directory.
  for (const op::Source& source : op.sources) {
    const auto path = (op.directory / source.path).lexically_normal();
    if (std::find(request.files.begin(), request.files.end(), path) == request.files.end()) {
      request.files.push_back(path);
    }
  }
  request.include_dirs = op.include_dirs;
  request.archs = op.archs;
  request.manifest = op.manifest;
  return request;
}

/// A directory without a dcuop.toml, or a single source, is judged as it lies there.
std::vector<check::Request> requests_of(Context& context, const Request& request) {
  std::vector<check::Request> all;
  std::vector<std::string> ops;
  for (const std::string& target : request.targets) {
    const auto path = absolute_from(target, context.working_directory);
    const auto identity = target.empty() ? std::nullopt : identity_of(path);
    if (identity && identity->is_regular() && path.filename() != "dcuop.toml") {
      check::Request one;
      one.directory = path.parent_path();
      one.files = {path};
      all.push_back(std::move(one));
    } else if (identity && identity->is_directory() && !identity_of(path / "dcuop.toml")) {
      all.push_back(of_directory(path));
      if (all.back().files.empty()) {
        throw Error(ExitCode::usage, target + " holds no sources (C++, HIP or Python)",
                    "name an operator's directory");
      }
    } else {
      ops.push_back(target);
    }
  }
  if (!ops.empty() || request.targets.empty()) {
    for (const op::Op& op : op::select_ops(ops, context.working_directory, backend_of(context, ""))) {
      all.push_back(of_op(op));
    }
  }
  for (check::Request& one : all) {
    one.release = request.release;
  }
  return all;
}

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

void print(Context& context, const check::Report& report) {
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

ExitCode run(Context& context, const Request& request) {
  std::vector<finding::Finding> all;
  nlohmann::json document = {{"schema", 1}, {"checked", nlohmann::json::array()}};
  for (const check::Request& one : requests_of(context, request)) {
    const check::Report report = check::check(one);
    all.insert(all.end(), report.findings.begin(), report.findings.end());
    if (context.json()) {
      document["checked"].push_back(check::to_json(report));
    } else if (!request.sarif) {
      print(context, report);
    }
  }
  if (request.sarif) {
    answer_sarif(context, all);
  } else if (context.json()) {
    context.terminal.answer(json_text(document, 2));
  }
  return finding::has_error(all) ? ExitCode::failed : ExitCode::ok;
}

} // namespace

void add_check(Commands& commands) {
  auto request = std::make_shared<Request>();
  auto* command =
      commands.add("check", "Find faults in an operator's sources before they hang a device",
                   "  dcuop check                      the op one stands in, or all of the workspace\n"
                   "  dcuop check affine rms_norm\n"
                   "  dcuop check path/to/sources      a directory without a dcuop.toml, or one file\n"
                   "  dcuop check affine --release     the checklist of a release too\n"
                   "  dcuop check --sarif > check.sarif\n"
                   "  dcuop rule DCU910                more about a finding\n"
                   "A comment allows a finding on its line, or on the next when it stands alone:\n"
                   "  // dcuop: allow(DCU914) the count is known on the device alone");
  command->add_option("target", request->targets, "Ops (names or directories), directories of sources, files")
      ->type_name("OP|DIR|FILE");
  command->add_flag("--release", request->release,
                    "The checklist of a release too: tests, benchmarks, README, tree");
  add_sarif_option(*command, request->sarif);
  commands.run(command, [request](Context& context) { return run(context, *request); });
}

} // namespace dcuop::cli
