#include "dcuop/support/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <limits>

#include "dcuop/support/files.hpp"

namespace dcuop {

namespace {

constexpr std::string_view white_space = " \t\r\n\f\v";

/// Damerau-Levenshtein in its restricted form (optimal string alignment): a swapped pair counts as one.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    last[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, current);
  }
  return last[b.size()];
}

/// A decimal number and the unit that follows it without a space.
struct Quantity {
  std::uint64_t number = 0;
  std::string unit;
};

std::optional<Quantity> parse_quantity(std::string_view text) {
  Quantity quantity;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, quantity.number);
  if (error != std::errc() || rest == text.data()) {
    return std::nullopt;
  }
  quantity.unit.assign(rest, end);
  std::transform(quantity.unit.begin(), quantity.unit.end(), quantity.unit.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return quantity;
}

std::optional<std::uint64_t> product(std::uint64_t number, std::uint64_t factor, std::uint64_t limit) {
  if (number > limit / factor) {
    return std::nullopt;
  }
  return number * factor;
}

template <typename... Values> std::string formatted(const char* format, Values... values) {
  std::array<char, 64> buffer{};
  const int length = std::snprintf(buffer.data(), buffer.size(), format, values...);
  return {buffer.data(), static_cast<std::size_t>(std::max(length, 0))};
}

std::string ago(std::int64_t count, std::string_view unit) {
  return std::to_string(count) + " " + std::string(unit) + " ago";
}

/// What the first bytes of a text show on a terminal.
struct Glyph {
  std::size_t size = 1;
  std::size_t columns = 1;
  bool is_control = false;
};

/// The length of a colour sequence (CSI) at the start of `text`, 0 when there is none.
std::size_t colour_sequence_size(std::string_view text) {
  if (!text.starts_with("\033[")) {
    return 0;
  }
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

bool is_wide(char32_t character) {
  // The blocks of East Asian Width W and F (Unicode Standard Annex 11) that messages can hold.
  return (character >= 0x1100 && character <= 0x115f) || (character >= 0x2e80 && character <= 0xa4cf) ||
         (character >= 0xac00 && character <= 0xd7a3) || (character >= 0xf900 && character <= 0xfaff) ||
         (character >= 0xfe30 && character <= 0xfe6f) || (character >= 0xff00 && character <= 0xff60) ||
         (character >= 0xffe0 && character <= 0xffe6) || (character >= 0x1f300 && character <= 0x1faff) ||
         (character >= 0x20000 && character <= 0x3fffd);
}

/// `text` is not empty. A byte that starts no whole UTF-8 character stands for itself.
Glyph first_glyph(std::string_view text) {
  if (const std::size_t size = colour_sequence_size(text); size > 0) {
    return {size, 0, false};
  }
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0xc0) {
    return {1, 1, lead < 0x20 || lead == 0x7f};
  }
  const std::size_t size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  char32_t character = lead & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    const unsigned byte = i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    if ((byte & 0xc0U) != 0x80U) {
      return {1, 1, false};
    }
    character = character << 6U | (byte & 0x3fU);
  }
  return {size, is_wide(character) ? std::size_t{2} : std::size_t{1}, false};
}

/// Splits words; see shell_words.
class WordReader {
 public:
  explicit WordReader(std::string_view text) : text_(text) {}

  std::vector<std::string> read_all() {
    while (!at_end()) {
      const char character = take();
      if (white_space.find(character) != std::string_view::npos) {
        end_word();
      } else if (character == '\'') {
        single_quoted();
      } else if (character == '"') {
        double_quoted();
      } else if (character == '\\') {
        escaped();
      } else {
        add(character);
      }
    }
    end_word();
    return std::move(words_);
  }

 private:
  [[nodiscard]] bool at_end() const { return position_ == text_.size(); }
  char take() { return text_[position_++]; }
  void add(char character) {
    word_.push_back(character);
    in_word_ = true;
  }
  void end_word() {
    if (in_word_) {
      words_.push_back(std::move(word_));
      word_.clear();
      in_word_ = false;
    }
  }
  void single_quoted() {
    in_word_ = true;
    while (!at_end()) {
      const char character = take();
      if (character == '\'') {
        return;
      }
      add(character);
    }
  }
  void double_quoted() {
    in_word_ = true;
    while (!at_end()) {
      const char character = take();
      if (character == '"') {
        return;
      }
      if (character != '\\' || at_end()) {
        add(character);
      } else if (const char next = take(); next != '\n') {
        if (std::string_view("$`\"\\").find(next) == std::string_view::npos) {
          add('\\');
        }
        add(next);
      }
    }
  }
  void escaped() {
    if (at_end()) {
      add('\\');
    } else if (const char next = take(); next != '\n') {
      add(next);
    }
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::string word_;
  bool in_word_ = false;
  std::vector<std::string> words_;
};

} // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) {
      parts.emplace_back(text.substr(0, end));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string joined;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) {
      joined += separator;
    }
    joined += parts[i];
  }
  return joined;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(white_space);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(white_space) - first + 1);
}

std::optional<std::string> nearest(std::string_view wanted, const std::vector<std::string>& candidates) {
  const std::string* best = nullptr;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  for (const std::string& candidate : candidates) {
    const std::size_t longer = std::max(wanted.size(), candidate.size());
    const std::size_t distance = edit_distance(wanted, candidate);
    const bool is_typo = distance <= std::max<std::size_t>(longer / 3, 1) && distance < longer;
    if (is_typo && distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

std::string human_size(std::uint64_t bytes) {
  constexpr std::array<const char*, 7> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) {
    return std::to_string(bytes) + " B";
  }
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  // 1023.5 would be printed as 1024 of the smaller unit.
  while (amount >= 1023.5 && unit + 1 < units.size()) {
    amount /= 1024;
    ++unit;
  }
  return formatted(amount < 9.95 ? "%.1f %s" : "%.0f %s", amount, units[unit]);
}

std::string human_duration(std::chrono::milliseconds d) {
  const std::int64_t milliseconds = std::max<std::int64_t>(d.count(), 0);
  if (milliseconds < 100) {
    return formatted("%.3fs", static_cast<double>(milliseconds) / 1000);
  }
  if (milliseconds < 59'950) {
    return formatted("%.1fs", static_cast<double>(milliseconds) / 1000);
  }
  const std::int64_t seconds = (milliseconds + 500) / 1000;
  if (seconds < 3600) {
    return formatted("%lldm %02llds", static_cast<long long>(seconds / 60),
                     static_cast<long long>(seconds % 60));
  }
  return formatted("%lldh %02lldm", static_cast<long long>(seconds / 3600),
                   static_cast<long long>(seconds % 3600 / 60));
}

std::string human_age(std::chrono::seconds age) {
  constexpr std::int64_t seconds_a_day = 86'400;
  const std::int64_t seconds = age.count();
  if (seconds < 60) {
    return "just now";
  }
  if (seconds < 3600) {
    return ago(seconds / 60, "min");
  }
  if (seconds < seconds_a_day) {
    return ago(seconds / 3600, "h");
  }
  const std::int64_t days = seconds / seconds_a_day;
  return ago(days, days == 1 ? "day" : "days");
}

std::string counted(std::uint64_t count, std::string_view singular) {
  std::string text = std::to_string(count) + " " + std::string(singular);
  if (count == 1 || singular.empty()) {
    return text;
  }
  const bool vowel_before_last =
      singular.size() > 1 &&
      std::string_view("aeiou").find(singular[singular.size() - 2]) != std::string_view::npos;
  if (singular.back() == 'y' && !vowel_before_last) {
    text.pop_back();
    return text + "ies";
  }
  // "archs" stays: the field says so.
  const bool hisses = singular.back() == 's' || singular.back() == 'x' || singular.ends_with("sh");
  return text + (hisses ? "es" : "s");
}

std::string cut_to_width(std::string_view text, std::size_t width) {
  const std::string_view ellipsis = "…";
  std::string cut;
  std::size_t columns = 0;
  std::size_t fitting_size = 0; // of `cut`, with a column left for the ellipsis
  bool coloured = false;
  while (!text.empty()) {
    const Glyph glyph = first_glyph(text);
    if (columns + glyph.columns > width) {
      cut.resize(fitting_size);
      cut += width > 0 ? ellipsis : "";
      return coloured ? cut + "\033[0m" : cut;
    }
    columns += glyph.columns;
    coloured = coloured || glyph.columns == 0;
    cut += glyph.is_control ? std::string_view(" ") : text.substr(0, glyph.size);
    text.remove_prefix(glyph.size);
    if (columns + 1 <= width) {
      fitting_size = cut.size();
    }
  }
  return cut;
}

std::string shortened(const std::filesystem::path& path, const Environment& environment) {
  const std::filesystem::path home = environment.get_nonempty("HOME").value_or("");
  if (!home.is_absolute() || home == home.root_path() || !lies_below(path, home)) {
    return path.string();
  }
  const std::filesystem::path rest = relative_below(path, home);
  return rest == "." ? "~" : "~/" + rest.string();
}

std::optional<std::chrono::seconds> parse_duration(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 5> units{
      {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86'400}, {"w", 604'800}}};
  const std::optional<Quantity> quantity = parse_quantity(text);
  if (!quantity) {
    return std::nullopt;
  }
  for (const auto& [unit, seconds] : units) {
    if (quantity->unit == unit) {
      // Small enough that adding it to a clock's reading in nanoseconds does not overflow.
      const std::optional<std::uint64_t> total = product(quantity->number, seconds, 4'000'000'000);
      return total ? std::optional(std::chrono::seconds(*total)) : std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  const std::optional<Quantity> quantity = parse_quantity(text);
  if (!quantity || quantity->unit.empty()) {
    return std::nullopt;
  }
  const std::string_view unit = quantity->unit;
  const std::string_view suffix = unit.substr(1);
  constexpr std::string_view letters = "bkmgt";
  const std::size_t power = letters.find(unit.front());
  if (power == std::string_view::npos ||
      (power == 0 ? !suffix.empty() : !suffix.empty() && suffix != "b" && suffix != "ib")) {
    return std::nullopt;
  }
  return product(quantity->number, std::uint64_t{1} << (10 * power),
                 std::numeric_limits<std::uint64_t>::max());
}

std::vector<std::string> shell_words(std::string_view text) {
  return WordReader(text).read_all();
}

} // namespace dcuop
