#include "dcuop/support/terminal.hpp"

#include <cerrno>
#include <charconv>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "dcuop/support/error.hpp"
#include "dcuop/support/text.hpp"
#include "descriptor.hpp"

namespace dcuop {

namespace {

constexpr std::string_view erase_line = "\r\033[K";
constexpr std::string_view reset_style = "\033[0m";

bool can_control(const Environment& environment, int descriptor) {
  const std::optional<std::string> kind = environment.get_nonempty("TERM");
  return ::isatty(descriptor) == 1 && kind && *kind != "dumb";
}

std::string_view code_of(Style style) {
  switch (style) {
  case Style::plain:
    return "";
  case Style::bold:
    return "\033[1m";
  case Style::dim:
    return "\033[2m";
  case Style::red:
    return "\033[31m";
  case Style::green:
    return "\033[32m";
  case Style::yellow:
    return "\033[33m";
  case Style::cyan:
    return "\033[36m";
  }
  return "";
}

std::string in_style(std::string_view text, Style style, bool colour) {
  const std::string_view code = code_of(style);
  if (!colour || code.empty() || text.empty()) {
    return std::string(text);
  }
  return std::string(code) + std::string(text) + std::string(reset_style);
}

/// False when it could not all be written.
bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      pollfd waiting{descriptor, POLLOUT, 0};
      static_cast<void>(::poll(&waiting, 1, -1));
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

/// Asked for every line, as windows are resized.
std::size_t width_of(int descriptor, std::size_t columns_variable) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  return columns_variable > 0 ? columns_variable : 80;
}

std::size_t columns_in(const Environment& environment) {
  const std::string text = environment.get("COLUMNS").value_or("");
  std::size_t columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  return error == std::errc() && end == text.data() + text.size() && columns < 10'000 ? columns : 0;
}

} // namespace

Terminal::Terminal(const Environment& environment, Options options)
    : options_(options), columns_variable_(columns_in(environment)) {
  // https://no-color.org: present and not empty, regardless of its value.
  const bool colour = !options.json && !environment.get_nonempty("NO_COLOR");
  colour_stdout_ = colour && can_control(environment, STDOUT_FILENO);
  colour_stderr_ = colour && can_control(environment, STDERR_FILENO);
  live_enabled_ = !options.json && !options.quiet && can_control(environment, STDERR_FILENO);
}

Terminal::~Terminal() {
  const std::lock_guard guard(mutex_);
  erase_live_locked();
}

void Terminal::answer(std::string_view line) {
  const std::lock_guard guard(mutex_);
  // Both streams may be the same terminal.
  const std::string live_text = live_text_;
  erase_live_locked();
  if (!write_all(STDOUT_FILENO, std::string(line) + "\n")) {
    throw Error(ExitCode::environment, "cannot write to standard output: " + error_text(errno));
  }
  draw_live_locked(live_text);
}

void Terminal::remark(std::string_view line) {
  if (!options_.quiet) {
    write_error_line(line);
  }
}

void Terminal::detail(std::string_view line) {
  if (options_.verbose && !options_.quiet) {
    write_error_line(line);
  }
}

void Terminal::error(std::string_view line) {
  write_error_line(line);
}

void Terminal::live(std::string_view line) {
  if (!live_enabled_) {
    return;
  }
  const std::lock_guard guard(mutex_);
  if (line.empty()) {
    erase_live_locked();
  } else if (line != live_text_) {
    draw_live_locked(std::string(line));
  }
}

std::string Terminal::styled(std::string_view text, Style style) const {
  return in_style(text, style, colour_stdout_);
}

std::string Terminal::styled_error(std::string_view text, Style style) const {
  return in_style(text, style, colour_stderr_);
}

void Terminal::write_error_line(std::string_view line) {
  const std::lock_guard guard(mutex_);
  const std::string live_text = live_text_;
  // In one write, so that lines of several processes do not mix.
  const std::string erase = live_text.empty() ? std::string() : std::string(erase_line);
  static_cast<void>(write_all(STDERR_FILENO, erase + std::string(line) + "\n"));
  draw_live_locked(live_text);
}

void Terminal::draw_live_locked(const std::string& text) {
  if (text.empty()) {
    return;
  }
  // One column less: a full line would wrap, and the next "\r" would erase only its second half.
  const std::size_t width = width_of(STDERR_FILENO, columns_variable_) - 1;
  static_cast<void>(write_all(STDERR_FILENO, std::string(erase_line) + cut_to_width(text, width)));
  live_text_ = text;
}

void Terminal::erase_live_locked() {
  if (!live_text_.empty()) {
    static_cast<void>(write_all(STDERR_FILENO, erase_line));
    live_text_.clear();
  }
}

} // namespace dcuop
