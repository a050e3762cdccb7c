#pragma once
// Findings and facts for people: aligned rows on a terminal or in a log.

#include <string>
#include <vector>

#include "dcuop/doctor/doctor.hpp"
#include "dcuop/finding/finding.hpp"

namespace dcuop {
class Terminal;
class Environment;
} // namespace dcuop

namespace dcuop::cli {

/// Columns that a text takes: East Asian wide characters take two (Unicode TR11, the blocks that the texts
/// use).
[[nodiscard]] std::size_t display_width(const std::string& text);

struct ReportStyle {
  finding::LanguageOfText language = finding::LanguageOfText::en;
  bool notes = false; ///< notes too
  std::string home;   ///< written as ~ where it occurs
};

void print_facts(Terminal& terminal, const std::vector<doctor::FactLine>& facts, const ReportStyle& style);
void print_findings(Terminal& terminal, const std::vector<finding::Finding>& findings,
                    const ReportStyle& style);
/// "1 error, 0 warnings, 2 notes (--verbose)".
[[nodiscard]] std::string count_line(const std::vector<finding::Finding>& findings, const ReportStyle& style);

} // namespace dcuop::cli
