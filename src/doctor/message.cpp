// The main flow of --message: text -> clues -> the cause -> the file that it names, if it is here -> the sentence.
#include "dcuop/doctor/message.hpp"

#include <algorithm>
#include <istream>

#include <nlohmann/json.hpp>

#include "message_findings.hpp"
#include "message_scan.hpp"

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

using finding::Severity;

/// A text has next to no control characters, but for colours; of random bytes every ninth is one.
bool is_binary(std::string_view text) {
  const auto sample = text.substr(0, std::size_t{64} << 10);
  const bool utf16 = sample.starts_with("\xFF\xFE") || sample.starts_with("\xFE\xFF");
  const auto controls = std::count_if(sample.begin(), sample.end(), [](unsigned char byte) {
    return byte < 0x20 &&
           std::string_view("\t\n\r\x1b\b\f").find(static_cast<char>(byte)) == std::string_view::npos;
  });
  return !utf16 && static_cast<std::size_t>(controls) * 50 > sample.size();
}

bool is_here(const std::filesystem::path& file) {
  const auto identity = file.empty() ? std::nullopt : identity_of(file);
  return identity && !identity->is_directory();
}

finding::Finding unknown_failure(const MessageText& message, const MessageScan& scan) {
  const bool empty = scan.lines == 0;
  const auto quoted = "\"" + scan.last_error + "\"";
  const auto last = [&](const char* no_text, const char* nothing) {
    return message.binary ? std::string(no_text) : empty ? std::string(nothing) : quoted;
  };
  auto finding =
      finding::make_finding("DCU791", {{"line", last("none, as it is no text", "none, as the text is empty")},
                                       {"line:zh", last("没有，它不是文本", "没有，文本为空")}});
  finding.subject = "message";
  if (!empty && !message.binary) {
    finding.evidence.push_back(
        {"message says", scan.last_error + "   (line " + std::to_string(scan.last_line) + ")"});
  }
  for (const auto& clue : scan.passed_over) {
    finding.evidence.push_back(
        {"warned before", clue.says + "   (line " + std::to_string(clue.line) + ", " + clue.rule + ")"});
  }
  finding.fix =
      "copy all from the first \"Traceback\" or \"error:\" on; or examine the file itself: dcuop doctor FILE";
  finding.chinese.fix = "从第一个 \"Traceback\" 或 \"error:\" 起全部复制；或直接检查文件：dcuop doctor FILE";
  return finding;
}

void add_consequences(const MessageReport& report, finding::Finding& cause) {
  constexpr std::size_t shown = 3;
  std::size_t listed = 0;
  for (std::size_t i = 1; i < report.clues.size() && listed < shown; ++i) {
    if (report.clues[i].line > report.clues.front().line) {
      cause.evidence.push_back(
          {"followed by", report.clues[i].says + "   (line " + std::to_string(report.clues[i].line) + ")"});
      ++listed;
    }
  }
}

/// The file here against what the message says of it.
void judge_file(const MessageQuestion& question, const EnvironmentFacts& facts, const probe::Machine& machine,
                MessageReport& report) {
  const auto& cause = report.clues.front();
  Question about;
  about.file = report.file;
  about.archs = question.archs;
  if (cause.rule == "DCU702" && about.archs.empty()) {
    if (const auto device = elf::TargetId::parse(cause.detail)) {
      about.archs = {device->text()}; // the device that the message tells of
    }
  }
  report.diagnosis = diagnose(about, facts, machine);
  report.claim_holds = holds(cause, *report.diagnosis, report.file);
}

finding::Finding contradicted(const MessageReport& report) {
  auto finding = finding::make_finding(
      "DCU790", {{"claim", report.clues.front().says}, {"file", report.file.filename().string()}});
  finding.subject = report.file.string();
  finding.evidence.push_back({"file", report.file.string()});
  finding.evidence.push_back({"here", report.diagnosis->headline});
  finding.fix = "ask in the environment of the message: dcuop doctor FILE --python PATH, or dcuop doctor "
                "--pid PID FILE";
  finding.chinese.fix =
      "在消息所在的环境中检查：dcuop doctor FILE --python PATH，或 dcuop doctor --pid PID FILE";
  return finding;
}

void say_confidence(const MessageQuestion& question, const MessageReport& report, finding::Finding& cause) {
  if (report.file_is_here) {
    return;
  }
  const auto& named = report.clues.front();
  const std::string why = named.file.empty() ? "it names no file"
                          : is_about_a_library(named) || !question.file.empty()
                              ? report.file.string() + " is not on this machine"
                              : "the build is not repeated here";
  cause.evidence.push_back({"confidence", "from the message alone: " + why});
}

std::string headline_of(const MessageReport& report, finding::LanguageOfText language) {
  const bool zh = language == finding::LanguageOfText::zh;
  if (report.clues.empty()) {
    const auto words = words_of(report.findings.front(), language);
    return words.summary + (zh ? "。" : ".");
  }
  const auto& cause = report.clues.front();
  if (report.diagnosis) {
    auto sentence = zh ? report.diagnosis->headline_chinese : report.diagnosis->headline;
    const auto name = report.file.filename().string();
    if (report.claim_holds == false) {
      return name + (zh ? "：消息所说的在本机不成立；它" : ": what the message says is not so here; it ") +
             sentence;
    }
    if (report.claim_holds) {
      const std::string_view stop = zh ? "。" : ".";
      sentence.resize(sentence.size() - (sentence.ends_with(stop) ? stop.size() : 0));
      sentence += zh ? "，正如消息所说。" : ", as the message says.";
    }
    return name + " " + sentence;
  }
  const auto finding = std::find_if(report.findings.begin(), report.findings.end(),
                                    [](const auto& one) { return one.severity == Severity::error; });
  const auto summary =
      finding == report.findings.end() ? std::string{} : words_of(*finding, language).summary;
  const auto about = cause.file.empty() ? std::string{} : cause.file.filename().string() + (zh ? "：" : ": ");
  return (zh ? "消息说：" : "the message says: ") + about + summary + (zh ? "。" : ".");
}

std::vector<FactLine> fact_lines_of(const MessageQuestion& question, const MessageReport& report,
                                    const MessageScan& scan) {
  const auto origin = question.origin == "-" ? std::string("standard input") : question.origin;
  std::vector<FactLine> lines = {
      {"message", human_size(question.message.bytes) + ", " + counted(scan.lines, "line"), origin}};
  if (question.message.cut) {
    lines.push_back(
        {"left out",
         "the middle: " + human_size(question.message.text.size()) + " were read, half from each end",
         origin});
  }
  if (scan.ranks > 0) {
    lines.push_back({"ranks", std::to_string(scan.ranks), "prefixes of the lines"});
  }
  for (const auto& clue : report.clues) {
    lines.push_back({"recognised", clue.says, "line " + std::to_string(clue.line) + ", " + clue.rule});
  }
  return lines;
}

nlohmann::json to_json(const Clue& clue) {
  return {{"rule", clue.rule},     {"file", clue.file.string()}, {"says", clue.says},  {"name", clue.name},
          {"detail", clue.detail}, {"line", clue.line},          {"ranks", clue.ranks}};
}

} // namespace

MessageText read_message(std::istream& from, std::size_t limit) {
  MessageText message;
  const std::size_t half = limit / 2;
  std::string tail, block(std::size_t{64} << 10, '\0');
  const auto leave_out = [&](std::size_t count) {
    message.cut = true;
    message.lines_left_out += static_cast<std::uint64_t>(
        std::count(tail.begin(), tail.begin() + static_cast<std::ptrdiff_t>(count), '\n'));
    tail.erase(0, count);
  };
  while (from) {
    from.read(block.data(), static_cast<std::streamsize>(block.size()));
    auto rest = std::string_view(block).substr(0, static_cast<std::size_t>(from.gcount()));
    message.bytes += rest.size();
    const auto room = std::min(rest.size(), half - std::min(half, message.text.size()));
    message.text += rest.substr(0, room);
    rest.remove_prefix(room);
    tail += rest;
    if (tail.size() > 2 * half + block.size()) { // moved seldom
      leave_out(tail.size() - half);
    }
  }
  if (tail.size() > half) {
    leave_out(tail.size() - half);
  }
  message.binary = is_binary(message.text);
  std::erase(message.text, '\0'); // UTF-16 of a Windows shell is ASCII then
  std::erase(tail, '\0');
  message.cut_at = message.text.size();
  message.text += tail;
  return message;
}

MessageReport examine_message(const MessageQuestion& question, const EnvironmentFacts& facts,
                              const probe::Machine& machine) {
  MessageReport report;
  auto scan = scan_message(question.message);
  report.clues = std::move(scan.clues);
  const Question nothing;
  CaseFile here(nothing, facts, machine);
  if (report.clues.empty()) {
    report.findings.push_back(unknown_failure(question.message, scan));
  } else {
    const auto& cause = report.clues.front();
    const bool library = is_about_a_library(cause) || !question.file.empty();
    const auto& named = question.file.empty() ? cause.file : question.file;
    report.file = named.empty() ? named : absolute_from(named, machine.working_directory);
    report.file_is_here = library && is_here(report.file);
    auto finding = finding_of(cause, here);
    add_consequences(report, finding);
    say_confidence(question, report, finding);
    if (report.file_is_here) {
      judge_file(question, facts, machine, report);
      // What is read of the file itself is better than what a message says of it.
      finding.severity = finding::has_error(report.diagnosis->findings) || report.claim_holds == false
                             ? Severity::note
                             : finding.severity;
      if (report.claim_holds == false) {
        report.findings.push_back(contradicted(report));
      }
    }
    report.findings.push_back(std::move(finding));
  }
  finding::sort_findings(report.findings);
  report.headline = headline_of(report, finding::LanguageOfText::en);
  report.headline_chinese = headline_of(report, finding::LanguageOfText::zh);
  report.facts = fact_lines_of(question, report, scan);
  return report;
}

nlohmann::json to_json(const MessageReport& report) {
  auto findings = nlohmann::json::array();
  for (const auto& finding : report.findings) {
    findings.push_back(finding::to_json(finding));
  }
  auto clues = nlohmann::json::array();
  for (const auto& clue : report.clues) {
    clues.push_back(to_json(clue));
  }
  auto facts = nlohmann::json::array();
  for (const auto& [name, value, origin] : report.facts) {
    facts.push_back({{"name", name}, {"value", value}, {"origin", origin}});
  }
  nlohmann::json document = {{"schema", 1},
                             {"verdict", "message"},
                             {"headline", report.headline},
                             {"file", report.file.string()},
                             {"file_is_here", report.file_is_here},
                             {"claim_holds", nullptr},
                             {"clues", std::move(clues)},
                             {"findings", std::move(findings)},
                             {"facts", std::move(facts)},
                             {"diagnosis", nullptr}};
  if (report.claim_holds) {
    document["claim_holds"] = *report.claim_holds;
  }
  if (report.diagnosis) {
    document["diagnosis"] = to_json(*report.diagnosis);
  }
  return document;
}

} // namespace dcuop::doctor
