#include "evidence_view.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <system_error>

#include <nlohmann/json.hpp>

#include "build_argument.hpp"
#include "report_text.hpp"
#include "sarif.hpp"

#include "dcuop/doctor/live.hpp"
#include "dcuop/doctor/message.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"

namespace dcuop::cli {
namespace {

using Findings = std::vector<finding::Finding>;

ExitCode exit_code(const Findings& findings) {
  return finding::has_error(findings) ? ExitCode::failed : ExitCode::ok;
}

/// Of several reports one: headline, findings, their count, facts.
struct Page {
  std::string headline, headline_chinese;
  Findings findings;
  std::vector<doctor::FactLine> facts;
};

void add(Page& page, const doctor::Report& report) {
  page.findings.insert(page.findings.end(), report.findings.begin(), report.findings.end());
  page.facts.insert(page.facts.end(), report.facts.begin(), report.facts.end());
  finding::sort_findings(page.findings);
}

void print(Context& context, const Page& page) {
  const bool zh = context.chinese();
  auto& terminal = context.terminal;
  const bool verbose = terminal.options().verbose;
  const ReportStyle style{zh ? finding::LanguageOfText::zh : finding::LanguageOfText::en, verbose,
                          context.environment.get("HOME").value_or("")};
  terminal.answer(terminal.styled(zh ? page.headline_chinese : page.headline,
                                  finding::has_error(page.findings) ? Style::red : Style::green));
  print_findings(terminal, page.findings, style);
  if (!page.findings.empty()) {
    terminal.answer("  " + count_line(page.findings, style));
  }
  if (verbose) {
    terminal.answer("");
    print_facts(terminal, page.facts, style);
  }
}

doctor::MessageText text_of(const std::string& given, const std::filesystem::path& working_directory) {
  if (given == "-") {
    return doctor::read_message(std::cin);
  }
  const auto path = absolute_from(given, working_directory);
  std::error_code fault;
  const bool directory = std::filesystem::is_directory(path, fault);
  std::ifstream file(path, std::ios::binary);
  if (directory || !file) {
    throw Error(ExitCode::usage,
                "--message " + given + (directory ? " is a directory" : " cannot be read as a file"),
                "save the message to a file, or pipe it: python script.py 2>&1 | dcuop doctor --message -");
  }
  return doctor::read_message(file);
}

} // namespace

void add_evidence_options(const Subcommand& subcommand, EvidenceRequest& into) {
  const Option pid =
      subcommand
          .option("--pid", into.pid,
                  "Judge what this running process has really loaded, by /proc; with FILE.so: what "
                  "would happen if it loaded that now. The process is not disturbed")
          .type_name("PID")
          .check([](const std::string& text) {
            const bool number = !text.empty() && text.size() < 10 &&
                                text.find_first_not_of("0123456789") == std::string::npos;
            return number && text.find_first_not_of('0') != std::string::npos
                       ? std::string{}
                       : text + " is no process id: a number from 1 on";
          });
  subcommand
      .option(
          "--message", into.message,
          "Read a pasted traceback, log or loader message ('-': standard input), name its first cause, and "
          "examine "
          "the file that it names if that is here. Exit code 1 for a failure, known or not; 0 only where "
          "that file is here and nothing is wrong with it")
      .type_name("FILE")
      .excludes(pid)
      .check([](const std::string& text) {
        return text.empty() ? std::string("the name is empty: FILE, or - for standard input") : std::string{};
      });
}

ExitCode run_process(Context& context, const EvidenceRequest& request) {
  const auto process = doctor::read_live_process(request.pid);
  const auto machine = context.machine();
  auto report =
      doctor::examine_process(process, {request.archs, request.file, context.working_directory}, machine);
  name_operators(context, report.findings);
  auto findings = report.findings;
  if (report.file) {
    name_operators(context, report.file->findings);
    findings.insert(findings.begin(), report.file->findings.begin(), report.file->findings.end());
    finding::sort_findings(findings);
  }
  const auto code = exit_code(findings);
  if (request.sarif) {
    answer_sarif(context, findings);
    return code;
  }
  if (context.json()) {
    context.terminal.answer(json_text(doctor::to_json(process, report), 2));
    return code;
  }
  Page page{report.headline, report.headline_chinese, std::move(findings), report.facts};
  if (report.file) {
    const auto name = std::filesystem::path(request.file).filename().string();
    page.headline = name + " in " + process.title() + ": " + report.file->headline;
    page.headline_chinese = process.title() + " 中的 " + name + "：" + report.file->headline_chinese;
  }
  print(context, page);
  return code;
}

ExitCode run_message(Context& context, const EvidenceRequest& request) {
  doctor::MessageQuestion question;
  question.message = text_of(request.message, context.working_directory);
  question.origin = request.message;
  question.file = request.file;
  question.archs = request.archs;
  const auto machine = context.machine();
  const auto facts = doctor::gather_facts(machine, context.python_wish());
  auto report = doctor::examine_message(question, facts, machine);
  name_operators(context, report.findings);
  if (report.diagnosis) {
    name_operators(context, report.diagnosis->findings);
  }
  Page page{report.headline, report.headline_chinese, report.findings, report.facts};
  if (report.diagnosis) {
    add(page, *report.diagnosis);
  }
  if (request.sarif) {
    answer_sarif(context, page.findings);
  } else if (context.json()) {
    context.terminal.answer(json_text(doctor::to_json(report), 2));
  } else {
    print(context, page);
  }
  return exit_code(page.findings);
}

} // namespace dcuop::cli
