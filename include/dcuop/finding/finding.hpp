#pragma once
// Findings and the one table of rules behind doctor, check and superkernel.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace dcuop::finding {

enum class Severity { note, warning, error };
enum class LanguageOfText { en, zh };

/// A line of evidence: what was read ("offered"), and what it said.
struct Evidence {
  std::string label; ///< "wanted by", "offered", "so", "searched"
  std::string text;
};

/// What is said of a finding, in one language.
struct Words {
  std::string summary; ///< a clause that goes behind a verdict: "it was built for another PyTorch"
  std::string cause;
  std::string fix;
};

struct Finding {
  std::string rule; ///< "DCU210"; must be in the table
  Severity severity = Severity::error;
  std::string cause;   ///< one sentence, no full stop, names the things
  std::string subject; ///< the file or op that it is about
  std::vector<Evidence> evidence;
  std::string fix;      ///< a command where possible; may be empty for a note
  std::string summary;  ///< as in Words
  Words chinese;        ///< empty parts: there is English only
  std::size_t line = 0; ///< in the subject, when it is a text; 0: none
  std::size_t column = 0;
};

/// One rule, in both languages. Texts are written for the table; code only fills in names and paths.
struct Text {
  std::string_view en, zh;
};
struct Rule {
  std::string_view id;
  Severity severity = Severity::error;
  std::string_view name;             ///< short-kebab-name, also for SARIF
  Text title;                        ///< what it means, one sentence
  Text summary;                      ///< Words::summary, with {placeholders}
  Text cause;                        ///< Finding::cause, with {placeholders}
  Text how;                          ///< how it is found
  Text causes;                       ///< typical causes, one a line
  Text fixes;                        ///< one a line
  std::string_view references;       ///< links, one a line
  std::string_view bad = {};         ///< code that has the fault, where the rule is about sources
  std::string_view good = {};        ///< the same without it
  std::string_view language = "cpp"; ///< of both, as Markdown names it
};

[[nodiscard]] const std::vector<Rule>& rules(); ///< sorted by id
[[nodiscard]] const Rule* find_rule(std::string_view id);
[[nodiscard]] std::string long_form(const Rule& rule,
                                    LanguageOfText language); ///< what `dcuop rule ID` prints
/// The same as a page of docs/rules, in both languages.
[[nodiscard]] std::string markdown(const Rule& rule);
[[nodiscard]] std::string to_string(Severity severity);

/// Placeholder -> value; "<placeholder>:zh" holds the Chinese one where a value is a phrase.
using Values = std::map<std::string, std::string, std::less<>>;

/// A finding of the rule `id` with its texts filled in, in both languages; without evidence and fix. Throws
/// std::logic_error for an id that is not in the table, or a placeholder without a value.
[[nodiscard]] Finding make_finding(std::string_view id, const Values& values);

/// A finding's words; those that have no Chinese stay English.
[[nodiscard]] Words words_of(const Finding& finding, LanguageOfText language);
/// Puts `argument` (as a shell takes it) where the fix says `dcuop build OP`. An empty one: it is unknown which
/// operator that is, and the fix says what OP stands for.
void name_operator(Finding& finding, const std::string& argument);
/// Whether name_operator() would change the fix.
[[nodiscard]] bool names_no_operator(const Finding& finding);
/// The label of a row of evidence: "wanted by" -> "需要者".
[[nodiscard]] std::string label_text(std::string_view label, LanguageOfText language);

/// Most severe first, then the order given.
void sort_findings(std::vector<Finding>& findings);
[[nodiscard]] bool has_error(const std::vector<Finding>& findings);
[[nodiscard]] nlohmann::json to_json(const Finding& finding);
/// A SARIF 2.1.0 log with one run; subjects that are absolute paths become its locations.
[[nodiscard]] nlohmann::json to_sarif(const std::vector<Finding>& findings, std::string_view tool_version);

} // namespace dcuop::finding
