#include "tracer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <sched.h>
#include <string_view>
#include <sys/ptrace.h> // NOLINT: not <linux/ptrace.h>, which defines the same names
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file_status.hpp"
#include "traced_calls.hpp"

namespace dcuop::tracing {

struct Arguments {
  bool is_native = false;
  long call = -1;
  std::array<std::uint64_t, 6> values{};
};

namespace {

/// Of a process that stopped at a call. Since Linux 5.3 in one step.
bool read_arguments(pid_t process, Arguments& arguments) {
#ifdef PT_GET_SYSCALL_INFO
  __ptrace_syscall_info info{};
  if (::ptrace(PTRACE_GET_SYSCALL_INFO, process, reinterpret_cast<void*>(sizeof info), &info) > 0) {
    arguments.is_native = info.arch == native_architecture;
    arguments.call = static_cast<long>(info.seccomp.nr);
    std::copy_n(info.seccomp.args, arguments.values.size(), arguments.values.begin());
    return true;
  }
#endif
  unsigned long kind = foreign_call;
  ::ptrace(PTRACE_GETEVENTMSG, process, nullptr, &kind);
  arguments.is_native = kind == native_call;
#if defined(__x86_64__) || defined(__aarch64__)
  user_regs_struct raw{};
  iovec window{&raw, sizeof raw};
  // NT_PRSTATUS as the address: ptrace(2), PTRACE_GETREGSET.
  if (::ptrace(PTRACE_GETREGSET, process, reinterpret_cast<void*>(NT_PRSTATUS), &window) != 0) {
    return false;
  }
#if defined(__x86_64__)
  arguments.call = static_cast<long>(raw.orig_rax);
  arguments.values = {raw.rdi, raw.rsi, raw.rdx, raw.r10, raw.r8, raw.r9};
#else
  arguments.call = static_cast<long>(raw.regs[8]);
  std::copy_n(raw.regs, 6, arguments.values.begin());
#endif
  return true;
#else
  return false;
#endif
}

/// Up to `size` bytes of another process, as many as can be read; errno when that is none.
std::size_t read_bytes(pid_t process, std::uint64_t address, void* into, std::size_t size) {
  iovec to{into, size};
  iovec from{reinterpret_cast<void*>(address), size};
  const ssize_t count = ::process_vm_readv(process, &to, 1, &from, 1, 0);
  if (count >= 0 || errno == EFAULT) {
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  // Forbidden by a sandbox, or for a process that may not dump core; the tracer may, a word at a time.
  std::size_t done = 0;
  while (done < size) {
    const std::uint64_t word_address = (address + done) / sizeof(long) * sizeof(long);
    errno = 0;
    const long word = ::ptrace(PTRACE_PEEKDATA, process, reinterpret_cast<void*>(word_address), nullptr);
    if (word == -1 && errno != 0) {
      errno = EPERM;
      break;
    }
    const std::size_t skipped = address + done - word_address;
    const std::size_t count_here = std::min(sizeof word - skipped, size - done);
    std::memcpy(static_cast<char*>(into) + done, reinterpret_cast<const char*>(&word) + skipped, count_here);
    done += count_here;
  }
  return done;
}

/// The text at an address of another process; false when it cannot be read or is longer than any path.
bool read_text(pid_t process, std::uint64_t address, std::array<char, PATH_MAX>& text) {
  constexpr std::uint64_t page = 4096; // the smallest there is: one read must not cross into an unmapped one
  std::size_t size = 0;
  while (size < text.size()) {
    const std::uint64_t here = address + size;
    const std::size_t step = std::min<std::size_t>(text.size() - size, page - here % page);
    const std::size_t count = read_bytes(process, here, text.data() + size, step);
    if (count == 0) {
      return false;
    }
    if (std::memchr(text.data() + size, '\0', count) != nullptr) {
      return true;
    }
    size += count;
  }
  errno = EFAULT; // longer than any path: the call fails
  return false;
}

/// "/proc/<process>/cwd", or ".../fd/<descriptor>".
void write_link_name(pid_t process, int descriptor, std::array<char, 64>& name) {
  char* end = name.data();
  const auto text = [&end](const char* word) {
    while (*word != '\0') {
      *end++ = *word++;
    }
  };
  const auto number = [&end](unsigned value) {
    std::array<char, 12> digits{};
    std::size_t count = 0;
    do {
      digits[count++] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value > 0);
    while (count > 0) {
      *end++ = digits[--count];
    }
  };
  text("/proc/");
  number(static_cast<unsigned>(process));
  if (descriptor == AT_FDCWD) {
    text("/cwd");
  } else {
    text("/fd/");
    number(static_cast<unsigned>(descriptor));
  }
  *end = '\0';
}

bool is_same_directory(int opened, const char* name) {
  struct stat a {};
  struct stat b {};
  return ::fstat(opened, &a) == 0 && ::stat(name, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// O_CREAT alone does nothing to a file that is there (flock(1) opens its lock so).
Use use_of_open(std::uint64_t flags, bool exists) {
  const std::uint64_t mode = flags & O_ACCMODE;
  if ((flags & O_TRUNC) != 0 || ((flags & O_CREAT) != 0 && !exists)) {
    return (flags & O_APPEND) != 0 ? Use::append : Use::write;
  }
  if (mode == O_RDONLY) {
    return Use::open;
  }
  return (flags & O_APPEND) != 0 ? Use::append : mode == O_RDWR ? Use::read_write : Use::write;
}

/// The name server's cache, which glibc asks for users and groups, decides nothing.
bool is_name_server(const sockaddr_un& address) {
  return std::strcmp(address.sun_path, "/var/run/nscd/socket") == 0 ||
         std::strcmp(address.sun_path, "/run/nscd/socket") == 0;
}

/// The path of an open file without any link in it; its length, 0 when it cannot be told.
std::size_t real_path_of(int from, const char* path, std::array<char, PATH_MAX>& real) {
  const int opened = ::openat(from, path, O_PATH | O_CLOEXEC);
  if (opened < 0) {
    return 0;
  }
  std::array<char, 64> name{};
  write_link_name(::getpid(), opened, name);
  const ssize_t size = ::readlink(name.data(), real.data(), real.size() - 1);
  ::close(opened);
  return size > 0 && real[0] == '/' ? static_cast<std::size_t>(size) : 0;
}

std::array<char, 64 * 1024> buffer; // NOLINT: only the supervisor uses it, which is a process of its own
std::size_t buffered = 0;

void flush(int pipe) {
  std::size_t done = 0;
  while (done < buffered) {
    const ssize_t count = ::write(pipe, buffer.data() + done, buffered - done);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      break; // dcuop is gone; so is this tree in a moment
    }
    done += static_cast<std::size_t>(count);
  }
  buffered = 0;
}

} // namespace

bool Tracer::attach(pid_t child) {
  constexpr long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                           PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
  return native_architecture != 0 && ::ptrace(PTRACE_SEIZE, child, nullptr, options) == 0;
}

void Tracer::handle_stop(pid_t process, int status) {
  const int signal = WSTOPSIG(status);
  const int event = status >> 16;
  if (event == PTRACE_EVENT_SECCOMP) {
    note_call(process);
  }
  if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) { // stopped by a signal: it stays so until SIGCONT
    ::ptrace(PTRACE_LISTEN, process, nullptr, nullptr);
    return;
  }
  const long delivered = event == 0 ? signal : 0;
  ::ptrace(PTRACE_CONT, process, nullptr, delivered);
}

std::uint64_t Tracer::finish() {
  flush(pipe_);
  return calls_;
}

void Tracer::note_call(pid_t process) {
  ++calls_;
  Arguments arguments;
  const Call* const call =
      read_arguments(process, arguments) && arguments.is_native ? call_of(arguments.call) : nullptr;
  if (call == nullptr) {
    note(Use::unseen);
    return;
  }
  if (start_directory_ < 0) { // the first call is the execve(2) of the program
    std::array<char, 64> name{};
    write_link_name(process, AT_FDCWD, name);
    start_directory_ = ::open(name.data(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  }
  if (call->first.path < 0) {
    note_call_without_path(process, *call, arguments);
    return;
  }
  const auto argument = [&](int index) { return arguments.values[static_cast<std::size_t>(index)]; };
  const auto directory = [&](const Place& place) {
    return place.directory < 0 ? AT_FDCWD : static_cast<int>(argument(place.directory));
  };
  const std::uint64_t flags = call->flags < 0 ? 0 : argument(call->flags);
  Use use = call->use;
  if (use == Use::look_up && (flags & AT_SYMLINK_NOFOLLOW) != 0) {
    use = Use::read_link;
  } else if (use == Use::look_up && call->flags >= 0 && (flags & as_identity) != 0) {
    use = Use::identify;
  } else if (use == Use::ask_to_run && (flags & X_OK) == 0) {
    use = Use::look_up;
  }
  note_path(process, {directory(call->first), argument(call->first.path), use, flags});
  if (call->second.path >= 0) {
    note_path(process, {directory(call->second), argument(call->second.path), Use::write, 0});
  }
}

void Tracer::note_call_without_path(pid_t process, const Call& call, const Arguments& arguments) {
  if (call.number == SYS_chdir || call.number == SYS_fchdir) {
    directory_was_changed_ = true;
  } else if (call.number == SYS_connect) {
    sockaddr_un address{};
    const std::size_t size = std::min<std::uint64_t>(arguments.values[2], sizeof address - 1);
    if (read_bytes(process, arguments.values[1], &address, size) != size || !is_name_server(address)) {
      note(Use::server);
    }
  } else if (call.use == Use::look_up) {
    std::uint64_t flags = arguments.values[0];
    if (call.number != SYS_clone &&
        read_bytes(process, arguments.values[0], &flags, sizeof flags) != sizeof flags) {
      flags = CLONE_NEWNS; // clone3(2) has them in a structure
    }
    if ((flags & CLONE_UNTRACED) != 0) {
      note(Use::obstructed);
    }
    if ((flags & CLONE_NEWNS) != 0) {
      note(Use::unseen);
    }
  } else {
    note(call.use);
  }
}

void Tracer::note_path(pid_t process, const Request& request) {
  std::array<char, PATH_MAX> text; // NOLINT: filled by read_text
  if (request.address == 0) {
    return; // fstat(2) by another name
  }
  if (!read_text(process, request.address, text)) {
    if (errno != EFAULT) { // the program's own fault, which fails the call
      note(Use::unseen);
    }
    return;
  }
  if (text[0] == '\0') {
    return;
  }
  const char* path = text.data();
  // The process's own directory by another name; the supervisor has another.
  constexpr std::string_view own_directory = "/proc/self/cwd/";
  const bool by_proc = std::string_view(path).starts_with(own_directory);
  if (by_proc) {
    path += own_directory.size();
  }
  Record record;
  record.use = request.use;
  std::array<char, 2 * PATH_MAX> joined; // NOLINT: filled below
  int from = AT_FDCWD;
  if (*path != '/') {
    const int directory = by_proc ? AT_FDCWD : request.directory;
    std::array<char, 64> name{};
    record.is_relative = directory == AT_FDCWD && !directory_was_changed_;
    if (!record.is_relative) {
      write_link_name(process, directory, name);
      record.is_relative = is_same_directory(start_directory_, name.data());
    }
    if (record.is_relative) {
      from = start_directory_;
    } else {
      const ssize_t size = ::readlink(name.data(), joined.data(), PATH_MAX);
      if (size <= 0 || joined[0] != '/') {
        note(Use::unseen); // a bad descriptor, or a directory whose name is longer than any path
        return;
      }
      joined[static_cast<std::size_t>(size)] = '/';
      std::strcpy(joined.data() + size + 1, path);
      path = joined.data();
    }
  }
  struct stat status {};
  record.error = ::fstatat(from, path, &status, 0) == 0 ? 0 : errno;
  const bool exists = record.error == 0;
  if (exists) {
    record.identity = identity_from(status);
  }
  if (record.use == Use::open) {
    record.use = use_of_open(request.flags, exists);
  }
  if (record.use == Use::execute && exists && (status.st_mode & (S_ISUID | S_ISGID)) != 0) {
    note(Use::obstructed);
  }
  const bool is_read = record.use == Use::open || record.use == Use::execute || record.use == Use::read_write;
  std::array<char, PATH_MAX> real; // NOLINT: filled by real_path_of
  if (exists && is_read && S_ISREG(status.st_mode)) {
    record.real_size = static_cast<std::uint16_t>(real_path_of(from, path, real));
  }
  record.path_size = static_cast<std::uint16_t>(std::strlen(path));
  write_record(record, path, real.data());
}

void Tracer::write_record(const Record& record, const char* path, const char* real) {
  if (buffered + sizeof record + record.path_size + record.real_size > buffer.size()) {
    flush(pipe_);
  }
  const auto append = [](const void* bytes, std::size_t size) {
    std::memcpy(buffer.data() + buffered, bytes, size);
    buffered += size;
  };
  append(&record, sizeof record);
  append(path, record.path_size);
  append(real, record.real_size);
}

} // namespace dcuop::tracing
