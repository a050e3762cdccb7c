#include "traced_calls.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace dcuop::tracing {

namespace {

/// Calls without a path, by what they are about.
constexpr Place no_path{};

// In the order of how often compilers make them.
constexpr Call calls[] = {
    {SYS_openat, {0, 1}, Use::open, 2},
    {SYS_newfstatat, {0, 1}, Use::look_up, 3},
#ifdef SYS_open
    {SYS_open, {-1, 0}, Use::open, 1},
    {SYS_stat, {-1, 0}, Use::look_up},
    {SYS_lstat, {-1, 0}, Use::read_link},
    {SYS_access, {-1, 0}, Use::ask_to_run, 1},
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
    {SYS_faccessat, {0, 1}, Use::ask_to_run, 2},
#ifdef SYS_faccessat2
    {SYS_faccessat2, {0, 1}, Use::ask_to_run, 2},
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
    {SYS_chdir, no_path, Use::look_up},
    {SYS_fchdir, no_path, Use::look_up},
    {SYS_clone, no_path, Use::look_up},
#ifdef SYS_clone3
    {SYS_clone3, no_path, Use::look_up},
#endif
    {SYS_connect, no_path, Use::look_up},
    {SYS_chroot, no_path, Use::unseen},
    {SYS_unshare, no_path, Use::unseen},
    {SYS_setns, no_path, Use::unseen},
    {SYS_pivot_root, no_path, Use::unseen},
    {SYS_mount, no_path, Use::unseen},
    {SYS_open_by_handle_at, no_path, Use::unseen},
#ifdef SYS_io_uring_setup
    {SYS_io_uring_setup, no_path, Use::unseen},
#endif
    {SYS_ptrace, no_path, Use::obstructed},
};

} // namespace

const Call* call_of(long number) {
  const auto* const found = std::find_if(std::begin(calls), std::end(calls),
                                         [number](const Call& call) { return call.number == number; });
  return found == std::end(calls) ? nullptr : found;
}

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

} // namespace dcuop::tracing
