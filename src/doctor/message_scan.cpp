#include "message_scan.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "message_chinese.hpp"
#include "message_lines.hpp"

#include "dcuop/elf/image.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

constexpr std::size_t most_clues = 64;
constexpr auto none = std::string_view::npos;
/// Nobody pastes more by hand; only what is pasted is wrapped.
constexpr std::size_t largest_paste = std::size_t{1} << 20;

bool begins_anew(std::string_view line) {
  constexpr std::array<std::string_view, 9> beginnings = {
      "Traceback", "  File ",   "During handling", "The above exception", "FAILED:", "ninja:",
      "Error: ",   "warning: ", "WARNING"};
  const auto starts = [line](std::string_view beginning) { return line.starts_with(beginning); };
  return std::any_of(beginnings.begin(), beginnings.end(), starts) || line.find("Error: ") != none ||
         line.find(": error: ") != none;
}

int error_rank(std::string_view line) {
  if (line.find("Error: ") != none || line.find("Exception: ") != none) {
    return 2;
  }
  constexpr std::array<std::string_view, 8> words = {"rror:",  "ERROR",  "fatal", "FATAL",
                                                     "FAILED", "failed", "abort", "错误"};
  return std::any_of(words.begin(), words.end(),
                     [line](std::string_view word) { return line.find(word) != none; })
             ? 1
             : 0;
}

/// Said by a program that goes on without what it missed.
bool is_warning(std::string_view line) {
  constexpr std::array<std::string_view, 8> words = {
      "WARN", "Warning", "warning: ", "alling back", "fallback", "Original ImportError was", "[W", "INFO"};
  return std::any_of(words.begin(), words.end(),
                     [line](std::string_view word) { return line.find(word) != none; });
}

/// "KeyError: 'weights'", "torch.cuda.SomeError: ...": what a traceback ends with.
bool is_raised(std::string_view line) {
  const auto type = line.substr(0, line.find(": "));
  const bool plain = std::all_of(type.begin(), type.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  });
  return plain && type.size() < line.size() && (type.ends_with("Error") || type.ends_with("Exception"));
}

/// A program that went on without a module may fail for want of it: by a name that is not there, or in such words.
bool may_follow_from_a_miss(std::string_view raised) {
  constexpr std::array<std::string_view, 14> words = {
      "AttributeError", "NameError", "ImportError", "ModuleNotFoundError", "vailable", "nstall",
      "ompiled",        "upported",  "import",      "not supported",       "oad",      "NoneType",
      "equire",         "uild"};
  return std::any_of(words.begin(), words.end(),
                     [raised](std::string_view word) { return raised.find(word) != none; });
}

class Scan {
 public:
  explicit Scan(const MessageText& message) : pasted_(message.text.size() <= largest_paste) {
    const auto use = [this](const MessageLine& line) { take(line); };
    const std::string_view text = message.text;
    const auto head = text.substr(0, message.cut ? message.cut_at : text.size());
    const auto before = for_each_line(head, use);
    const std::size_t unfinished = head.empty() || head.ends_with('\n') ? 0 : 1;
    for_each_line(text.substr(head.size()), use, before - unfinished + message.lines_left_out);
    while (!window_.empty()) {
      look_at_first();
    }
  }

  MessageScan result() {
    result_.ranks = ranks_.size();
    const bool passed_over = ended_by_something_else();
    if (passed_over) {
      result_.last_error = raised_;
      result_.last_line = raised_line_;
    }
    put_cause_first();
    for (auto& found : found_) {
      (passed_over ? result_.passed_over : result_.clues).push_back(std::move(found.clue));
    }
    return std::move(result_);
  }

 private:
  struct Found {
    Weight weight;
    Clue clue;
    bool warned = false;
  };

  void take(const MessageLine& line) {
    ++result_.lines;
    width_ = std::max(width_, line.text.size());
    if (!line.rank.empty()) {
      ranks_.insert(line.rank);
    }
    if (const int rank = error_rank(line.text); rank >= last_rank_) {
      last_rank_ = rank;
      result_.last_error = telling_part(line.text);
      result_.last_line = line.number;
    }
    window_.push_back(line);
    if (window_.size() > joined_at_most) {
      look_at_first();
    }
  }

  void look_at_first() {
    const auto line = std::move(window_.front());
    window_.erase(window_.begin());
    const auto english = in_english(line.text);
    auto sighting = recognised(english);
    if (english != line.text) {
      if (sighting) {
        sighting->clue.says = telling_part(line.text);
      }
    } else if (pasted_) {
      sighting = unwrapped(line, std::move(sighting));
    }
    note_end(line, sighting.has_value());
    if (sighting) {
      remember(std::move(*sighting), line);
    }
    before_ = line.text;
  }

  /// The rest of a line that a terminal or a mail broke may make it tell, or tell more.
  std::optional<Sighting> unwrapped(const MessageLine& line, std::optional<Sighting> alone) {
    std::string tight = line.text;
    if (alone && broken_before(*alone, line.text)) {
      for (const std::string_view between : {"", " "}) {
        auto start = before_ + std::string(between) + line.text;
        auto whole = recognised(start);
        if (whole && whole->clue.file.is_absolute() &&
            whole->clue.rule.substr(0, 4) == alone->clue.rule.substr(0, 4)) {
          alone = std::move(whole);
          tight = std::move(start);
          break;
        }
      }
    }
    if (alone && !touches_end(*alone, line.text)) {
      return alone;
    }
    std::string loose = tight;
    for (const auto& next : window_) {
      if (begins_anew(next.text) || next.rank != line.rank || tight.size() < narrowest ||
          recognised(next.text)) {
        break;
      }
      const auto more = std::string(trimmed(next.text));
      tight += more;
      loose += " " + more;
      for (const auto* whole : {&tight, &loose}) {
        auto better = recognised(*whole);
        if (better && (!alone || tells_more(*better, *alone, more))) {
          // It may go on: take the rest of a name that has not ended.
          alone = std::move(better);
          if (!touches_end(*alone, *whole)) {
            return alone;
          }
          tight = loose = std::string(*whole);
          break;
        }
      }
    }
    return alone;
  }

  static bool touches_end(const Sighting& sighting, std::string_view line) {
    const auto& clue = sighting.clue;
    return (!clue.name.empty() && line.ends_with(clue.name)) ||
           (!clue.file.empty() && line.ends_with(clue.file.string()));
  }

  /// The line begins in the midst of, or right behind, the path that it tells of.
  [[nodiscard]] bool broken_before(const Sighting& sighting, std::string_view line) const {
    if (before_.size() < narrowest || before_.find('/') == std::string::npos) {
      return false;
    }
    const auto& file = sighting.clue.file;
    return file.empty() ? before_.ends_with(".so") || before_.ends_with(".so:")
                        : !file.is_absolute() && line.starts_with(file.string());
  }

  [[nodiscard]] bool tells_more(const Sighting& whole, const Sighting& part, std::string_view rest) const {
    const auto& name = whole.clue.name;
    const auto& shorter = part.clue.name;
    if (name.starts_with("_Z") && elf::demangled(shorter) == shorter && elf::demangled(name) != name) {
      return true;
    }
    const bool one_word = rest.find(' ') == none || rest.ends_with(')');
    return one_word &&
           name.size() + whole.clue.file.string().size() > shorter.size() + part.clue.file.string().size() &&
           part.clue.says.size() + 20 >= width_;
  }

  void remember(Sighting sighting, const MessageLine& line) {
    auto& clue = sighting.clue;
    const auto key = std::tuple(clue.rule, clue.name, clue.file.string());
    const auto known = places_.find(key);
    if (known != places_.end()) {
      note_rank(found_[known->second].clue, line.rank);
      return;
    }
    if (found_.size() >= most_clues) {
      return;
    }
    clue.line = line.number;
    note_rank(clue, line.rank);
    places_.emplace(key, found_.size());
    found_.push_back({sighting.weight, std::move(clue), is_warning(line.text)});
  }

  void note_end(const MessageLine& line, bool known) {
    if (line.text.find("Traceback (most recent call last)") != none) {
      in_traceback_ = true;
    } else if (in_traceback_ && !known && is_raised(line.text)) {
      in_traceback_ = false;
      raised_ = telling_part(line.text);
      raised_line_ = line.number;
    }
  }

  /// All that is known was only warned of, and the program ended later, by what does not look like a consequence.
  [[nodiscard]] bool ended_by_something_else() const {
    return !found_.empty() && !may_follow_from_a_miss(raised_) &&
           std::all_of(found_.begin(), found_.end(),
                       [this](const Found& found) { return found.warned && found.clue.line < raised_line_; });
  }

  static void note_rank(Clue& clue, const std::string& rank) {
    constexpr std::size_t kept = 1024;
    if (!rank.empty() && clue.ranks.size() < kept &&
        std::find(clue.ranks.begin(), clue.ranks.end(), rank) == clue.ranks.end()) {
      clue.ranks.push_back(rank);
    }
  }

  /// What failed first is why the rest failed; a mere hint counts where nothing else does.
  void put_cause_first() {
    const auto first = std::min_element(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
      return std::pair(a.weight, a.clue.line) < std::pair(b.weight, b.clue.line);
    });
    if (first == found_.end()) {
      return;
    }
    std::rotate(found_.begin(), first, first + 1);
    auto& cause = found_.front().clue;
    if (cause.file.empty()) { // torch.ops.load_library says the file a line later
      const auto names_it = std::find_if(found_.begin() + 1, found_.end(), [](const Found& other) {
        return other.weight == Weight::consequence && !other.clue.file.empty();
      });
      cause.file = names_it == found_.end() ? cause.file : names_it->clue.file;
    }
  }

  static constexpr std::size_t joined_at_most = 4;
  static constexpr std::size_t narrowest = 40;
  bool pasted_;
  std::vector<MessageLine> window_;
  std::string before_;
  std::size_t width_ = 0;
  int last_rank_ = 0;
  bool in_traceback_ = false;
  std::string raised_; ///< what the last traceback ended with, where that is not known
  std::size_t raised_line_ = 0;
  std::set<std::string> ranks_;
  std::vector<Found> found_;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> places_;
  MessageScan result_;
};

} // namespace

MessageScan scan_message(const MessageText& message) {
  return Scan(message).result();
}

} // namespace dcuop::doctor
