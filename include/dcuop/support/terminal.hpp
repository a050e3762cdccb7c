#pragma once
// What people see while dcuop works: stdout carries the answer, stderr progress and remarks.

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "dcuop/support/environment.hpp"

namespace dcuop {

enum class Style { plain, bold, dim, red, green, yellow, cyan };

/// Where text goes and what it may look like. Colour and the live line only on a terminal; TERM=dumb and
/// --json switch both off, NO_COLOR the colour, --quiet the live line. All output of the program goes through
/// one of these. Thread-safe.
class Terminal {
 public:
  struct Options {
    bool quiet = false;   ///< no progress, no remarks; errors still
    bool verbose = false; ///< details too
    bool json = false;    ///< stdout is for JSON: no colour anywhere
  };
  Terminal(const Environment& environment, Options options);
  ~Terminal(); ///< removes the live line

  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void answer(
      std::string_view line); ///< stdout, with a newline; throws Error(environment) when it cannot be written
  void remark(std::string_view line); ///< stderr, with a newline; not when quiet
  void detail(std::string_view line); ///< stderr, only when verbose
  void error(std::string_view line);  ///< stderr, always

  /// One line that replaces itself, on a terminal only; cut to its width. Empty text removes it.
  void live(std::string_view line);
  [[nodiscard]] bool has_live_line() const { return live_enabled_; }

  [[nodiscard]] std::string styled(std::string_view text, Style style) const;       ///< for stdout
  [[nodiscard]] std::string styled_error(std::string_view text, Style style) const; ///< for stderr
  [[nodiscard]] const Options& options() const { return options_; }

 private:
  void write_error_line(std::string_view line);
  void draw_live_locked(const std::string& text);
  void erase_live_locked();
  Options options_;
  bool colour_stdout_ = false;
  bool colour_stderr_ = false;
  bool live_enabled_ = false;
  std::size_t columns_variable_ = 0; ///< COLUMNS, for terminals that do not know their width
  std::string live_text_;
  std::mutex mutex_;
};

} // namespace dcuop
