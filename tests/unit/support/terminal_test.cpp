#include "dcuop/support/terminal.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dcuop/support/error.hpp"

namespace dcuop {
namespace {

std::string read_to_end(int descriptor) {
  std::string text;
  char block[1024];
  for (ssize_t count = 0; (count = ::read(descriptor, block, sizeof block)) > 0;) {
    text.append(block, static_cast<std::size_t>(count));
  }
  return text;
}

/// What `body` writes in a process whose stdout and stderr are a terminal of this width.
std::string on_terminal(unsigned short columns, const std::function<void()>& body) {
  const int controller = ::posix_openpt(O_RDWR | O_NOCTTY);
  EXPECT_EQ(::grantpt(controller), 0);
  EXPECT_EQ(::unlockpt(controller), 0);
  const int terminal = ::open(::ptsname(controller), O_RDWR | O_NOCTTY);
  const winsize size{24, columns, 0, 0};
  ::ioctl(terminal, TIOCSWINSZ, &size);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(terminal, STDOUT_FILENO);
    ::dup2(terminal, STDERR_FILENO);
    ::close(controller);
    ::close(terminal);
    body();
    ::_exit(0);
  }
  ::close(terminal);
  const std::string text = read_to_end(controller);
  ::waitpid(child, nullptr, 0);
  ::close(controller);
  return text;
}

/// stdout and stderr of `body` through pipes.
std::pair<std::string, std::string> through_pipes(const std::function<void()>& body) {
  int out[2];
  int err[2];
  EXPECT_EQ(::pipe(out), 0);
  EXPECT_EQ(::pipe(err), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    for (const int end : {out[0], out[1], err[0], err[1]}) {
      ::close(end);
    }
    body();
    ::_exit(0);
  }
  ::close(out[1]);
  ::close(err[1]);
  std::pair<std::string, std::string> streams{read_to_end(out[0]), read_to_end(err[0])};
  ::close(out[0]);
  ::close(err[0]);
  ::waitpid(child, nullptr, 0);
  return streams;
}

const Environment xterm({{"TERM", "xterm"}});

std::string styled_on_terminal(const Environment& environment, Terminal::Options options) {
  return on_terminal(80, [&] {
    Terminal terminal(environment, options);
    terminal.answer(terminal.styled("x", Style::red) + terminal.styled_error("y", Style::bold));
  });
}

TEST(Terminal, SendsAnswersAndTheRestToTheirStreams) {
  const auto [out, err] = through_pipes([] {
    Terminal terminal(xterm, {});
    terminal.answer("answer");
    terminal.remark("remark");
    terminal.detail("detail");
    terminal.error("error");
    terminal.live("live");
    terminal.answer(terminal.styled("plain", Style::green));
  });
  EXPECT_EQ(out, "answer\nplain\n");
  EXPECT_EQ(err, "remark\nerror\n");
}

TEST(Terminal, IsQuietOrVerbose) {
  const auto speak = [](Terminal::Options options) {
    return through_pipes([options] {
      Terminal terminal(xterm, options);
      terminal.answer("answer");
      terminal.remark("remark");
      terminal.detail("detail");
      terminal.error("error");
    });
  };
  EXPECT_EQ(speak({.quiet = true}).first, "answer\n");
  EXPECT_EQ(speak({.quiet = true}).second, "error\n");
  EXPECT_EQ(speak({.verbose = true}).second, "remark\ndetail\nerror\n");
  EXPECT_EQ(speak({.quiet = true, .verbose = true}).second, "error\n");
}

TEST(Terminal, ColoursOnlyWhereItMay) {
  const std::string coloured = "\033[31mx\033[0m\033[1my\033[0m\r\n";
  EXPECT_EQ(styled_on_terminal(xterm, {}), coloured);
  EXPECT_EQ(styled_on_terminal(Environment({{"TERM", "xterm"}, {"NO_COLOR", ""}}), {}), coloured)
      << "an empty NO_COLOR is none";
  EXPECT_EQ(styled_on_terminal(xterm, {.quiet = true}), coloured);
  EXPECT_EQ(styled_on_terminal(Environment({{"TERM", "xterm"}, {"NO_COLOR", "0"}}), {}), "xy\r\n");
  EXPECT_EQ(styled_on_terminal(Environment({{"TERM", "dumb"}}), {}), "xy\r\n");
  EXPECT_EQ(styled_on_terminal(Environment(), {}), "xy\r\n");
  EXPECT_EQ(styled_on_terminal(xterm, {.json = true}), "xy\r\n");
}

TEST(Terminal, ReplacesTheLiveLineAndRemovesItAtTheEnd) {
  EXPECT_EQ(on_terminal(80,
                        [] {
                          Terminal terminal(xterm, {});
                          terminal.live("one");
                          terminal.live("one");
                          terminal.live("two");
                        }),
            "\r\033[Kone\r\033[Ktwo\r\033[K");
  EXPECT_EQ(on_terminal(80,
                        [] {
                          Terminal terminal(xterm, {});
                          terminal.live("one");
                          terminal.live("");
                          terminal.remark("end");
                        }),
            "\r\033[Kone\r\033[Kend\r\n");
}

TEST(Terminal, PutsLinesAboveTheLiveLine) {
  EXPECT_EQ(on_terminal(80,
                        [] {
                          Terminal terminal(xterm, {});
                          terminal.live("live");
                          terminal.remark("remark");
                          terminal.answer("answer");
                        }),
            "\r\033[Klive\r\033[Kremark\r\n\r\033[Klive\r\033[Kanswer\r\n\r\033[Klive\r\033[K");
}

TEST(Terminal, CutsTheLiveLineToTheWidth) {
  const auto live = [](Environment environment) {
    return [environment] {
      Terminal terminal(environment, {});
      terminal.live("0123456789");
    };
  };
  EXPECT_EQ(on_terminal(8, live(xterm)), "\r\033[K012345…\r\033[K");
  EXPECT_EQ(on_terminal(0, live(Environment({{"TERM", "xterm"}, {"COLUMNS", "6"}}))),
            "\r\033[K0123…\r\033[K");
  EXPECT_EQ(on_terminal(0, live(Environment({{"TERM", "xterm"}, {"COLUMNS", "x"}}))),
            "\r\033[K0123456789\r\033[K");
}

TEST(Terminal, HasNoLiveLineWhereItWouldHarm) {
  const auto has_live_line = [](const Environment& environment, Terminal::Options options) {
    return on_terminal(80, [&] {
             Terminal terminal(environment, options);
             terminal.live("x");
             if (terminal.has_live_line()) {
               terminal.error("live");
             }
           }) != "";
  };
  EXPECT_TRUE(has_live_line(xterm, {}));
  EXPECT_TRUE(has_live_line(Environment({{"TERM", "xterm"}, {"NO_COLOR", "1"}}), {}));
  EXPECT_FALSE(has_live_line(Environment({{"TERM", "dumb"}}), {}));
  EXPECT_FALSE(has_live_line(xterm, {.quiet = true}));
  EXPECT_FALSE(has_live_line(xterm, {.json = true}));
}

TEST(Terminal, DoesNotLoseAnAnswerSilently) {
  const auto [out, err] = through_pipes([] {
    ::dup2(::open("/dev/full", O_WRONLY), STDOUT_FILENO);
    Terminal terminal(xterm, {});
    try {
      terminal.answer("answer");
    } catch (const Error& error) {
      terminal.error(error.what());
    }
  });
  EXPECT_EQ(err, "cannot write to standard output: No space left on device\n");
}

} // namespace
} // namespace dcuop
