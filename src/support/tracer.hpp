#pragma once
// What files a process tree asks the kernel for: a seccomp filter stops each call that takes a path, and the
// supervisor, as the tree's ptrace(2) tracer, writes it down. Everything here is async-signal-safe.

#include <cstdint>
#include <sys/types.h>

#include "dcuop/support/files.hpp"

namespace dcuop::tracing {

enum class Use : std::uint8_t {
  look_up,   ///< stat, access
  read_link, ///< readlink; lstat too
  open,      ///< for reading; of a directory: its names
  execute,
  write,   ///< made, written, renamed or removed
  foreign, ///< a program of another instruction set runs, which is not followed
};

/// One call, as it lies in the pipe; `path_size` bytes of path follow, without a null.
struct Record {
  FileIdentity identity;  ///< of what was there just before the call
  std::int32_t error = 0; ///< errno when there was nothing
  Use use = Use::look_up;
  /// The path is relative to the directory in which the program was started.
  bool is_relative = false;
  std::uint16_t path_size = 0;
};

/// In the process to be traced, just before its execve(2): its calls that take a path stop from now on. False
/// (errno) when the kernel will not have it.
[[nodiscard]] bool install_filter();

/// The supervisor's side. One tree at a time.
class Tracer {
 public:
  /// Of `child`, which must not have started its program yet. False: not permitted, or already traced.
  [[nodiscard]] static bool attach(pid_t child);

  explicit Tracer(int pipe) : pipe_(pipe) {}
  /// A stop that wait4(2) reported: writes down what it is about and lets the process go on.
  void handle_stop(pid_t process, int status);
  /// Writes what is still buffered. Returns how many calls were seen: none means that nothing was traced.
  std::uint64_t finish();

 private:
  void note_call(pid_t process);
  void note_path(pid_t process, int directory, std::uint64_t address, Use use);
  void write_record(const Record& record, const char* path);

  int pipe_ = -1;
  int start_directory_ = -1;
  bool directory_was_changed_ = false; ///< by any process of the tree: relative paths need a closer look
  std::uint64_t calls_ = 0;
};

} // namespace dcuop::tracing
