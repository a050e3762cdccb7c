#include "message_lines.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

constexpr std::size_t longest_line = std::size_t{16} << 10;

bool is_digit(char character) {
  return character >= '0' && character <= '9';
}

/// Past an escape sequence that begins at `at` (ECMA-48): CSI with its final byte, OSC with BEL or ST, or two bytes.
std::size_t past_escape(std::string_view text, std::size_t at) {
  ++at;
  if (at >= text.size()) {
    return at;
  }
  if (text[at] == '[') {
    ++at;
    while (at < text.size() && (text[at] < '@' || text[at] > '~')) {
      ++at;
    }
    return std::min(at + 1, text.size());
  }
  if (text[at] == ']') {
    const auto end = std::min(text.find('\a', at), text.find("\x1b\\", at));
    return end == std::string_view::npos ? text.size() : end + (text[end] == '\a' ? 1 : 2);
  }
  return at + 1;
}

/// "‘", "’", "“", "”", "`" and box drawing: what they stand for.
char plain_of(std::string_view text, std::size_t& length) {
  const auto byte = [&text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  if (byte(0) == 0xE2 && byte(1) == 0x80 && (byte(2) == 0x98 || byte(2) == 0x99)) {
    length = 3;
    return '\'';
  }
  if (byte(0) == 0xE2 && byte(1) == 0x80 && (byte(2) == 0x9C || byte(2) == 0x9D)) {
    length = 3;
    return '"';
  }
  if (byte(0) == 0xE2 && (byte(1) == 0x94 || byte(1) == 0x95)) { // U+2500 to U+257F
    length = 3;
    return ' ';
  }
  length = 1;
  return text[0] == '`' ? '\'' : text[0];
}

/// "name": up to `end`, when it holds only what a launcher writes.
bool take_until(std::string& line, std::string_view end, std::string& taken) {
  const auto at = line.find(end);
  if (at == std::string::npos || at == 0 || at > 40) {
    return false;
  }
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == ',';
  };
  if (!std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(at), plain)) {
    return false;
  }
  taken = line.substr(0, at);
  line.erase(0, at + end.size());
  return true;
}

void trim_front(std::string& line) {
  line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

/// "[rank3]:", "[default0]:", "[1,3]<stderr>:", "[3]": torchrun, Open MPI, MPICH.
std::string take_brackets(std::string& line) {
  const auto close = line.find(']');
  if (!line.starts_with('[') || close == std::string::npos || close > 24) {
    return {};
  }
  auto name = line.substr(1, close - 1);
  const bool numbered = name.starts_with("rank") || name.starts_with("default") ||
                        (!name.empty() && std::all_of(name.begin(), name.end(),
                                                      [](char c) { return is_digit(c) || c == ','; }));
  if (!numbered) {
    return {};
  }
  line.erase(0, close + 1);
  for (const std::string_view rest : {"<stderr>", "<stdout>", ":"}) {
    if (line.starts_with(rest)) {
      line.erase(0, rest.size());
    }
  }
  trim_front(line);
  return name;
}

/// "(EngineCore_0 pid=123, ip=10.0.0.1) ": Ray, vLLM.
std::string take_parentheses(std::string& line) {
  const auto close = line.find(") ");
  if (!line.starts_with('(') || close == std::string::npos || close > 80 ||
      line.substr(0, close).find("pid=") == std::string::npos) {
    return {};
  }
  auto name = line.substr(1, close - 1);
  line.erase(0, close + 2);
  trim_front(line);
  return name;
}

/// "12: ": srun --label. A line number of grep -n reads the same; nothing is lost by taking it off.
std::string take_number(std::string& line) {
  const auto end =
      static_cast<std::size_t>(std::find_if_not(line.begin(), line.end(), is_digit) - line.begin());
  if (end == 0 || end > 6 || line.compare(end, 2, ": ") != 0) {
    return {};
  }
  auto name = line.substr(0, end);
  line.erase(0, end + 2);
  return name;
}

} // namespace

std::string plain_line(std::string_view raw) {
  std::string plain;
  plain.reserve(std::min(raw.size(), longest_line));
  if (raw.size() > longest_line) { // a log in one line: both ends tell most
    return plain_line(raw.substr(0, longest_line / 2)) + " " +
           plain_line(raw.substr(raw.size() - longest_line / 2));
  }
  for (std::size_t at = 0; at < raw.size();) {
    if (raw[at] == '\x1b') {
      at = past_escape(raw, at);
      continue;
    }
    const bool c1 =
        raw[at] == '\xC2' && at + 1 < raw.size() && static_cast<unsigned char>(raw[at + 1]) < 0xA0;
    if (c1) { // U+009B begins a sequence on some terminals
      at += 2;
      continue;
    }
    std::size_t length = 1;
    const char character = plain_of(raw.substr(at), length);
    at += length;
    if (character == '\b') {
      plain.resize(plain.empty() ? 0 : plain.size() - 1);
    } else if (character == '\t') {
      plain += ' ';
    } else if (static_cast<unsigned char>(character) >= 0x20 && character != 0x7f) {
      plain += character;
    }
  }
  plain.erase(plain.find_last_not_of(' ') + 1);
  return plain;
}

std::string take_rank(std::string& line) {
  std::string rank;
  for (int nested = 0; nested < 3; ++nested) { // docker's name around srun's number around torchrun's rank
    std::string container;
    auto found = take_brackets(line);
    found = found.empty() ? take_parentheses(line) : found;
    found = found.empty() ? take_number(line) : found;
    if (!found.empty()) {
      rank = std::move(found);
      continue;
    }
    // "worker-1  | ": docker compose
    const auto bar = line.find("| ");
    if (bar != std::string::npos && bar > 0 && bar < 40 && line[bar - 1] == ' ') {
      auto head = line.substr(0, bar);
      head.erase(head.find_last_not_of(' ') + 1);
      auto rest = head + "|";
      if (take_until(rest, "|", container)) {
        line.erase(0, bar + 2);
        continue;
      }
    }
    break;
  }
  // pytest marks the lines of an error so, mail its quotations.
  for (const std::string_view mark : {"E   ", "> "}) {
    if (line.starts_with(mark)) {
      line.erase(0, mark.size());
    }
  }
  return rank;
}

std::size_t for_each_line(std::string_view text, const std::function<void(const MessageLine&)>& use,
                          std::size_t number) {
  MessageLine line;
  const auto take = [&](std::string_view raw) {
    line.text = plain_line(raw);
    line.rank = take_rank(line.text);
    if (!trimmed(line.text).empty()) {
      use(line);
    }
  };
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    line.number = ++number;
    auto rest = text.substr(begin, end - begin);
    while (!rest.empty()) {
      // A progress bar returns to the line's beginning; a JSON log writes "\n" in two characters.
      const auto stop = std::min({rest.find('\r'), rest.find("\\n"), rest.size()});
      take(rest.substr(0, stop));
      const auto width = stop < rest.size() && rest[stop] == '\\' ? 2U : 1U;
      rest.remove_prefix(std::min(stop + width, rest.size()));
    }
    begin = end + 1;
  }
  return number;
}

} // namespace dcuop::doctor
