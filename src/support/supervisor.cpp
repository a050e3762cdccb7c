#include "supervisor.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "traced_calls.hpp"
#include "tracer.hpp"

namespace dcuop::supervision {

namespace {

/// What the program's own process says when it does not get as far as the program.
struct StartFailure {
  Stage stage = Stage::none;
  std::int32_t error = 0;
};

struct Tree {
  pid_t child = -1;
  bool child_ended = false;
  Report report;
  tracing::Tracer* tracer = nullptr; ///< of a traced tree
};

void write_whole(int descriptor, const void* data, std::size_t size) {
  while (::write(descriptor, data, size) < 0 && errno == EINTR) {
  }
}

/// Text to a number; -1 when it is none.
pid_t parse_pid(const char* text) {
  pid_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    number = number * 10 + (*text - '0');
  }
  return *text == '\0' || *text == ' ' ? number : -1;
}

/// Calls `visit` for each number that a directory of /proc lists, with the descriptor that reads it.
/// readdir(3) would allocate.
template <typename Visit> void for_each_number(const char* directory, Visit visit) {
  struct Entry { // linux_dirent64, see getdents(2)
    std::uint64_t inode;
    std::int64_t offset;
    std::uint16_t size;
    std::uint8_t type;
    char name[1];
  };
  const int descriptor = ::open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return;
  }
  alignas(Entry) std::array<char, 4096> buffer{};
  long count = 0;
  while ((count = ::syscall(SYS_getdents64, descriptor, buffer.data(), buffer.size())) > 0) {
    for (long position = 0; position < count;) {
      const char* const entry = buffer.data() + position;
      std::uint16_t size = 0;
      std::memcpy(&size, entry + offsetof(Entry, size), sizeof size);
      const char* const name = entry + offsetof(Entry, name);
      if (*name >= '0' && *name <= '9') {
        visit(parse_pid(name), descriptor);
      }
      position += size;
    }
  }
  ::close(descriptor);
}

/// The parent of a process, -1 when it is gone.
pid_t parent_of(pid_t process) {
  std::array<char, 32> path{"/proc/"};
  std::array<char, 12> digits{};
  std::size_t count = 0;
  for (pid_t rest = process; rest > 0; rest /= 10) {
    digits[count++] = static_cast<char>('0' + rest % 10);
  }
  std::size_t end = std::strlen(path.data());
  while (count > 0) {
    path[end++] = digits[--count];
  }
  std::memcpy(&path[end], "/stat", 6);
  const int descriptor = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return -1;
  }
  std::array<char, 256> stat{};
  const ssize_t size = ::read(descriptor, stat.data(), stat.size() - 1);
  ::close(descriptor);
  // "pid (name) state parent ...": the name may hold anything, a parenthesis too.
  const char* const name_end = size > 0 ? std::strrchr(stat.data(), ')') : nullptr;
  return name_end != nullptr && std::strlen(name_end) > 4 ? parse_pid(name_end + 4) : -1;
}

/// Closes all but the descriptors that are needed. A copy of another child's pipe would keep that pipe from
/// ending, a copy of the lifeline's write end would keep this process from seeing dcuop's end, and a copy of
/// a lock's descriptor would keep the lock.
void close_all_but(std::array<int, 7> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned next = 0;
  const auto close_up_to = [&next](unsigned end) { // exclusive
    if (next >= end) {
      return;
    }
#ifdef SYS_close_range
    if (::syscall(SYS_close_range, next, end - 1, 0U) == 0) {
      return;
    }
#endif
    // Before Linux 5.9. /proc lists what is open; the limit could be a thousand million.
    for_each_number("/proc/self/fd", [next, end](int number, int listing) {
      if (number != listing && number >= static_cast<int>(next) && static_cast<unsigned>(number) < end) {
        ::close(number);
      }
    });
  };
  for (const int descriptor : kept) {
    if (descriptor >= 0) {
      close_up_to(static_cast<unsigned>(descriptor));
      next = static_cast<unsigned>(descriptor) + 1;
    }
  }
  close_up_to(static_cast<unsigned>(INT_MAX));
}

[[noreturn]] void give_up(int failure_pipe, Stage stage) {
  const StartFailure failure{stage, errno};
  write_whole(failure_pipe, &failure, sizeof failure);
  ::_exit(127);
}

/// Waits until the supervisor has said whether it traces this process.
void be_traced(int verdict_pipe) {
  char traced = 0;
  while (::read(verdict_pipe, &traced, 1) < 0 && errno == EINTR) {
  }
  if (traced != 0) {
    (void)tracing::install_filter(); // where it fails no call stops, which the tracer sees
  }
}

/// In the program's own process: the descriptors, signals and directory that it starts with.
[[noreturn]] void become_program(const Start& start, pid_t supervisor, int failure_pipe, int verdict_pipe) {
  ::setpgid(0, 0);
  // The supervisor has one thread, so that its death signal means its death. It may have come already.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) {
    ::_exit(127);
  }
  ::dup2(start.input, STDIN_FILENO);
  ::dup2(start.output, STDOUT_FILENO);
  ::dup2(start.diagnostics, STDERR_FILENO);
  if (start.working_directory != nullptr && ::chdir(start.working_directory) != 0) {
    give_up(failure_pipe, Stage::working_directory);
  }
  // What dcuop ignores, or handles, is none of the program's business.
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    ::sigaction(signal, &action, nullptr);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (start.accesses >= 0) {
    be_traced(verdict_pipe);
  }
  // A script that was written just now may still be open for writing in a process that another thread forked
  // and that has not yet come to its exec (https://github.com/golang/go/issues/22315).
  for (int attempt = 0; attempt < 50; ++attempt) {
    ::execve(start.program, start.argv, start.environment);
    if (errno != ETXTBSY) {
      break;
    }
    constexpr timespec pause{0, 10'000'000};
    ::nanosleep(&pause, nullptr);
  }
  give_up(failure_pipe, Stage::execute);
}

/// Takes the next process that has ended, or stopped for the tracer, which lets it go on. 0 when there is none just now
/// (WNOHANG) or a signal came, -1 when there are no children any more.
pid_t take_one(Tree& tree, int options) {
  int status = 0;
  rusage usage{};
  const pid_t process = ::wait4(-1, &status, options | __WALL, &usage);
  if (process < 0) {
    return errno == EINTR ? 0 : -1;
  }
  if (process > 0 && WIFSTOPPED(status)) {
    tree.tracer->handle_stop(process, status);
  } else if (process > 0) {
    tree.report.peak_kib = std::max(tree.report.peak_kib, static_cast<std::uint64_t>(usage.ru_maxrss));
    if (process == tree.child) {
      tree.child_ended = true;
      tree.report.status = status;
    }
  }
  return process;
}

/// False when there are no children any more.
bool reap(Tree& tree) {
  pid_t taken = 1;
  while (taken > 0) {
    taken = take_one(tree, WNOHANG);
  }
  return taken == 0;
}

/// Until the program ends, dcuop ends, or dcuop asks for the end.
void wait_for_an_end(const Start& start, Tree& tree, int signals) {
  while (reap(tree) && !tree.child_ended) {
    std::array<pollfd, 2> watched{{{start.lifeline, POLLIN, 0}, {signals, POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(), -1) < 0) {
      continue;
    }
    if (watched[0].revents != 0) {
      return;
    }
    signalfd_siginfo arrived{};
    if (watched[1].revents != 0 && ::read(signals, &arrived, sizeof arrived) == sizeof arrived &&
        arrived.ssi_signo == SIGTERM) {
      return;
    }
  }
}

volatile std::sig_atomic_t look_is_due = 0;

/// The same for a traced tree, which stops up to 100,000 times: one wait4(2) a stop, and a look at dcuop ten times a
/// second, for which an alarm interrupts the waiting.
void trace_until_an_end(const Start& start, Tree& tree, int signals) {
  struct sigaction interrupt {};
  interrupt.sa_handler = [](int) { look_is_due = 1; };
  ::sigaction(SIGALRM, &interrupt, nullptr);
  sigset_t alarm;
  ::sigemptyset(&alarm);
  ::sigaddset(&alarm, SIGALRM);
  ::sigprocmask(SIG_UNBLOCK, &alarm, nullptr);
  constexpr itimerval tick{{0, 100'000}, {0, 100'000}};
  ::setitimer(ITIMER_REAL, &tick, nullptr);
  while (!tree.child_ended) {
    const pid_t taken = take_one(tree, 0);
    if (taken < 0) {
      break;
    }
    if (taken > 0 && look_is_due == 0) { // also when the stops come so fast that no alarm meets a wait
      continue;
    }
    look_is_due = 0;
    pollfd lifeline{start.lifeline, POLLIN, 0};
    signalfd_siginfo arrived{};
    bool end_is_wanted = ::poll(&lifeline, 1, 0) > 0;
    while (::read(signals, &arrived, sizeof arrived) == sizeof arrived) {
      end_is_wanted |= arrived.ssi_signo == SIGTERM;
    }
    if (end_is_wanted) {
      break;
    }
  }
  constexpr itimerval off{};
  ::setitimer(ITIMER_REAL, &off, nullptr);
}

/// Kills what is left of the tree. As the subreaper of all descendants, this process inherits those whose
/// parent died, also when they left the process group: level by level, until there are none. A process that
/// it may not kill (one that became another user) is left after a while.
void end_tree(Tree& tree) {
  constexpr int attempts = 2500;
  constexpr timespec pause{0, 2'000'000};
  for (int attempt = 0; reap(tree) && attempt < attempts; ++attempt) {
    // A number cannot have been given away: only this process collects these children.
    if (!tree.child_ended) {
      ::kill(-tree.child, SIGKILL);
      ::kill(tree.child, SIGKILL);
    }
    const pid_t self = ::getpid();
    for_each_number("/proc", [self](pid_t process, int) {
      if (process > 1 && parent_of(process) == self) {
        ::kill(process, SIGKILL);
      }
    });
    ::nanosleep(&pause, nullptr);
  }
}

} // namespace

void supervise(const Start& start) {
  close_all_but(
      {start.lifeline, start.report, start.input, start.output, start.diagnostics, start.accesses, -1});
  // Taken, so that nothing opened below is where the program's streams go.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::dup2(start.input, stream);
  }
  // Out of the terminal's reach: a Ctrl-C is dcuop's to handle.
  ::setsid();
  ::prctl(PR_SET_NAME, "dcuop-watch");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::signal(SIGCHLD, SIG_DFL); // when inherited as ignored, children would vanish without a status
  sigset_t watched;
  ::sigemptyset(&watched);
  ::sigaddset(&watched, SIGCHLD);
  ::sigaddset(&watched, SIGTERM);
  const int signals = ::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
  std::array<int, 2> failure_pipe{-1, -1};
  std::array<int, 2> verdict_pipe{-1, -1};
  const pid_t self = ::getpid();
  Tree tree;
  if (signals >= 0 && ::pipe2(failure_pipe.data(), O_CLOEXEC) == 0 &&
      ::pipe2(verdict_pipe.data(), O_CLOEXEC) == 0) {
    tree.child = ::fork();
  }
  if (tree.child == 0) {
    become_program(start, self, failure_pipe[1], verdict_pipe[0]);
  }
  if (tree.child < 0) {
    tree.report.failed_stage = Stage::fork;
    tree.report.error = errno;
    write_whole(start.report, &tree.report, sizeof tree.report);
    ::_exit(1);
  }
  ::setpgid(tree.child, tree.child); // both do it: neither may be too late
  ::close(failure_pipe[1]);
  ::close(start.input);
  ::close(start.output);
  ::close(start.diagnostics);
  tracing::Tracer tracer(start.accesses);
  tree.tracer = &tracer;
  if (start.accesses >= 0) {
    tree.report.traced = tracing::Tracer::attach(tree.child);
    const char verdict = tree.report.traced ? 1 : 0;
    write_whole(verdict_pipe[1], &verdict, sizeof verdict);
  }

  if (tree.report.traced) {
    trace_until_an_end(start, tree, signals);
  } else {
    wait_for_an_end(start, tree, signals);
  }
  end_tree(tree);
  tree.report.traced = tracer.finish() > 0 && tree.report.traced;

  // Empty when the program was started: its copy of the write end closed then.
  StartFailure failure;
  if (::read(failure_pipe[0], &failure, sizeof failure) == sizeof failure) {
    tree.report.failed_stage = failure.stage;
    tree.report.error = failure.error;
  }
  write_whole(start.report, &tree.report, sizeof tree.report);
  ::_exit(0);
}

} // namespace dcuop::supervision
