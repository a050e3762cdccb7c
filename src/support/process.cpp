// Supervision. hipcc is a script that starts a shell that starts clang: killing what was started leaves the
// rest compiling. So each child is started by a small supervisor, a fork of dcuop that
//  - leads a session of its own, and puts the program into a process group of its own;
//  - is the "subreaper" of the tree: a process whose parent dies becomes its child, and is found;
//  - holds the read end of the lifeline, a pipe whose write end dcuop alone holds. However dcuop ends, that
//    pipe ends, and the supervisor kills the tree. (PR_SET_PDEATHSIG would not do: it fires when the thread
//    that forked ends.)
// The supervisor holds nothing else that is dcuop's, reports the program's status through a pipe, and ends
// after the last process of the tree: when run() returns, nothing is left running.

#include "dcuop/support/process.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <mutex>
#include <optional>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dcuop/support/files.hpp"
#include "descriptor.hpp"
#include "supervisor.hpp"
#include "trace_reader.hpp"

namespace dcuop {

namespace {

using Clock = std::chrono::steady_clock;
using supervision::Report;
using supervision::Stage;

constexpr int not_started = 127;

/// What cannot be told by the child itself.
struct StartError {
  std::string reason;
};

[[noreturn]] void cannot_start(const std::string& what, int error) {
  throw StartError{what + ": " + error_text(error)};
}

struct Pipe {
  Descriptor reading;
  Descriptor writing;
};

/// Above 2, so that the supervisor can put it in place of a standard stream even if dcuop was started
/// without.
Descriptor above_standard_streams(int number) {
  if (number < 0 || number > STDERR_FILENO) {
    return Descriptor(number);
  }
  const Descriptor low(number);
  return Descriptor(::fcntl(low.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

Pipe make_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    cannot_start("cannot make a pipe", errno);
  }
  Pipe pipe;
  pipe.reading = above_standard_streams(ends[0]);
  pipe.writing = above_standard_streams(ends[1]);
  if (!pipe.reading || !pipe.writing) {
    cannot_start("cannot make a pipe", errno);
  }
  return pipe;
}

Descriptor open_above(const std::filesystem::path& path, int flags) {
  Descriptor opened = above_standard_streams(::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY, 0666));
  if (!opened) {
    cannot_start("cannot open " + path.string(), errno);
  }
  return opened;
}

/// Without a name, and read from its beginning.
Descriptor file_of(const std::string& text) {
  Descriptor file = above_standard_streams(::memfd_create("dcuop-input", MFD_CLOEXEC));
  for (std::size_t done = 0; file && done < text.size();) {
    const ssize_t count = ::write(file.get(), text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) {
      cannot_start("cannot keep what it is to read", errno);
    }
    done += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }
  if (!file || ::lseek(file.get(), 0, SEEK_SET) != 0) {
    cannot_start("cannot keep what it is to read", errno);
  }
  return file;
}

// ---- the lifeline: one for all children of this process

std::mutex lifeline_mutex; ///< held around fork(2) too
std::atomic<int> lifeline_write{-1};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler takes it");
int lifeline_read = -1;    ///< inherited by the supervisors
pid_t lifeline_owner = -1; ///< a fork of dcuop needs its own: its parent holds the other end of this one

/// With lifeline_mutex held.
void ensure_lifeline() {
  if (lifeline_write.load() >= 0 && lifeline_owner == ::getpid()) {
    return;
  }
  Pipe fresh = make_pipe();
  const int old_write = lifeline_write.exchange(-1);
  if (old_write >= 0) {
    ::close(old_write);
  }
  if (lifeline_read >= 0) {
    ::close(lifeline_read);
  }
  lifeline_read = fresh.reading.release();
  lifeline_owner = ::getpid();
  lifeline_write.store(fresh.writing.release());
}

/// No handler of dcuop may run in the supervisor between its fork and its own set-up.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

pid_t fork_supervisor(supervision::Start start) {
  const std::lock_guard guard(lifeline_mutex);
  ensure_lifeline();
  start.lifeline = lifeline_read;
  const BlockedSignals blocked;
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    supervision::supervise(start);
  }
  if (supervisor < 0) {
    cannot_start("cannot start a process", errno);
  }
  return supervisor;
}

// ---- one child

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& string : strings) {
    pointers.push_back(string.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

/// The path to execute. One with a slash is the kernel's to judge, from the working directory.
std::string program_of(const Command& command) {
  if (command.argv.empty() || command.argv.front().empty()) {
    throw StartError{"no program was named"};
  }
  const std::string& name = command.argv.front();
  if (name.find('/') != std::string::npos) {
    return name;
  }
  const std::optional<std::string> found = command.environment.find_program(name);
  if (!found) {
    throw StartError{name + ": not found on PATH"};
  }
  return *found;
}

class Child {
 public:
  explicit Child(const Command& command) : command_(command) { start(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (report_) { // not read to its end: memory ran out
      ::kill(supervisor_, SIGTERM);
      output_.reset();
      diagnostics_.reset();
    }
    int status = 0;
    while (::waitpid(supervisor_, &status, 0) < 0 && errno == EINTR) {
    }
  }

  ProcessResult wait() {
    ProcessResult result;
    const bool limit_passed = collect(result);
    result.wall = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - started_);
    judge(result);
    result.timed_out = limit_passed && result.signal != 0;
    if (was_traced_) {
      result.trace = trace_.take();
    }
    return result;
  }

 private:
  void start() {
    std::string program = program_of(command_);
    std::vector<std::string> argv = command_.argv;
    std::vector<std::string> environment = command_.environment.as_lines();
    const std::vector<char*> argv_pointers = pointers_to(argv);
    const std::vector<char*> environment_pointers = pointers_to(environment);

    const Descriptor input =
        command_.input.empty() ? open_above("/dev/null", O_RDONLY) : file_of(command_.input);
    Pipe report = make_pipe();
    Pipe output;
    Pipe diagnostics;
    if (command_.output_file.empty()) {
      output = make_pipe();
      diagnostics = make_pipe();
    } else {
      output.writing = open_above(command_.output_file, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
    }
    Pipe accesses;
    if (command_.trace) {
      accesses = make_pipe();
    }
    supervision::Start start;
    start.program = program.c_str();
    start.argv = argv_pointers.data();
    start.environment = environment_pointers.data();
    start.working_directory =
        command_.working_directory.empty() ? nullptr : command_.working_directory.c_str();
    start.report = report.writing.get();
    start.input = input.get();
    start.output = output.writing.get();
    start.diagnostics = diagnostics.writing ? diagnostics.writing.get() : output.writing.get();
    start.accesses = accesses.writing ? accesses.writing.get() : -1;
    started_ = Clock::now();
    supervisor_ = fork_supervisor(start);
    report_ = std::move(report.reading);
    output_ = std::move(output.reading);
    diagnostics_ = std::move(diagnostics.reading);
    accesses_ = std::move(accesses.reading);
  }

  /// Reads all pipes until the supervisor has ended. True when the time limit passed.
  bool collect(ProcessResult& result) {
    std::optional<Clock::time_point> deadline;
    if (command_.limit) {
      deadline = started_ + *command_.limit;
    }
    bool limit_passed = false;
    for (const Descriptor* descriptor : {&report_, &output_, &diagnostics_, &accesses_}) {
      if (*descriptor) {
        ::fcntl(descriptor->get(), F_SETFL, O_NONBLOCK);
      }
    }
    while (report_) {
      std::array<pollfd, 4> waiting{{{report_.get(), POLLIN, 0},
                                     {output_.get(), POLLIN, 0},
                                     {diagnostics_.get(), POLLIN, 0},
                                     {accesses_.get(), POLLIN, 0}}};
      const int ready = ::poll(waiting.data(), waiting.size(), poll_timeout(deadline));
      if (ready == 0 && deadline && Clock::now() >= *deadline) {
        ::kill(supervisor_, SIGTERM);
        limit_passed = true;
        deadline.reset();
      }
      read_available(output_, result.output);
      read_available(diagnostics_, result.diagnostics);
      read_accesses();
      read_available(report_, report_bytes_);
    }
    // The writers are gone; what they wrote may not be read yet. Somebody who could not be killed may hold
    // the other end still, so that one does not wait for the end of it.
    read_available(output_, result.output);
    read_available(diagnostics_, result.diagnostics);
    read_accesses();
    return limit_passed;
  }

  void read_accesses() {
    std::string bytes;
    read_available(accesses_, bytes);
    trace_.add(bytes);
  }

  static int poll_timeout(const std::optional<Clock::time_point>& deadline) {
    if (!deadline) {
      return -1;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
  }

  /// Closes the descriptor at its end.
  static void read_available(Descriptor& descriptor, std::string& text) {
    std::array<char, 16 * 1024> block; // NOLINT: filled by read(2)
    while (descriptor) {
      const std::optional<std::size_t> count = read_some(descriptor.get(), block.data(), block.size());
      if (!count && errno == EAGAIN) {
        return;
      }
      if (!count || *count == 0) {
        descriptor.reset();
        return;
      }
      text.append(block.data(), *count);
    }
  }

  void judge(ProcessResult& result) {
    Report report;
    if (report_bytes_.size() != sizeof report) {
      result.signal = SIGKILL;
      result.exit_code = 128 + SIGKILL;
      result.diagnostics += "the supervisor of this process was killed\n";
      return;
    }
    report_bytes_.copy(reinterpret_cast<char*>(&report), sizeof report);
    result.peak_memory = report.peak_kib * 1024;
    was_traced_ = report.traced;
    if (report.failed_stage != Stage::none) {
      result.exit_code = not_started;
      result.diagnostics = failure_text(report);
    } else if (WIFSIGNALED(report.status)) {
      result.signal = WTERMSIG(report.status);
      result.exit_code = 128 + result.signal;
    } else {
      result.exit_code = WEXITSTATUS(report.status);
    }
  }

  [[nodiscard]] std::string failure_text(const Report& report) const {
    switch (report.failed_stage) {
    case Stage::working_directory:
      return "cannot enter " + command_.working_directory.string() + ": " + error_text(report.error);
    case Stage::execute:
      return command_.argv.front() + ": " + error_text(report.error);
    case Stage::fork:
    case Stage::none:
      break;
    }
    return "cannot start a process: " + error_text(report.error);
  }

  const Command& command_;
  Clock::time_point started_;
  pid_t supervisor_ = -1;
  Descriptor report_;
  Descriptor output_;
  Descriptor diagnostics_;
  Descriptor accesses_;
  std::string report_bytes_;
  TraceReader trace_;
  bool was_traced_ = false;
};

extern "C" void end_with_children(int signal) {
  kill_all_children();
  ::_exit(128 + signal);
}

} // namespace

ProcessResult SystemProcessRunner::run_once(const Command& command) {
  Child child(command);
  ++started_;
  return child.wait();
}

/// What failed because it was traced is run again without.
ProcessResult SystemProcessRunner::run(const Command& command) {
  try {
    ProcessResult result = run_once(command);
    if (!result.ok() && result.trace && result.trace->was_obstructive) {
      Command untraced = command;
      untraced.trace = false;
      result = run_once(untraced);
      result.trace = Trace{{}, false, false, true};
    }
    return result;
  } catch (const StartError& error) {
    ProcessResult result;
    result.exit_code = not_started;
    result.diagnostics = error.reason;
    return result;
  }
}

void kill_all_children() noexcept {
  const int write_end = lifeline_write.exchange(-1);
  if (write_end >= 0) {
    ::close(write_end);
  }
}

void install_termination_handlers() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    // nohup(1), or a shell that started it in the background, wants it ignored.
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) {
      continue;
    }
    struct sigaction action {};
    action.sa_handler = end_with_children;
    ::sigfillset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
}

std::string shell_quoted(const std::vector<std::string>& argv) {
  constexpr std::string_view harmless =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  std::string line;
  for (const std::string& word : argv) {
    if (!line.empty()) {
      line += ' ';
    }
    if (!word.empty() && word.find_first_not_of(harmless) == std::string::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char character : word) {
      line += character == '\'' ? std::string("'\\''") : std::string(1, character);
    }
    line += '\'';
  }
  return line;
}

} // namespace dcuop
