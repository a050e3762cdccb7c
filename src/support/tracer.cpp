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
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h> // NOLINT: not <linux/ptrace.h>, which defines the same names
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file_status.hpp"

namespace dcuop::tracing {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t native_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t native_architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t native_architecture = 0; // unknown: attach() says no
#endif

/// What the filter hands to the tracer with a stop.
constexpr std::uint32_t native_call = 0;
constexpr std::uint32_t foreign_call = 1;

/// Where a call has its paths: the number of the argument that holds the directory (none: the working directory)
/// and of the one that holds the path.
struct Place {
  int directory = -1;
  int path = -1;
};

struct Call {
  long number;
  Place first;
  Use use;        ///< of the first path; open's is decided by its flags
  int flags = -1; ///< argument with open(2)'s flags, or with AT_* flags
  Place second{}; ///< always written
};

// In the order of how often compilers make them. Calls through io_uring are not seen; no compiler uses it.
constexpr Call calls[] = {
    {SYS_openat, {0, 1}, Use::open, 2},
    {SYS_newfstatat, {0, 1}, Use::look_up, 3},
#ifdef SYS_open
    {SYS_open, {-1, 0}, Use::open, 1},
    {SYS_stat, {-1, 0}, Use::look_up},
    {SYS_lstat, {-1, 0}, Use::read_link},
    {SYS_access, {-1, 0}, Use::look_up},
    {SYS_readlink, {-1, 0}, Use::read_link},
    {SYS_creat, {-1, 0}, Use::write},
    {SYS_unlink, {-1, 0}, Use::write},
    {SYS_rmdir, {-1, 0}, Use::write},
    {SYS_mkdir, {-1, 0}, Use::write},
    {SYS_mknod, {-1, 0}, Use::write},
    {SYS_rename, {-1, 0}, Use::write, -1, {-1, 1}},
    {SYS_link, {-1, 0}, Use::open, -1, {-1, 1}},
    {SYS_symlink, {-1, 1}, Use::write},
#endif
    {SYS_statx, {0, 1}, Use::look_up, 2},
    {SYS_faccessat, {0, 1}, Use::look_up},
#ifdef SYS_faccessat2
    {SYS_faccessat2, {0, 1}, Use::look_up},
#endif
    {SYS_readlinkat, {0, 1}, Use::read_link},
    {SYS_execve, {-1, 0}, Use::execute},
    {SYS_execveat, {0, 1}, Use::execute},
#ifdef SYS_openat2
    {SYS_openat2, {0, 1}, Use::open},
#endif
    {SYS_unlinkat, {0, 1}, Use::write},
    {SYS_mkdirat, {0, 1}, Use::write},
    {SYS_mknodat, {0, 1}, Use::write},
    {SYS_truncate, {-1, 0}, Use::write},
#ifdef SYS_renameat
    {SYS_renameat, {0, 1}, Use::write, -1, {2, 3}},
#endif
    {SYS_renameat2, {0, 1}, Use::write, -1, {2, 3}},
    {SYS_linkat, {0, 1}, Use::open, -1, {2, 3}},
    {SYS_symlinkat, {1, 2}, Use::write},
    {SYS_chdir, {}, Use::look_up},
    {SYS_fchdir, {}, Use::look_up},
};

const Call* call_of(long number) {
  const auto* const found = std::find_if(std::begin(calls), std::end(calls),
                                         [number](const Call& call) { return call.number == number; });
  return found == std::end(calls) ? nullptr : found;
}

struct Arguments {
  bool is_native = false;
  long call = -1;
  std::array<std::uint64_t, 6> values{};
};

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

/// The text at an address of another process; false when it cannot be read or is longer than any path.
bool read_text(pid_t process, std::uint64_t address, std::array<char, PATH_MAX>& text) {
  constexpr std::uint64_t page = 4096; // the smallest there is: one read must not cross into an unmapped one
  std::size_t size = 0;
  while (size < text.size()) {
    const std::uint64_t here = address + size;
    const std::size_t step = std::min<std::size_t>(text.size() - size, page - here % page);
    iovec to{text.data() + size, step};
    iovec from{reinterpret_cast<void*>(here), step};
    const ssize_t count = ::process_vm_readv(process, &to, 1, &from, 1, 0);
    if (count <= 0) {
      return false;
    }
    if (std::memchr(text.data() + size, '\0', static_cast<std::size_t>(count)) != nullptr) {
      return true;
    }
    size += static_cast<std::size_t>(count);
  }
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

bool writes(std::uint64_t open_flags) {
  return (open_flags & O_ACCMODE) != O_RDONLY || (open_flags & (O_CREAT | O_TRUNC)) != 0;
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

bool install_filter() {
  constexpr std::size_t head = 4;
  constexpr std::size_t count = std::size(calls);
  std::array<sock_filter, head + count + 3> program{};
  std::size_t next = 0;
  const auto add = [&](sock_filter instruction) { program[next++] = instruction; };
  add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)));
  add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, native_architecture, 1, 0));
  add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE | foreign_call));
  add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  for (std::size_t index = 0; index < count; ++index) {
    const auto to_trace = static_cast<std::uint8_t>(count - index);
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(calls[index].number), to_trace, 0));
  }
  add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE | native_call));
  const sock_fprog filter{static_cast<unsigned short>(next), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

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
    write_record({{}, 0, Use::foreign, false, 0}, "");
    return;
  }
  if (start_directory_ < 0) { // the first call is the execve(2) of the program
    std::array<char, 64> name{};
    write_link_name(process, AT_FDCWD, name);
    start_directory_ = ::open(name.data(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  }
  if (call->first.path < 0) {
    directory_was_changed_ = true;
    return;
  }
  const auto argument = [&](int index) { return arguments.values[static_cast<std::size_t>(index)]; };
  const auto directory = [&](const Place& place) {
    return place.directory < 0 ? AT_FDCWD : static_cast<int>(argument(place.directory));
  };
  Use use = call->use;
  if (call->flags >= 0) {
    const std::uint64_t flags = argument(call->flags);
    if (use == Use::open && writes(flags)) {
      use = Use::write;
    } else if (use == Use::look_up && (flags & AT_SYMLINK_NOFOLLOW) != 0) {
      use = Use::read_link;
    }
  }
  note_path(process, directory(call->first), argument(call->first.path), use);
  if (call->second.path >= 0) {
    note_path(process, directory(call->second), argument(call->second.path), Use::write);
  }
}

void Tracer::note_path(pid_t process, int directory, std::uint64_t address, Use use) {
  std::array<char, PATH_MAX> text; // NOLINT: filled by read_text
  if (address == 0 || !read_text(process, address, text) || text[0] == '\0') {
    return; // no path: fstat(2) by another name, or an EFAULT
  }
  Record record;
  record.use = use;
  std::array<char, 2 * PATH_MAX> joined; // NOLINT: filled below
  const char* path = text.data();
  int from = AT_FDCWD;
  if (text[0] != '/') {
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
      if (size <= 0) {
        return; // a bad descriptor
      }
      joined[static_cast<std::size_t>(size)] = '/';
      std::strcpy(joined.data() + size + 1, text.data());
      path = joined.data();
    }
  }
  struct stat status {};
  record.error = ::fstatat(from, path, &status, 0) == 0 ? 0 : errno;
  if (record.error == 0) {
    record.identity = identity_from(status);
  }
  record.path_size = static_cast<std::uint16_t>(std::strlen(path));
  write_record(record, path);
}

void Tracer::write_record(const Record& record, const char* path) {
  if (buffered + sizeof record + record.path_size > buffer.size()) {
    flush(pipe_);
  }
  std::memcpy(buffer.data() + buffered, &record, sizeof record);
  std::memcpy(buffer.data() + buffered + sizeof record, path, record.path_size);
  buffered += sizeof record + record.path_size;
}

} // namespace dcuop::tracing
