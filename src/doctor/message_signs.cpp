#include "message_signs.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

bool is_word(char character) {
  return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_' || character == '.';
}

} // namespace

std::optional<Sighting> recognised(std::string_view line) {
  for (const auto part : {recognised_build, recognised_linking, recognised_running}) {
    if (auto sighting = part(line)) {
      if (sighting->clue.says.empty()) {
        sighting->clue.says = telling_part(line);
      }
      return sighting;
    }
  }
  return std::nullopt;
}

std::string path_before(std::string_view line, std::size_t at) {
  auto head = line.substr(0, at);
  head.remove_prefix(std::min(head.find_first_not_of(' '), head.size()));
  if (const auto colon = head.rfind(": "); colon != std::string_view::npos) {
    head.remove_prefix(colon + 2);
  }
  if (const auto quote = head.find_last_of("'\""); quote != std::string_view::npos) {
    head.remove_prefix(quote + 1);
  }
  head = trimmed(head);
  const bool absolute = head.starts_with('/') || head.starts_with("./") || head.starts_with("../");
  if (const auto blank = head.find_last_of(" ("); !absolute && blank != std::string_view::npos) {
    head.remove_prefix(blank + 1);
  }
  return std::string(head);
}

std::string word_at(std::string_view line, std::size_t at) {
  auto rest = line.substr(std::min(at, line.size()));
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t'\""), rest.size()));
  return std::string(rest.substr(0, rest.find_first_of(" \t'\",;()")));
}

std::string quoted_at(std::string_view line, std::size_t at) {
  const auto open = line.find_first_of("'\"", std::min(at, line.size()));
  if (open == std::string_view::npos) {
    return {};
  }
  const auto close = line.find(line[open], open + 1);
  return close == std::string_view::npos ? std::string{}
                                         : std::string(line.substr(open + 1, close - open - 1));
}

std::string arch_in(std::string_view line) {
  for (auto at = line.find("gfx"); at != std::string_view::npos; at = line.find("gfx", at + 1)) {
    auto end = at + 3;
    while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) != 0 ||
                                 std::string_view(":+-").find(line[end]) != std::string_view::npos)) {
      ++end;
    }
    // "xnack-" ends in a sign, but "gfx906:" and "gfx906-" end a sentence.
    while (end > at && line[end - 1] == ':') {
      --end;
    }
    const auto word = line.substr(at, end - at);
    if (word.size() > 5 && std::isdigit(static_cast<unsigned char>(word[3])) != 0 &&
        !(at > 0 && is_word(line[at - 1]))) {
      return std::string(word);
    }
  }
  return {};
}

std::string telling_part(std::string_view line) {
  constexpr std::size_t readable = 200;
  auto part = line;
  for (const std::string_view mark : {"Error: ", "Exception: "}) {
    if (const auto at = part.find(mark); at != std::string_view::npos) {
      auto begin = at;
      while (begin > 0 && is_word(part[begin - 1])) {
        --begin;
      }
      part.remove_prefix(begin);
      break;
    }
  }
  return cut_to_width(trimmed(part), readable);
}

} // namespace dcuop::doctor
