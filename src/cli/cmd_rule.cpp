// dcuop rule: what a finding's id means.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "command.hpp"

#include "dcuop/finding/finding.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::cli {
namespace {

using finding::LanguageOfText;
using finding::Rule;

nlohmann::json to_json(const Rule& rule) {
  const auto both = [](const finding::Text& text) {
    return nlohmann::json{{"en", text.en}, {"zh", text.zh}};
  };
  return {{"id", rule.id},
          {"name", rule.name},
          {"severity", finding::to_string(rule.severity)},
          {"title", both(rule.title)},
          {"how", both(rule.how)},
          {"causes", both(rule.causes)},
          {"fixes", both(rule.fixes)},
          {"bad", rule.bad},
          {"good", rule.good},
          {"references", rule.references}};
}

/// By id in any case, or by name.
const Rule& wanted_rule(const std::string& asked) {
  std::string id = asked;
  std::transform(id.begin(), id.end(), id.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  std::vector<std::string> known;
  for (const auto& rule : finding::rules()) {
    if (rule.id == id || rule.name == asked) {
      return rule;
    }
    known.emplace_back(rule.id);
    known.emplace_back(rule.name);
  }
  const auto near_id = nearest(id, known);
  const auto near_name = near_id ? near_id : nearest(asked, known);
  throw Error(ExitCode::usage,
              "there is no rule " + asked + (near_name ? "; did you mean " + *near_name + "?" : ""),
              "dcuop rule lists them all");
}

std::string list_line(const Rule& rule, std::size_t name_width, LanguageOfText language) {
  std::string name(rule.name);
  name.resize(name_width, ' ');
  const auto title = language == LanguageOfText::zh ? rule.title.zh : rule.title.en;
  auto severity = finding::to_string(rule.severity);
  severity.resize(std::string_view("warning").size(), ' ');
  return std::string(rule.id) + "  " + severity + "  " + name + "  " + std::string(title);
}

ExitCode run(Context& context, const std::string& asked, bool page) {
  const auto language = context.chinese() ? LanguageOfText::zh : LanguageOfText::en;
  auto& terminal = context.terminal;
  nlohmann::json document = {{"schema", 1}};
  if (!asked.empty()) {
    const auto& rule = wanted_rule(asked);
    document["rule"] = to_json(rule);
    auto text = page ? finding::markdown(rule) : finding::long_form(rule, language);
    text.erase(text.find_last_not_of('\n') + 1);
    terminal.answer(context.json() ? json_text(document, 2) : text);
    return ExitCode::ok;
  }
  std::size_t name_width = 0;
  for (const auto& rule : finding::rules()) {
    document["rules"].push_back(to_json(rule));
    name_width = std::max(name_width, rule.name.size());
  }
  if (context.json()) {
    terminal.answer(json_text(document, 2));
    return ExitCode::ok;
  }
  for (const auto& rule : finding::rules()) {
    terminal.answer(list_line(rule, name_width, language));
  }
  return ExitCode::ok;
}

} // namespace

void add_rule(Commands& commands) {
  auto id = std::make_shared<std::string>();
  const Subcommand command = commands.add("rule", "Explain a finding's id, or list them all",
                                          "  dcuop rule DCU210\n"
                                          "  dcuop rule DCU301 --lang zh\n"
                                          "  dcuop rule");
  command.option("id", *id, "The rule's id (DCU210) or name (other-torch)").type_name("ID");
  auto page = std::make_shared<bool>(false);
  command.flag("--markdown", *page, "With an id: as the page of docs/rules");
  commands.run(command, [id, page](Context& context) { return run(context, *id, *page); });
}

} // namespace dcuop::cli
