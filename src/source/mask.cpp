#include "dcuop/source/mask.hpp"

#include <algorithm>
#include <unordered_map>

#include "directives.hpp"

namespace dcuop::source {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::size_t next_solid(const std::string& text, std::size_t at) {
  while (at < text.size() && static_cast<unsigned char>(text[at]) <= ' ') {
    ++at;
  }
  return at;
}

void blank(std::string& text, std::size_t begin, std::size_t end) {
  for (std::size_t at = begin; at < end && at < text.size(); ++at) {
    if (text[at] != '\n') {
      text[at] = ' ';
    }
  }
}

/// Behind the partner of the parenthesis at `at`; npos when it has none within reason.
std::size_t behind_parentheses(const std::string& text, std::size_t at) {
  std::size_t depth = 0;
  const std::size_t limit = std::min(text.size(), at + 20000);
  for (; at < limit; ++at) {
    if (text[at] == '"' || text[at] == '\'') {
      const char quote = text[at];
      for (++at; at < limit && text[at] != quote && text[at] != '\n'; ++at) {
        at += text[at] == '\\' ? 1 : 0;
      }
    } else if (text[at] == '(') {
      ++depth;
    } else if (text[at] == ')' && --depth == 0) {
      return at + 1;
    }
  }
  return std::string::npos;
}

/// k<<<a, b>>>(x): see Launch.
void rewrite_launch(Variant& variant, std::size_t at) {
  std::string& text = variant.text;
  std::size_t depth = 0;
  const std::size_t limit = std::min(text.size(), at + 4000);
  for (std::size_t end = at + 3; end + 3 <= limit; ++end) {
    const char c = text[end];
    if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      if (depth == 0) {
        return;
      }
      --depth;
    } else if (c == ';') {
      return;
    } else if (depth == 0 && text.compare(end, 3, ">>>") == 0) {
      const std::size_t open = next_solid(text, end + 3);
      if (open >= text.size() || text[open] != '(') {
        return;
      }
      const bool has_arguments =
          next_solid(text, open + 1) < text.size() && text[next_solid(text, open + 1)] != ')';
      text.replace(at, 3, "  (");
      text.replace(end, 3, "   ");
      text[open] = has_arguments ? ',' : ' ';
      variant.launches.push_back({static_cast<Offset>(at + 2), static_cast<Offset>(end)});
      return;
    }
  }
}

/// hipLaunchKernelGGL(kernel<A, B>, ...): template arguments of an expression read as two comparisons.
void blank_kernel_arguments(std::string& text, std::size_t open) {
  std::size_t at = next_solid(text, open + 1);
  const bool in_parentheses = at < text.size() && text[at] == '(';
  at += in_parentheses ? 1 : 0;
  const std::size_t limit = std::min(text.size(), at + 2000);
  while (at < limit && (is_word(text[at]) || text[at] == ':' || text[at] == ' ' || text[at] == '\n')) {
    ++at;
  }
  if (at >= limit || text[at] != '<') {
    return;
  }
  std::size_t depth = 0;
  for (std::size_t end = at; end < limit && text[end] != ';'; ++end) {
    depth += text[end] == '<' ? 1U : 0U;
    if (text[end] == '>' && --depth == 0) {
      const std::size_t next = next_solid(text, end + 1);
      if (next < text.size() && (text[next] == ',' || text[next] == ')')) {
        blank(text, at, end + 1);
      }
      return;
    }
  }
}

/// #x is a literal once the macro is expanded, and an error to the grammar before.
void quote_stringized(std::string& text, std::size_t begin, std::size_t end) {
  for (std::size_t at = begin; at < end; ++at) {
    if (text[at] == '"' || text[at] == '\'') {
      const char quote = text[at];
      for (++at; at < end && text[at] != quote; ++at) {
        at += text[at] == '\\' ? 1 : 0;
      }
    } else if (text[at] == '#' && at + 1 < end && text[at + 1] == '#') {
      ++at;
    } else if (text[at] == '#') {
      std::size_t last = at;
      while (last + 1 < end && is_word(text[last + 1])) {
        text[++last] = ' ';
      }
      if (last > at) {
        text[at] = text[last] = '"';
        at = last;
      }
    }
  }
}

enum class Word { qualifier, launch_call, ascend_side, kernel_name, alternative_token };

using Words = std::unordered_map<std::string_view, Word>;

Words words_of(const Dialect& dialect) {
  Words words;
  for (const std::string& name : dialect.qualifiers) {
    words.emplace(name, Word::qualifier);
  }
  for (const char* name : {"hipLaunchKernelGGL", "hipLaunchKernel", "hipLaunchCooperativeKernel"}) {
    words.emplace(name, Word::launch_call);
  }
  words.emplace("HIP_KERNEL_NAME", Word::kernel_name);
  for (const char* name : {"and", "or", "not"}) { // https://eel.is/c++draft/lex.digraph
    words.emplace(name, Word::alternative_token);
  }
  words.emplace("ASCEND_IS_AIV", Word::ascend_side);
  words.emplace("ASCEND_IS_AIC", Word::ascend_side);
  return words;
}

void take_qualifier(Variant& variant, std::size_t begin, std::size_t end) {
  std::string& text = variant.text;
  Mark mark{static_cast<Offset>(begin), text.substr(begin, end - begin), {}};
  const std::size_t open = next_solid(text, end);
  // Only of those that take one: __global__ (x) would be a declarator.
  static constexpr std::string_view with_argument[] = {
      "__launch_bounds__", "__mix__",       "__schedmode__", "__align__",           "__attribute__",
      "alignas",           "__block_num__", "__declspec",    "C10_LAUNCH_BOUNDS_1", "C10_LAUNCH_BOUNDS_2",
      "__maxnreg__"};
  const bool takes =
      std::find(std::begin(with_argument), std::end(with_argument), mark.name) != std::end(with_argument);
  if (takes && open < text.size() && text[open] == '(') {
    const std::size_t close = behind_parentheses(text, open);
    if (close != std::string::npos) {
      mark.argument = text.substr(open + 1, close - open - 2);
      end = close;
    }
  }
  blank(text, begin, end);
  variant.marks.push_back(std::move(mark));
}

/// LEADER { x(); }, SYNC_ALL: as statements of their own.
void end_statement(std::string& text, std::size_t begin, std::size_t end) {
  const std::size_t next = next_solid(text, end);
  const bool has_room = end < text.size() && static_cast<unsigned char>(text[end]) <= ' ';
  if (!has_room || next >= text.size() || !(is_word(text[next]) || text[next] == '{' || text[next] == '}')) {
    return;
  }
  std::size_t before = begin;
  while (before > 0 && static_cast<unsigned char>(text[before - 1]) <= ' ') {
    --before;
  }
  if (before == 0 || std::string_view(";{}):").find(text[before - 1]) != std::string_view::npos) {
    text[end] = ';';
  }
}

void end_statement(std::string& text, std::string_view word, std::size_t begin, std::size_t end,
                   const StatementMacros& macros) {
  const std::size_t open = next_solid(text, end);
  const bool is_call = open < text.size() && text[open] == '(';
  if (!is_call && macros.plain.contains(word)) {
    end_statement(text, begin, end);
  } else if (is_call && macros.heads.contains(word)) {
    const std::size_t close = behind_parentheses(text, open);
    if (close != std::string::npos) {
      end_statement(text, begin, close);
    }
  }
}

void apply_word(Variant& variant, Word word, std::size_t begin, std::size_t end) {
  std::string& text = variant.text;
  const std::size_t open = next_solid(text, end);
  const bool is_call = open < text.size() && text[open] == '(';
  switch (word) {
  case Word::qualifier:
    take_qualifier(variant, begin, end);
    break;
  case Word::launch_call:
    if (is_call) {
      blank_kernel_arguments(text, open);
    }
    break;
  case Word::kernel_name:
    if (is_call) {
      const std::size_t close = behind_parentheses(text, open);
      blank_kernel_arguments(text, open);
      blank(text, begin, end);
      if (close != std::string::npos) { // the macro is a way to write commas
        text[open] = ' ';
        text[close - 1] = ' ';
      }
    }
    break;
  case Word::ascend_side:
    if (!is_call) {
      text.replace(begin, end - begin, text[end - 1] == 'V' ? "(AIV_ASCEND_)" : "(AIC_ASCEND_)");
    }
    break;
  case Word::alternative_token:
    text.replace(begin, end - begin, text[begin] == 'n' ? "!  " : text[begin] == 'a' ? "&& " : "||");
    break;
  }
}

void rewrite(Variant& variant, const Words& words, const StatementMacros& macros) {
  std::string& text = variant.text;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || (c == '\'' && (at == 0 || !is_word(text[at - 1])))) {
      const bool raw = c == '"' && at > 0 && text[at - 1] == 'R';
      std::size_t end = at + 1;
      if (raw) {
        const std::size_t open = std::min(text.find('(', at), text.size());
        const std::string closing = ")" + text.substr(at + 1, open > at ? open - at - 1 : 0) + "\"";
        const std::size_t close = text.find(closing, open);
        end = close == std::string::npos ? at + 1 : close + closing.size();
      } else {
        while (end < text.size() && text[end] != c && text[end] != '\n') {
          end += text[end] == '\\' ? 2 : 1;
        }
        ++end;
      }
      at = end;
    } else if (c == '<' && text.compare(at, 3, "<<<") == 0 && text.compare(at, 4, "<<<<") != 0) {
      rewrite_launch(variant, at);
      at += 3;
    } else if (c == '.' && text.compare(at, 10, ".template ") == 0) {
      blank(text, at + 1, at + 9);
      at += 10;
    } else if (is_word(c)) {
      const std::size_t begin = at;
      while (at < text.size() && is_word(text[at])) {
        ++at;
      }
      const auto word = words.find(std::string_view(text).substr(begin, at - begin));
      if (word != words.end()) {
        apply_word(variant, word->second, begin, at);
      } else if (!macros.plain.empty() || !macros.heads.empty()) {
        end_statement(text, std::string_view(text).substr(begin, at - begin), begin, at, macros);
      }
    } else {
      ++at;
    }
  }
}

/// The body of a macro is no expression: it has a semicolon, or begins as statements do.
bool is_statement(std::string_view body) {
  body.remove_prefix(std::min(body.find_first_not_of(" \t\\\r\n"), body.size()));
  const auto end = std::find_if_not(body.begin(), body.end(), is_word);
  const std::string_view first(body.data(), static_cast<std::size_t>(end - body.begin()));
  static constexpr std::string_view keywords[] = {"if",     "for",  "while", "do",       "switch",
                                                  "return", "goto", "break", "continue", "else"};
  return std::find(std::begin(keywords), std::end(keywords), first) != std::end(keywords) ||
         body.find(';') != std::string_view::npos || body.starts_with('{');
}

/// What every configuration is rewritten by.
struct Rewriting {
  Words words;
  const StatementMacros& macros;
};

Variant variant_of(const Lexed& lexed, const Dialect& dialect, Macros assumed, const Rewriting& rewriting) {
  const Reading reading = read_directives(lexed, dialect, assumed);
  Variant variant;
  variant.assumed = std::move(assumed);
  variant.text.assign(lexed.bare.size(), ' ');
  for (std::size_t at = lexed.bare.find('\n'); at != std::string::npos; at = lexed.bare.find('\n', at + 1)) {
    variant.text[at] = '\n';
  }
  const auto keep = [&](std::size_t begin, std::size_t end) {
    variant.text.replace(begin, end - begin, lexed.bare, begin, end - begin);
  };
  for (const auto& [begin, end] : reading.live) {
    keep(begin, end);
  }
  // The bodies of macros are rewritten with everything else, and parsed by themselves.
  for (const std::size_t index : reading.defined) {
    const MacroDefinition& macro = lexed.directives[index].macro;
    variant.macros.push_back(macro);
    keep(macro.begin, macro.end);
    for (std::size_t at = macro.begin; at < macro.end; ++at) {
      const bool continuation =
          variant.text[at] == '\\' && (variant.text[at + 1] == '\n' || variant.text[at + 1] == '\r');
      variant.text[at] = continuation ? ' ' : variant.text[at];
    }
    if (macro.is_function) {
      quote_stringized(variant.text, macro.begin, macro.end);
    }
  }
  rewrite(variant, rewriting.words, rewriting.macros);
  return variant;
}

} // namespace

Scan scan(std::string_view text) {
  Lexed lexed = lex(text);
  Scan scanned;
  scanned.includes = std::move(lexed.includes);
  for (const Directive& directive : lexed.directives) {
    if (directive.kind != Directive::Kind::define || !is_statement(directive.body)) {
      continue;
    }
    const MacroDefinition& macro = directive.macro;
    if (!macro.is_function) {
      scanned.macros.plain.insert(macro.name);
    } else if (directive.body.find_last_not_of(" \t\r\n") == directive.body.rfind(')')) {
      scanned.macros.heads.insert(macro.name);
    }
  }
  return scanned;
}

Masked mask(std::string_view text, const Dialect& dialect, const StatementMacros& macros) {
  Lexed lexed = lex(text);
  const Rewriting rewriting{words_of(dialect), macros};
  Masked masked;
  for (Macros& assumed : configurations(lexed, dialect, masked.unread)) {
    masked.variants.push_back(variant_of(lexed, dialect, std::move(assumed), rewriting));
  }
  masked.comments = std::move(lexed.comments);
  masked.includes = std::move(lexed.includes);
  return masked;
}

} // namespace dcuop::source
