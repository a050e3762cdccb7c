// Findings for programs: JSON, and SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/).
#include <algorithm>

#include <nlohmann/json.hpp>

#include "dcuop/finding/finding.hpp"

namespace dcuop::finding {
namespace {

using nlohmann::json;

std::string_view sarif_level(Severity severity) {
  switch (severity) {
  case Severity::error:
    return "error";
  case Severity::warning:
    return "warning";
  case Severity::note:
    break;
  }
  return "note";
}

json sarif_rule(const Rule& rule) {
  json entry = {{"id", rule.id},
                {"name", rule.name},
                {"shortDescription", {{"text", rule.title.en}}},
                {"fullDescription", {{"text", rule.how.en}}},
                {"help",
                 {{"text", std::string("Typical causes:\n") + std::string(rule.causes.en) + "\nFixes:\n" +
                               std::string(rule.fixes.en)}}},
                {"defaultConfiguration", {{"level", sarif_level(rule.severity)}}}};
  const auto link = rule.references.substr(0, rule.references.find('\n'));
  if (link.starts_with("https://")) {
    entry["helpUri"] = link;
  }
  return entry;
}

/// RFC 3986: everything that is neither unreserved nor a path separator is percent-encoded.
std::string file_uri(const std::string& path) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string uri = "file://";
  for (const char character : path) {
    const auto byte = static_cast<unsigned char>(character);
    const bool plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= 'a' && byte <= 'z') ||
                       std::string_view("-._~/").find(character) != std::string_view::npos;
    if (plain) {
      uri += character;
    } else {
      uri += '%';
      uri += hex[byte >> 4U];
      uri += hex[byte & 15U];
    }
  }
  return uri;
}

json sarif_result(const Finding& finding) {
  std::string message = finding.cause;
  for (const auto& [label, text] : finding.evidence) {
    message.append("\n").append(label).append(": ").append(text);
  }
  if (!finding.fix.empty()) {
    message.append("\nfix: ").append(finding.fix);
  }
  json result = {
      {"ruleId", finding.rule}, {"level", sarif_level(finding.severity)}, {"message", {{"text", message}}}};
  if (const Rule* rule = find_rule(finding.rule); rule != nullptr) {
    result["ruleIndex"] = rule - rules().data();
  }
  if (finding.subject.starts_with('/')) {
    json place = {{"artifactLocation", {{"uri", file_uri(finding.subject)}}}};
    if (finding.line > 0) {
      place["region"] = {{"startLine", finding.line},
                         {"startColumn", std::max<std::size_t>(1, finding.column)}};
    }
    result["locations"] = json::array({{{"physicalLocation", std::move(place)}}});
  }
  return result;
}

} // namespace

json to_json(const Finding& finding) {
  json evidence = json::array();
  for (const auto& [label, text] : finding.evidence) {
    evidence.push_back({{"label", label}, {"text", text}});
  }
  const Rule* rule = find_rule(finding.rule);
  json document = {{"rule", finding.rule},
                   {"name", rule != nullptr ? rule->name : ""},
                   {"severity", to_string(finding.severity)},
                   {"summary", finding.summary},
                   {"cause", finding.cause},
                   {"subject", finding.subject},
                   {"evidence", std::move(evidence)},
                   {"fix", finding.fix}};
  if (finding.line > 0) {
    document["line"] = finding.line;
    document["column"] = finding.column;
  }
  return document;
}

json to_sarif(const std::vector<Finding>& findings, std::string_view tool_version) {
  json driver_rules = json::array();
  for (const auto& rule : rules()) {
    driver_rules.push_back(sarif_rule(rule));
  }
  json results = json::array();
  for (const auto& finding : findings) {
    results.push_back(sarif_result(finding));
  }
  json run = {{"tool", {{"driver", {{"name", "dcuop"}, {"version", tool_version}, {"rules", driver_rules}}}}},
              {"invocations", json::array({{{"executionSuccessful", true}}})},
              {"results", results}};
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", json::array({run})}};
}

} // namespace dcuop::finding
