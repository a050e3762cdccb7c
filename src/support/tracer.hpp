#pragma once
// What files a process tree asks the kernel for: a seccomp filter stops each call that takes a path, and the
// supervisor, as the tree's ptrace(2) tracer, writes it down. Everything here is async-signal-safe.

#include <cstdint>
#include <sys/types.h>

#include "dcuop/support/files.hpp"

namespace dcuop::tracing {

enum class Use : std::uint8_t {
  look_up,    ///< stat, access
  identify,   ///< stat whose times will be compared: as_identity of file_status.hpp
  ask_to_run, ///< access(2) for X_OK
  read_link,  ///< readlink; lstat too
  open,       ///< for reading; of a directory: its names
  read_write, ///< opened for both, not emptied
  execute,
  write,     ///< made, emptied, renamed or removed, or an attempt at it
  append,    ///< opened for writing at the end
  unseen,    ///< something that cannot be followed: another root or mount table, a 32-bit program
  server,    ///< a socket was connected
  obstructed ///< something that being traced may have made fail: ptrace(2), a setuid program
};

/// One call, as it lies in the pipe; behind it `path_size` bytes of path, then `real_size` bytes of the path without any
/// link in it (for a regular file that is read, when it is another), without nulls.
struct Record {
  FileIdentity identity;  ///< of what was there just before the call
  std::int32_t error = 0; ///< errno when there was nothing
  Use use = Use::look_up;
  /// To the directory in which the program was started. No bool: bytes of a pipe may be others than 0 and 1.
  std::uint8_t is_relative = 0;
  std::uint16_t path_size = 0;
  std::uint16_t real_size = 0;
};

struct Arguments;
struct Call;

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
  struct Request {
    int directory; ///< descriptor, or AT_FDCWD
    std::uint64_t address;
    Use use;
    std::uint64_t flags;
  };
  void note_call(pid_t process);
  void note_call_without_path(pid_t process, const Call& call, const Arguments& arguments);
  void note_path(pid_t process, const Request& request);
  void note(Use use) { write_record({{}, 0, use, false, 0, 0}, "", ""); }
  void write_record(const Record& record, const char* path, const char* real);

  int pipe_ = -1;
  int start_directory_ = -1;
  bool directory_was_changed_ = false; ///< by any process of the tree: relative paths need a closer look
  std::uint64_t calls_ = 0;
};

} // namespace dcuop::tracing
