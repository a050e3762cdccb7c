#include "python_text.hpp"

#include <algorithm>

namespace dcuop::check {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::size_t string_end(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string triple(3, quote);
  if (text.substr(at, 3) == triple) {
    for (std::size_t end = at + 3; end < text.size(); ++end) {
      if (text[end] == '\\') {
        ++end;
      } else if (text.substr(end, 3) == triple) {
        return end + 3;
      }
    }
    return text.size();
  }
  for (std::size_t end = at + 1; end < text.size(); ++end) {
    if (text[end] == '\\') {
      ++end;
    } else if (text[end] == quote) {
      return end + 1;
    } else if (text[end] == '\n') {
      return end;
    }
  }
  return text.size();
}

/// Calls comment(begin, end) and string(begin, end) for those of the text, in order.
template <class Comment, class String> void scan(std::string_view text, Comment comment, String string) {
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '#') {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      comment(at, end);
      at = end;
    } else if (text[at] == '"' || text[at] == '\'') {
      const std::size_t end = string_end(text, at);
      string(at, end);
      at = end;
    } else {
      ++at;
    }
  }
}

} // namespace

std::vector<std::pair<std::size_t, std::size_t>> python_comments(std::string_view text) {
  std::vector<std::pair<std::size_t, std::size_t>> all;
  scan(
      text, [&](std::size_t begin, std::size_t end) { all.emplace_back(begin, end); },
      [](std::size_t, std::size_t) {});
  return all;
}

std::string python_code(std::string_view text) {
  std::string code(text);
  const auto blank = [&code](std::size_t begin, std::size_t end) {
    for (; begin < end && begin < code.size(); ++begin) {
      code[begin] = code[begin] == '\n' ? '\n' : ' ';
    }
  };
  scan(text, blank, [&](std::size_t at, std::size_t end) {
    // A string that is a statement: nothing but space before it on its line.
    const std::size_t line = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    const bool begins = text.substr(line, at - line).find_first_not_of(" \trRuU") == std::string_view::npos;
    if (begins && text.substr(at, 3) == std::string(3, text[at])) {
      blank(at, end);
    }
  });
  return code;
}

std::set<std::int64_t> integers_in(std::string_view code) {
  std::set<std::int64_t> all;
  for (std::size_t at = 0; at < code.size();) {
    if (!is_word(code[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < code.size() && is_word(code[at])) {
      ++at;
    }
    const bool fraction = (at < code.size() && code[at] == '.') || (begin > 0 && code[begin - 1] == '.');
    std::int64_t value = 0;
    bool number = !fraction && at - begin < 19;
    for (std::size_t digit = begin; digit < at && number; ++digit) {
      number = code[digit] == '_' || (code[digit] >= '0' && code[digit] <= '9');
      value = code[digit] == '_' ? value : value * 10 + (code[digit] - '0');
    }
    if (number) {
      all.insert(value);
    }
  }
  return all;
}

bool has_word(std::string_view code, std::string_view word) {
  for (auto at = code.find(word); at != std::string_view::npos; at = code.find(word, at + 1)) {
    const bool before = at > 0 && is_word(code[at - 1]);
    const bool after = at + word.size() < code.size() && is_word(code[at + word.size()]);
    if (!before && !after) {
      return true;
    }
  }
  return false;
}

} // namespace dcuop::check
