#pragma once
// Child processes by argv (never through a shell). A child's whole process tree ends with dcuop, however
// dcuop ends: see Supervision in process.cpp.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dcuop/support/environment.hpp"
#include "dcuop/support/files.hpp"

namespace dcuop {

/// A path that a traced process tree asked the kernel for, once or more often.
struct FileAccess {
  std::string path; ///< as it was written, when `is_relative`; else absolute, with links and ".." in it
  std::string real; ///< of a regular file that was read, without links, when that is another path
  bool is_relative = false;  ///< to Command::working_directory
  bool was_read = false;     ///< opened for reading, or executed; a directory: its names may have been read
  bool was_written = false;  ///< made, written, renamed or removed, or an attempt at that
  bool was_appended = false; ///< as a log is
  bool was_asked_first = false;      ///< the first time it was read or looked up, not written
  bool was_looked_up = false;        ///< stat(2), access(2)
  bool was_identified = false;       ///< stat(2) by dcuop itself, which will compare the times
  bool link_was_read = false;        ///< readlink(2), lstat(2)
  bool may_run_was_asked = false;    ///< access(2) for X_OK
  std::optional<FileIdentity> first; ///< what was there at the first time; nullopt: nothing
};

/// What the kernel saw of a process tree.
struct Trace {
  std::vector<FileAccess> accesses; ///< in no order, each path once
  /// False when something could not be followed: a 32-bit program, another mount table or root, io_uring; or when it
  /// only works untraced, and was run again so.
  bool is_complete = true;
  bool asked_a_server = false; ///< it connected to a socket: what the other side read is not here
  /// It called ptrace(2) or started a setuid program, which fail because they are traced.
  bool was_obstructive = false;
};

struct Command {
  std::vector<std::string> argv; ///< argv[0]: looked up on the PATH of `environment` unless it has a slash
  std::filesystem::path working_directory;        ///< empty: dcuop's own
  Environment environment;                        ///< the whole of it; nothing is inherited
  std::optional<std::chrono::milliseconds> limit; ///< wall time after which the tree is killed
  std::filesystem::path
      output_file;   ///< when set, stdout and stderr go there (it is emptied first), interleaved
  std::string input; ///< what it reads from stdin
  bool trace =
      false; ///< ask for ProcessResult::accesses. The tree cannot gain privileges then (setuid programs)
};

struct ProcessResult {
  int exit_code = -1;      ///< 128 + signal when killed by one; 127 when the program could not be started
  int signal = 0;          ///< 0 when it exited by itself
  bool timed_out = false;  ///< `limit` passed and the child was killed for it
  std::string output;      ///< stdout
  std::string diagnostics; ///< stderr, or why the program could not be started
  std::chrono::milliseconds wall{0};
  std::uint64_t peak_memory = 0; ///< bytes, the largest process of the tree (wait4's ru_maxrss)
  /// nullopt: not asked for, or ptrace(2) or seccomp(2) is not permitted here (some containers, a debugger).
  std::optional<Trace> trace;

  [[nodiscard]] bool ok() const { return exit_code == 0; }
};

/// The seam for tests: everything that dcuop starts goes through here.
class ProcessRunner {
 public:
  virtual ~ProcessRunner() = default;
  /// Runs to the end, and ends what the child left running behind it. Thread-safe. Never
  /// throws for what the child does.
  [[nodiscard]] virtual ProcessResult run(const Command& command) = 0;
};

/// Real processes. Counts what it starts, so that "a warm build starts nothing" can be stated by the program.
class SystemProcessRunner : public ProcessRunner {
 public:
  [[nodiscard]] ProcessResult run(const Command& command) override;
  [[nodiscard]] std::uint64_t started() const { return started_; }

 private:
  ProcessResult run_once(const Command& command);
  std::atomic<std::uint64_t> started_{0};
};

/// Ends every child tree of this process that is still running (SIGTERM handlers and Ctrl-C use it).
/// Async-signal-safe.
void kill_all_children() noexcept;

/// After this, SIGINT, SIGTERM and SIGHUP kill the children's trees and end the process with 128 + signal.
void install_termination_handlers();

/// Quoted for a POSIX shell, for display and for compile_commands.json's readers.
[[nodiscard]] std::string shell_quoted(const std::vector<std::string>& argv);

} // namespace dcuop
