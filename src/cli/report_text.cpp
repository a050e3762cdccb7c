#include "report_text.hpp"

#include <algorithm>

#include "dcuop/support/terminal.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::cli {
namespace {

using finding::Severity;

std::string padded(const std::string& text, std::size_t width) {
  const auto used = display_width(text);
  return used < width ? text + std::string(width - used, ' ') : text;
}

std::string with_short_home(std::string text, const std::string& home) {
  if (home.size() > 1) {
    const auto prefix = home + "/";
    for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at + 2)) {
      text.replace(at, prefix.size(), "~/");
    }
  }
  return text;
}

Style style_of(Severity severity) {
  switch (severity) {
  case Severity::error:
    return Style::red;
  case Severity::warning:
    return Style::yellow;
  case Severity::note:
    break;
  }
  return Style::dim;
}

void print_row(Terminal& terminal, const std::string& label, const std::string& text, std::size_t width) {
  auto head = label;
  for (const auto& line : split(text, '\n')) {
    terminal.answer("     " + padded(head, width) + "  " + line);
    head.clear();
  }
}

void print_finding(Terminal& terminal, const finding::Finding& finding, const ReportStyle& style) {
  const auto words = words_of(finding, style.language);
  terminal.answer("  " + terminal.styled("[" + finding.rule + "]", style_of(finding.severity)) + " " +
                  with_short_home(words.cause, style.home));
  auto rows = finding.evidence;
  if (!words.fix.empty()) {
    rows.push_back({"fix", words.fix});
  }
  std::size_t width = 0;
  for (auto& row : rows) {
    row.label = label_text(row.label, style.language);
    width = std::max(width, display_width(row.label));
  }
  std::string last;
  for (const auto& row : rows) {
    print_row(terminal, row.label == last ? "" : row.label, with_short_home(row.text, style.home), width);
    last = row.label;
  }
}

} // namespace

std::size_t display_width(const std::string& text) {
  std::size_t columns = 0;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if ((byte & 0xC0U) != 0x80U) {
      // Lead bytes from E3 on begin U+3000 and above: CJK and full-width forms; below lie Latin and arrows.
      columns += byte >= 0xE3 ? 2 : 1;
    }
  }
  return columns;
}

void print_facts(Terminal& terminal, const std::vector<doctor::FactLine>& facts, const ReportStyle& style) {
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  for (const auto& fact : facts) {
    constexpr std::size_t widest = 56; // longer values push their origin out, not everybody's
    name_width = std::max(name_width, display_width(fact.name));
    value_width =
        std::max(value_width, std::min(widest, display_width(with_short_home(fact.value, style.home))));
  }
  for (const auto& fact : facts) {
    auto line =
        padded(fact.name, name_width) + "  " + padded(with_short_home(fact.value, style.home), value_width);
    if (!fact.origin.empty()) {
      line += "  " + terminal.styled(with_short_home(fact.origin, style.home), Style::dim);
    }
    terminal.answer(line);
  }
}

void print_findings(Terminal& terminal, const std::vector<finding::Finding>& findings,
                    const ReportStyle& style) {
  for (const auto& finding : findings) {
    if (style.notes || finding.severity != Severity::note) {
      print_finding(terminal, finding, style);
    }
  }
}

std::string count_line(const std::vector<finding::Finding>& findings, const ReportStyle& style) {
  const auto count = [&findings](Severity severity) {
    return static_cast<std::uint64_t>(
        std::count_if(findings.begin(), findings.end(),
                      [severity](const auto& finding) { return finding.severity == severity; }));
  };
  const auto notes = count(Severity::note);
  const std::string hidden = notes > 0 && !style.notes ? " (--verbose)" : "";
  if (style.language == finding::LanguageOfText::zh) {
    return std::to_string(count(Severity::error)) + " 个错误，" + std::to_string(count(Severity::warning)) +
           " 个警告，" + std::to_string(notes) + " 个提示" + hidden;
  }
  return counted(count(Severity::error), "error") + ", " + counted(count(Severity::warning), "warning") +
         ", " + counted(notes, "note") + hidden;
}

} // namespace dcuop::cli
