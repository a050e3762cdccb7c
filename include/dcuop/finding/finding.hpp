#pragma once
// Findings and the one table of rules behind doctor, check and superkernel.

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

struct Finding {
  std::string rule;               ///< "DCU210"; must be in the table
  Severity severity = Severity::error;
  std::string cause;              ///< one sentence, no full stop, names the things
  std::string subject;            ///< the file or op that it is about
  std::vector<Evidence> evidence;
  std::string fix;                ///< a command where possible; may be empty for a note
};

/// One rule, in both languages. Texts are written for the table; code only fills in names and paths.
struct Text {
  std::string_view en, zh;
};
struct Rule {
  std::string_view id;
  Severity severity = Severity::error;
  std::string_view name;  ///< short-kebab-name, also for SARIF
  Text title;             ///< what it means, one sentence
  Text how;               ///< how it is found
  Text causes;            ///< typical causes, one a line
  Text fixes;             ///< one a line
  std::string_view references; ///< links, one a line
};

[[nodiscard]] const std::vector<Rule>& rules();        ///< sorted by id
[[nodiscard]] const Rule* find_rule(std::string_view id);
[[nodiscard]] std::string long_form(const Rule& rule, LanguageOfText language); ///< what `dcuop rule ID` prints
[[nodiscard]] std::string to_string(Severity severity);

/// Most severe first, then the order given.
void sort_findings(std::vector<Finding>& findings);
[[nodiscard]] nlohmann::json to_json(const Finding& finding);
[[nodiscard]] nlohmann::json to_sarif(const std::vector<Finding>& findings, std::string_view tool_version);

} // namespace dcuop::finding
