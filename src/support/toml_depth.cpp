#include "toml_depth.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace dcuop {

namespace {

class DepthReader {
 public:
  DepthReader(std::size_t limit, std::string_view text) : limit_(limit), text_(text) {}

  std::optional<TomlPlace> run() {
    while (position_ < text_.size()) {
      step();
      if (std::accumulate(levels_.begin(), levels_.end(), std::size_t{0}) > limit_) {
        return place();
      }
    }
    return std::nullopt;
  }

 private:
  void step() {
    const char c = text_[position_];
    if (c == '"' || c == '\'') {
      skip_string(c);
      return;
    }
    if (c == '#') {
      position_ = std::min(text_.find('\n', position_), text_.size());
      return;
    }
    ++position_;
    if (c == '.') {
      ++levels_.back();
    } else if (c == ',' || c == '\n') {
      levels_.back() = 1;
    } else if (c == '[' || c == '{') {
      levels_.push_back(1);
    } else if ((c == ']' || c == '}') && levels_.size() > 1) {
      levels_.pop_back();
    }
  }

  /// Behind the string's end; one line's end where a string of one line is not closed.
  void skip_string(char quote) {
    const std::string_view rest = text_.substr(position_);
    const bool many_lines = rest.size() > 2 && rest[1] == quote && rest[2] == quote;
    const std::size_t length = many_lines ? 3 : 1;
    std::size_t at = length;
    while (at < rest.size()) {
      if (rest[at] == '\\' && quote == '"') {
        at += 2;
      } else if (rest[at] == '\n' && !many_lines) {
        break;
      } else if (rest.substr(at, length) == rest.substr(0, length)) {
        at += length;
        for (int more = 0; more < 2 && many_lines && at < rest.size() && rest[at] == quote; ++more) {
          ++at; // """quoted"""""
        }
        break;
      } else {
        ++at;
      }
    }
    position_ += std::min(at, rest.size());
  }

  [[nodiscard]] TomlPlace place() const {
    const std::string_view before = text_.substr(0, position_ - 1);
    const std::size_t line_start = before.rfind('\n') + 1; // npos + 1 is 0
    const auto is_first_byte = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; };
    TomlPlace place;
    place.line += static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n'));
    place.column += static_cast<std::uint32_t>(
        std::count_if(before.begin() + static_cast<std::ptrdiff_t>(line_start), before.end(), is_first_byte));
    return place;
  }

  std::size_t limit_;
  std::string_view text_;
  std::size_t position_ = 0;
  std::vector<std::size_t> levels_ = {1}; ///< parts of the dotted key at hand, of each bracket that is open
};

} // namespace

std::optional<TomlPlace> deeper_than(std::size_t limit, std::string_view text) {
  return DepthReader(limit, text).run();
}

} // namespace dcuop
