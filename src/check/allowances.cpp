// DCU99x: what the sources allow, and what of them was not read.
#include <algorithm>

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"
#include "python_text.hpp"
#include "sources.hpp"

namespace dcuop::check {
namespace {

struct Allowance {
  std::size_t line = 0;
  std::vector<std::string> rules;
  std::string reason;
  bool alone = false;      ///< nothing but the comment stands on its line: it is about the next one
  std::size_t reaches = 0; ///< the last line that it may be about then
  bool used = false;
};

constexpr std::string_view keyword = "allow(";

/// Between an allowance and what it is about.
bool is_passed_over(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text.empty() || text.starts_with("//") || text.starts_with("#") || text.starts_with("template") ||
         text.starts_with("*");
}

/// What looks like an allowance, and why it is none.
struct Slip {
  std::size_t line = 0;
  std::string what, what_zh;
  bool is_ascend = false; ///< it names a rule of `dcuop superkernel check`
};

struct Comments {
  std::vector<Allowance> allowances;
  std::vector<Slip> slips;
};

const finding::Rule* rule_called(std::string_view name) {
  const auto& rules = finding::rules();
  const auto rule = std::find_if(rules.begin(), rules.end(), [name](const finding::Rule& one) {
    return one.id == name || one.name == name;
  });
  return rule == rules.end() ? nullptr : &*rule;
}

void add_unknown(std::size_t line, const std::string& name, Comments& into) {
  std::vector<std::string> known;
  for (const finding::Rule& rule : finding::rules()) {
    known.emplace_back(rule.id);
    known.emplace_back(rule.name);
  }
  const auto near = nearest(name, known);
  into.slips.push_back(
      {line, name + " is no rule, so it is not allowed" + (near ? "; did you mean " + *near + "?" : ""),
       name + " 不是规则，因此没有允许任何问题" + (near ? "；是否指 " + *near + "？" : ""),
       name.starts_with("DCU8")});
}

/// Behind "dcuop:": alow(DCU914), allow DCU914, allow(DCU914 and no end. Prose may begin so too.
void add_slip(std::size_t line, std::string_view text, Comments& into) {
  const auto end = std::find_if_not(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
  });
  const std::string word(text.begin(), end);
  std::string_view rest = text.substr(word.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  const bool names_rules = rest.starts_with("DCU") || rest.starts_with("(");
  const auto near = word == "allow" ? std::optional(word) : nearest(word, std::vector<std::string>{"allow"});
  if (!names_rules || !near) {
    return;
  }
  const bool is_ascend = contains(rest, "DCU8");
  if (word != "allow") {
    into.slips.push_back({line, word + " allows nothing; did you mean allow(RULE) reason?",
                          word + " 不起作用；是否指 allow(RULE) 原因？", is_ascend});
  } else {
    into.slips.push_back({line, "allow has no parentheses around its rules; did you mean allow(RULE) reason?",
                          "allow 的规则没有用括号括起；是否指 allow(RULE) 原因？", is_ascend});
  }
}

void read_allowance(const File& file, Offset begin, Offset end, Comments& into) {
  const std::string_view comment = std::string_view(file.text).substr(begin, end - begin);
  const auto begins = comment.find("dcuop:");
  // Only what a comment begins with: prose may speak of it.
  if (begins == std::string_view::npos ||
      comment.substr(0, begins).find_first_not_of("/*# \t!<") != std::string_view::npos) {
    return;
  }
  const auto at = comment.find_first_not_of(' ', begins + std::string_view("dcuop:").size());
  if (at == std::string_view::npos) {
    return;
  }
  const std::size_t line = file.place(begin + static_cast<Offset>(at)).line;
  const auto close = comment.find(')', at);
  if (!comment.substr(at).starts_with(keyword) || close == std::string_view::npos) {
    add_slip(line, comment.substr(at), into);
    return;
  }
  Allowance allowance;
  allowance.line = line;
  std::string rule;
  for (const char c : std::string(comment.substr(at + keyword.size(), close - at - keyword.size())) + ",") {
    if (c == ',' || c == ' ') {
      if (rule_called(rule) != nullptr) {
        allowance.rules.push_back(rule);
      } else if (!rule.empty()) {
        add_unknown(line, rule, into);
      }
      rule.clear();
    } else {
      rule += c;
    }
  }
  std::string_view reason = comment.substr(close + 1);
  reason = reason.substr(0, reason.find("*/"));
  while (!reason.empty() && std::string_view(" \t:-.\r\n").find(reason.front()) != std::string_view::npos) {
    reason.remove_prefix(1);
  }
  while (!reason.empty() && static_cast<unsigned char>(reason.back()) <= ' ') {
    reason.remove_suffix(1);
  }
  allowance.reason = reason;
  const auto first = file.line_text(allowance.line).find_first_not_of(" \t");
  const auto start = file.place(begin);
  allowance.alone =
      start.line == allowance.line && first != std::string_view::npos && start.column == first + 1;
  allowance.reaches = allowance.line + 1;
  while (is_passed_over(file.line_text(allowance.reaches)) && allowance.reaches < file.line_starts.size()) {
    ++allowance.reaches;
  }
  if (!allowance.rules.empty()) {
    into.allowances.push_back(std::move(allowance));
  } else if (comment.substr(at + keyword.size(), close - at - keyword.size()).find_first_not_of(" ,") ==
             std::string_view::npos) {
    into.slips.push_back({line, "allow() names no rule; did you mean allow(RULE) reason?",
                          "allow() 没有指明规则；是否指 allow(RULE) 原因？", false});
  }
}

bool names(const Allowance& allowance, const finding::Finding& finding) {
  const finding::Rule* known = finding::find_rule(finding.rule);
  return std::any_of(allowance.rules.begin(), allowance.rules.end(), [&](const std::string& rule) {
    return rule == finding.rule || (known != nullptr && rule == known->name);
  });
}

/// The line that it is about: its own, or the next that is no comment.
bool covers(const Allowance& allowance, const finding::Finding& finding) {
  return names(allowance, finding) &&
         (finding.line == allowance.line ||
          (allowance.alone && finding.line > allowance.line && finding.line <= allowance.reaches));
}

/// Those of one file.
struct Allowed {
  std::filesystem::path path;
  std::vector<Allowance> all;
  std::vector<Slip> slips;
  bool is_judged = true; ///< one that is of no use is said
  bool is_whole = false; ///< they are about the operator too, for findings that have no line
};

/// A text that is no C++ source, whose comments begin with #.
Allowed allowed_in_text(const std::filesystem::path& path) {
  Allowed allowed{path, {}, {}, true, true};
  File file;
  file.path = path;
  file.text = read_file(path).value_or("");
  file.line_starts = {0};
  for (std::size_t at = file.text.find('\n'); at != std::string::npos; at = file.text.find('\n', at + 1)) {
    file.line_starts.push_back(static_cast<Offset>(at + 1));
  }
  Comments comments;
  for (const auto& [begin, end] : python_comments(file.text)) {
    read_allowance(file, static_cast<Offset>(begin), static_cast<Offset>(end), comments);
  }
  allowed.all = std::move(comments.allowances);
  allowed.slips = std::move(comments.slips);
  return allowed;
}

std::vector<Allowed> allowed_in(const source::Model& model, const Request& request, Family family) {
  std::vector<Allowed> files;
  for (const auto& file : model.files()) {
    Allowed allowed{file->path, {}, {}, !file->is_included, false};
    Comments comments;
    for (const auto& comment : file->masked.comments) {
      read_allowance(*file, comment.begin, comment.end, comments);
    }
    allowed.all = std::move(comments.allowances);
    allowed.slips = std::move(comments.slips);
    files.push_back(std::move(allowed));
  }
  if (request.release || family == Family::ascend) { // else nothing in them is judged
    for (const auto& path : request.files) {
      if (path.extension() == ".py") {
        files.push_back(allowed_in_text(path));
      }
    }
    if (!request.manifest.empty()) {
      files.push_back(allowed_in_text(request.manifest));
    }
  }
  return files;
}

Allowance* allowing(std::map<std::string, Allowed*>& by_path, std::vector<Allowed>& files,
                    const finding::Finding& finding) {
  if (const auto here = by_path.find(finding.subject); here != by_path.end()) {
    for (Allowance& allowance : here->second->all) {
      if (covers(allowance, finding)) {
        return &allowance;
      }
    }
  }
  for (Allowed& file : files) {
    for (Allowance& allowance : file.all) {
      if (finding.line == 0 && file.is_whole && names(allowance, finding)) {
        return &allowance;
      }
    }
  }
  return nullptr;
}

/// `dcuop superkernel check` and `dcuop check` each leave what the other one finds alone.
bool concerns(const Allowance& allowance, Family family) {
  return std::any_of(allowance.rules.begin(), allowance.rules.end(), [family](const std::string& name) {
    const finding::Rule* rule = rule_called(name);
    const bool ascend = rule != nullptr && rule->id.starts_with("DCU8");
    return ascend == (family == Family::ascend);
  });
}

} // namespace

std::size_t apply_allowances(const source::Model& model, const Request& request, Family family,
                             Findings& findings) {
  std::vector<Allowed> files = allowed_in(model, request, family);
  for (Allowed& file : files) {
    std::erase_if(file.all, [family](const Allowance& one) { return !concerns(one, family); });
  }
  std::map<std::string, Allowed*> by_path;
  for (Allowed& file : files) {
    by_path[file.path.string()] = &file;
  }
  const std::size_t before = findings.all.size();
  findings.remove_if([&](const finding::Finding& finding) {
    Allowance* allowance = allowing(by_path, files, finding);
    if (allowance != nullptr) {
      allowance->used = true;
    }
    return allowance != nullptr && !allowance->reason.empty();
  });
  const std::size_t allowed = before - findings.all.size();
  for (const Allowed& file : files) {
    for (const Slip& slip : file.slips) {
      if (file.is_judged && slip.is_ascend == (family == Family::ascend)) {
        findings.add("DCU993", file.path, slip.line, {{"what", slip.what}, {"what:zh", slip.what_zh}});
      }
    }
    for (const Allowance& allowance : file.all) {
      std::string rules;
      for (const std::string& rule : allowance.rules) {
        rules += (rules.empty() ? "" : ", ") + rule;
      }
      if (allowance.used && allowance.reason.empty()) {
        auto& added = findings.add("DCU990", file.path, allowance.line, {{"rules", rules}});
        added.fix = "dcuop: allow(" + rules + ") and why it is right here";
        added.chinese.fix = "dcuop: allow(" + rules + ") 并写明此处为何正确";
      } else if (!allowance.used && file.is_judged) {
        findings.add("DCU991", file.path, allowance.line, {{"rules", rules}});
      }
    }
  }
  return allowed;
}

namespace {

void add_unread(const std::filesystem::path& path, const std::string& fault, Findings& findings) {
  auto& added = findings.add("DCU992", path, 0,
                             {{"what", "it was not read: " + fault}, {"what:zh", "没有读取：" + fault}});
  added.severity = finding::Severity::warning;
  added.fix = "make it a readable UTF-8 text of at most 8 MiB, or name the other files alone";
  added.chinese.fix = "将其改为可读的、不超过 8 MiB 的 UTF-8 文本，或只指定其他文件";
}

} // namespace

void check_reading(const Request& request, const source::Model& model, Findings& findings) {
  for (const auto& path : request.files) {
    if (path.extension() == ".py" && !read_file(path)) { // no file of the model
      add_unread(path, "it cannot be read", findings);
    }
  }
  for (const auto& file : model.files()) {
    if (file->is_included) {
      continue;
    }
    if (!file->fault.empty()) {
      add_unread(file->path, file->fault, findings);
      continue;
    }
    if (!file->not_understood.empty()) {
      const auto percent = file->damage() * 100;
      const std::size_t places = file->not_understood.size();
      auto& added = findings.add("DCU992", *file, file->not_understood.front().first,
                                 {{"what", "the parser could not place " + std::to_string(places) +
                                               (places == 1 ? " part" : " parts") + " of it"},
                                  {"what:zh", "有 " + std::to_string(places) + " 处无法解析"}});
      added.severity = percent > 5 ? finding::Severity::warning : finding::Severity::note;
    }
    if (!file->masked.unread.empty()) {
      findings.add("DCU992", *file, file->masked.unread.front(),
                   {{"what", "no configuration was found that compiles " +
                                 std::to_string(file->masked.unread.size()) + " of its #if branches"},
                    {"what:zh", "有 " + std::to_string(file->masked.unread.size()) +
                                    " 个 #if 分支没有找到可编译它的配置"}});
    }
  }
}

} // namespace dcuop::check
