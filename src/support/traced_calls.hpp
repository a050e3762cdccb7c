#pragma once
// The system calls that a traced tree stops at, and the seccomp(2) filter that makes it do so.

#include <cstdint>
#include <linux/audit.h>

#include "tracer.hpp"

namespace dcuop::tracing {

#if defined(__x86_64__)
inline constexpr std::uint32_t native_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
inline constexpr std::uint32_t native_architecture = AUDIT_ARCH_AARCH64;
#else
inline constexpr std::uint32_t native_architecture = 0; // unknown: nothing is traced
#endif

/// What the filter hands to the tracer with a stop.
inline constexpr std::uint32_t native_call = 0;
inline constexpr std::uint32_t foreign_call = 1;

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
  int flags = -1; ///< argument with open(2)'s flags, with AT_* flags, or with access(2)'s mode
  Place second{}; ///< always written
};

/// nullptr for a call that the filter lets pass.
[[nodiscard]] const Call* call_of(long number);

/// In the process to be traced, just before its execve(2): its calls of the table stop from now on. False (errno) when
/// the kernel will not have it.
[[nodiscard]] bool install_filter();

} // namespace dcuop::tracing
