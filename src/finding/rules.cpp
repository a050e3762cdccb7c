#include "rules.hpp"

#include <algorithm>
#include <stdexcept>

namespace dcuop::finding {
namespace {

std::vector<Rule> all_rules() {
  std::vector<Rule> table;
  for (const auto& family :
       {file_rules(), symbol_rules(), undefined_rules(), device_rules(), environment_rules(),
        torch_cache_rules(), live_rules(), message_rules(), superkernel_rules(), superkernel_build_rules(),
        ascend_sync_rules(), ascend_memory_rules(), ascend_host_rules(), binding_rules(), kernel_rules(),
        grid_rules(), release_rules(), reading_rules()}) {
    table.insert(table.end(), family.begin(), family.end());
  }
  std::sort(table.begin(), table.end(), [](const Rule& a, const Rule& b) { return a.id < b.id; });
  return table;
}

std::string filled(std::string_view text, const Values& values, std::string_view language) {
  std::string result;
  while (!text.empty()) {
    const auto open = text.find('{');
    const auto close = text.find('}', open == std::string_view::npos ? 0 : open);
    if (open == std::string_view::npos || close == std::string_view::npos) {
      break;
    }
    result += text.substr(0, open);
    const auto name = std::string(text.substr(open + 1, close - open - 1));
    auto value = values.find(name + std::string(language));
    if (value == values.end()) {
      value = values.find(name);
    }
    if (value == values.end()) {
      throw std::logic_error("no value for {" + name + "} of a rule's text");
    }
    result += value->second;
    text.remove_prefix(close + 1);
  }
  return result.append(text);
}

} // namespace

const std::vector<Rule>& rules() {
  static const std::vector<Rule> table = all_rules();
  return table;
}

const Rule* find_rule(std::string_view id) {
  const auto& table = rules();
  const auto rule = std::lower_bound(table.begin(), table.end(), id,
                                     [](const Rule& a, std::string_view b) { return a.id < b; });
  return rule != table.end() && rule->id == id ? &*rule : nullptr;
}

Finding make_finding(std::string_view id, const Values& values) {
  const Rule* rule = find_rule(id);
  if (rule == nullptr) {
    throw std::logic_error("no rule " + std::string(id));
  }
  Finding finding;
  finding.rule = id;
  finding.severity = rule->severity;
  finding.summary = filled(rule->summary.en, values, {});
  finding.cause = filled(rule->cause.en, values, {});
  finding.chinese.summary = filled(rule->summary.zh, values, ":zh");
  finding.chinese.cause = filled(rule->cause.zh, values, ":zh");
  if (const auto file = values.find("file"); file != values.end()) {
    finding.subject = file->second;
  }
  return finding;
}

} // namespace dcuop::finding
