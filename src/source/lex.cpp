#include "directives.hpp"

#include <algorithm>

namespace dcuop::source {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void blank(std::string& text, std::size_t begin, std::size_t end) {
  for (std::size_t at = begin; at < end && at < text.size(); ++at) {
    if (text[at] != '\n') {
      text[at] = ' ';
    }
  }
}

/// Behind the literal that begins at `at`; an unterminated one ends with its line.
std::size_t literal_end(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const bool raw = quote == '"' && at > 0 && text[at - 1] == 'R' &&
                   (at < 2 || !is_word(text[at - 2]) || text[at - 2] == '8');
  if (raw) {
    const std::size_t open = text.find('(', at);
    if (open == std::string_view::npos || open - at > 17) {
      return at + 1;
    }
    const std::string closing = ")" + std::string(text.substr(at + 1, open - at - 1)) + "\"";
    const std::size_t close = text.find(closing, open);
    return close == std::string_view::npos ? text.size() : close + closing.size();
  }
  for (std::size_t next = at + 1; next < text.size(); ++next) {
    if (text[next] == '\\') {
      ++next;
    } else if (text[next] == quote) {
      return next + 1;
    } else if (text[next] == '\n') {
      return next;
    }
  }
  return text.size();
}

/// <% as {, and so on: https://eel.is/c++draft/lex.digraph. <:: is < and ::, unless : or > follows.
void replace_digraph(std::string& text, std::size_t at) {
  static constexpr std::pair<std::string_view, char> all[] = {
      {"<%", '{'}, {"%>", '}'}, {"<:", '['}, {":>", ']'}, {"%:", '#'}};
  if (text[at] != '<' && text[at] != '%' && text[at] != ':') {
    return;
  }
  for (const auto& [sign, meant] : all) {
    const char third = at + 2 < text.size() ? text[at + 2] : ' ';
    const char fourth = at + 3 < text.size() ? text[at + 3] : ' ';
    const bool is_scope = sign == "<:" && third == ':' && fourth != ':' && fourth != '>';
    if (text.compare(at, 2, sign) == 0 && !is_scope) {
      text[at] = meant;
      text[at + 1] = ' ';
    }
  }
}

void remove_comments(Lexed& lexed) {
  std::string& text = lexed.bare;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    replace_digraph(text, at);
    if (text[at] == '"' || (text[at] == '\'' && (at == 0 || !is_word(text[at - 1])))) {
      at = literal_end(text, at);
      continue;
    }
    if (text.compare(at, 2, "//") == 0) {
      end = at;
      do {
        end = text.find('\n', end + 1);
      } while (end != std::string::npos && text[end - 1] == '\\');
      end = std::min(end, text.size());
    } else if (text.compare(at, 2, "/*") == 0) {
      const std::size_t close = text.find("*/", at + 2);
      end = close == std::string::npos
                ? at
                : close + 2; // one without an end stays, for the parser to stumble over
    }
    if (end == at) {
      ++at;
      continue;
    }
    lexed.comments.push_back({static_cast<Offset>(at), static_cast<Offset>(end)});
    blank(text, at, end);
    at = end;
  }
}

struct Cursor {
  const std::string& text;
  std::size_t at;
  std::size_t end;

  void skip() {
    while (at < end && (text[at] == ' ' || text[at] == '\t' || text[at] == '\\' || text[at] == '\n' ||
                        text[at] == '\r')) {
      ++at;
    }
  }
  std::string word() {
    skip();
    const std::size_t begin = at;
    while (at < end && is_word(text[at])) {
      ++at;
    }
    return text.substr(begin, at - begin);
  }
  std::string rest() {
    skip();
    return text.substr(at, end - at);
  }
};

void read_define(Cursor& cursor, Directive& directive) {
  MacroDefinition& macro = directive.macro;
  cursor.skip();
  macro.at = static_cast<Offset>(cursor.at);
  macro.name = cursor.word();
  if (cursor.at < cursor.end && cursor.text[cursor.at] == '(') {
    macro.is_function = true;
    const std::size_t close = std::min(cursor.text.find(')', cursor.at), cursor.end);
    Cursor inside{cursor.text, cursor.at + 1, close};
    for (std::string name = inside.word(); !name.empty(); name = inside.word()) {
      macro.parameters.push_back(name);
      inside.skip();
      inside.at += 1;
      inside.at = std::min(inside.at, inside.end);
    }
    if (cursor.text.compare(inside.at, 3, "...") == 0) {
      macro.parameters.emplace_back("__VA_ARGS__");
    }
    cursor.at = std::min(close + 1, cursor.end);
  }
  cursor.skip();
  macro.begin = static_cast<Offset>(cursor.at);
  macro.end = static_cast<Offset>(cursor.end);
  directive.body = cursor.rest();
}

void read_directive(Lexed& lexed, std::size_t begin, std::size_t end) {
  Cursor cursor{lexed.bare, begin, end};
  cursor.skip();
  ++cursor.at; // #
  Directive directive;
  directive.begin = static_cast<Offset>(begin);
  directive.end = static_cast<Offset>(end);
  const std::string name = cursor.word();
  using Kind = Directive::Kind;
  if (name == "if" || name == "elif") {
    directive.kind = name == "if" ? Kind::begins : Kind::otherwise;
    directive.condition = cursor.rest();
  } else if (name == "ifdef" || name == "ifndef" || name == "elifdef" || name == "elifndef") {
    directive.kind = name[0] == 'i' ? Kind::begins : Kind::otherwise;
    const bool negated = name.find('n') != std::string::npos;
    directive.condition = std::string(negated ? "!" : "") + "defined(" + cursor.word() + ")";
  } else if (name == "else") {
    directive.kind = Kind::otherwise;
    directive.condition = "1";
  } else if (name == "endif") {
    directive.kind = Kind::ends;
  } else if (name == "define") {
    directive.kind = Kind::define;
    read_define(cursor, directive);
  } else if (name == "undef") {
    directive.kind = Kind::undefine;
    directive.macro.name = cursor.word();
  } else if (name == "include") {
    const std::string rest = cursor.rest();
    const char closing = rest.starts_with('<') ? '>' : '"';
    const std::size_t close = rest.find(closing, 1);
    if (close != std::string::npos && (rest[0] == '<' || rest[0] == '"')) {
      lexed.includes.push_back({static_cast<Offset>(begin), rest.substr(1, close - 1), rest[0] == '"'});
    }
  }
  lexed.directives.push_back(std::move(directive));
}

} // namespace

Lexed lex(std::string_view text) {
  Lexed lexed;
  lexed.bare = text;
  remove_comments(lexed);
  const std::string& bare = lexed.bare;
  for (std::size_t line = 0; line < bare.size();) {
    std::size_t end = std::min(bare.find('\n', line), bare.size());
    const std::size_t first = bare.find_first_not_of(" \t\r", line);
    if (first < end && bare[first] == '#') {
      const auto continues = [&] {
        return end < bare.size() &&
               (bare[end - 1] == '\\' || (end > 1 && bare[end - 1] == '\r' && bare[end - 2] == '\\'));
      };
      while (continues()) {
        end = std::min(bare.find('\n', end + 1), bare.size());
      }
      read_directive(lexed, line, end);
    }
    line = end + 1;
  }
  return lexed;
}

} // namespace dcuop::source
