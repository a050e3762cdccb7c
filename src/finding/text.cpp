// Findings and rules for people.
#include <algorithm>
#include <array>
#include <cctype>

#include "dcuop/finding/finding.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::finding {
namespace {

std::string_view in(const Text& text, LanguageOfText language) {
  return language == LanguageOfText::zh && !text.zh.empty() ? text.zh : text.en;
}

void append_section(std::string& into, std::string_view heading, std::string_view lines) {
  if (lines.empty()) {
    return;
  }
  into.append("\n").append(heading).append("\n");
  for (const auto& line : split(lines, '\n')) {
    into.append("  ").append(line).append("\n");
  }
}

/// As append_section, empty lines and indentation kept.
void append_code(std::string& into, std::string_view heading, std::string_view code) {
  if (code.empty()) {
    return;
  }
  into.append("\n").append(heading).append("\n");
  for (std::size_t at = 0; at <= code.size();) {
    const std::size_t end = std::min(code.find('\n', at), code.size());
    into.append(end > at ? "  " : "").append(code.substr(at, end - at)).append("\n");
    at = end + 1;
  }
}

std::string_view severity_text(Severity severity, LanguageOfText language) {
  const bool zh = language == LanguageOfText::zh;
  switch (severity) {
  case Severity::error:
    return zh ? "错误" : "error";
  case Severity::warning:
    return zh ? "警告" : "warning";
  case Severity::note:
    break;
  }
  return zh ? "提示" : "note";
}

struct Label {
  std::string_view en, zh;
};
constexpr std::array labels = {
    Label{"wanted by", "需要者"},    Label{"wanted", "需要"},
    Label{"offered", "提供"},        Label{"so", "因此"},
    Label{"searched", "已查找"},     Label{"fix", "修复"},
    Label{"chain", "依赖链"},        Label{"nearby", "附近有"},
    Label{"rejected", "被跳过"},     Label{"also", "另有"},
    Label{"devices", "设备"},        Label{"code for", "设备代码"},
    Label{"file", "文件"},           Label{"loader says", "加载器说"},
    Label{"asked", "已询问"},        Label{"expected", "期望"},
    Label{"origin", "来源"},         Label{"torch", "torch"},
    Label{"built with", "编译所用"}, Label{"no device", "没有设备"},
    Label{"set", "已设置"},          Label{"loaded", "已加载"},
    Label{"message says", "消息说"}, Label{"here", "本机"},
    Label{"confidence", "可信度"},   Label{"followed by", "随后"},
    Label{"code", "代码"},           Label{"operator", "算子"},
    Label{"enters", "进入"},         Label{"source", "源码"},
    Label{"option", "选项"},
};

/// As the table and the checks write it.
constexpr std::string_view build_of_any = "dcuop build OP";

std::size_t find_build(std::string_view text, std::size_t from) {
  for (auto at = text.find(build_of_any, from); at != std::string_view::npos;
       at = text.find(build_of_any, at + 1)) {
    const auto end = at + build_of_any.size();
    if (end == text.size() || std::isalnum(static_cast<unsigned char>(text[end])) == 0) {
      return at;
    }
  }
  return std::string_view::npos;
}

void put_operator(std::string& text, const std::string& argument, const std::string& legend) {
  const auto command = std::string("dcuop build ") + (argument.empty() ? "OP" : argument);
  bool any = false;
  for (auto at = find_build(text, 0); at != std::string::npos; at = find_build(text, at + command.size())) {
    text.replace(at, build_of_any.size(), command);
    any = true;
  }
  if (any && argument.empty()) {
    text += legend;
  }
}

/// The library that the finding is about; empty: it is about something else.
std::string library_of(const Finding& finding) {
  const auto name = finding.subject.substr(finding.subject.rfind('/') + 1);
  return name.find(".so") == std::string::npos ? std::string() : name;
}

} // namespace

std::string to_string(Severity severity) {
  return std::string(severity_text(severity, LanguageOfText::en));
}

std::string long_form(const Rule& rule, LanguageOfText language) {
  const bool zh = language == LanguageOfText::zh;
  std::string text;
  text.append(rule.id).append(" ").append(rule.name).append(" (");
  text.append(severity_text(rule.severity, language)).append(")\n");
  text.append(in(rule.title, language)).append("\n");
  append_section(text, zh ? "如何发现" : "How it is found", in(rule.how, language));
  append_section(text, zh ? "常见原因" : "Typical causes", in(rule.causes, language));
  append_section(text, zh ? "修复" : "Fixes", in(rule.fixes, language));
  if (find_build(in(rule.fixes, language), 0) != std::string_view::npos) {
    text.append(zh ? "  OP：算子的目录，或其在工作区中的名称\n"
                   : "  OP: the operator's directory, or its name in the workspace\n");
  }
  append_code(text, zh ? "有此问题的代码" : "Code that has the fault", rule.bad);
  append_code(text, zh ? "正确的代码" : "The same without it", rule.good);
  append_section(text, zh ? "参考" : "References", rule.references);
  return text;
}

std::string markdown(const Rule& rule) {
  std::string text = "# " + std::string(rule.id) + " " + std::string(rule.name) + "\n";
  const auto section = [&text](std::string_view heading, std::string_view lines, std::string_view before) {
    if (!lines.empty()) {
      text.append("\n**").append(heading).append("**\n\n");
      for (const auto& line : split(lines, '\n')) {
        text.append(before).append(line).append("\n");
      }
    }
  };
  const auto code = [&text, &rule](std::string_view heading, std::string_view lines) {
    if (!lines.empty()) {
      text.append("\n**")
          .append(heading)
          .append("**\n\n```")
          .append(rule.language)
          .append("\n")
          .append(lines)
          .append("\n```\n");
    }
  };
  for (const auto language : {LanguageOfText::en, LanguageOfText::zh}) {
    const bool zh = language == LanguageOfText::zh;
    text.append(zh ? "\n## 中文\n" : "");
    text.append("\n").append(in(rule.title, language)).append(zh ? "（" : " (");
    text.append(severity_text(rule.severity, language)).append(zh ? "）\n" : ")\n");
    section(zh ? "如何发现" : "How it is found", in(rule.how, language), "");
    section(zh ? "常见原因" : "Typical causes", in(rule.causes, language), "- ");
    if (!zh) {
      code("Code that has the fault", rule.bad);
      code("The same without it", rule.good);
    }
    section(zh ? "修复" : "Fixes", in(rule.fixes, language), "- ");
  }
  section("References", rule.references, "- ");
  return text;
}

Words words_of(const Finding& finding, LanguageOfText language) {
  Words words{finding.summary, finding.cause, finding.fix};
  if (language == LanguageOfText::zh) {
    const auto prefer = [](std::string& english, const std::string& chinese) {
      if (!chinese.empty()) {
        english = chinese;
      }
    };
    prefer(words.summary, finding.chinese.summary);
    prefer(words.cause, finding.chinese.cause);
    prefer(words.fix, finding.chinese.fix);
  }
  return words;
}

void name_operator(Finding& finding, const std::string& argument) {
  const auto library = library_of(finding);
  put_operator(finding.fix, argument,
               library.empty()
                   ? "   (OP: the operator's directory, or its name in the workspace)"
                   : "   (OP: the directory or name of the operator that " + library + " was built from)");
  put_operator(finding.chinese.fix, argument,
               library.empty() ? "   （OP：算子的目录，或其在工作区中的名称）"
                               : "   （OP：编译出 " + library + " 的算子的目录或名称）");
}

bool names_no_operator(const Finding& finding) {
  return find_build(finding.fix, 0) != std::string_view::npos;
}

std::string label_text(std::string_view label, LanguageOfText language) {
  const auto known =
      std::find_if(labels.begin(), labels.end(), [label](const Label& entry) { return entry.en == label; });
  return std::string(language == LanguageOfText::zh && known != labels.end() ? known->zh : label);
}

bool has_error(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.severity == Severity::error; });
}

void sort_findings(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
}

} // namespace dcuop::finding
