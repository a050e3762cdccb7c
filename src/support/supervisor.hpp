#pragma once
// The process between dcuop and each program that it starts. See Supervision in process.cpp.

#include <cstdint>
#include <sys/types.h>

namespace dcuop::supervision {

/// All that the supervisor needs, made before the fork: after it, nothing may be allocated. The descriptors
/// are above 2 and close-on-exec.
struct Start {
  const char* program = nullptr; ///< for execve(2)
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  const char* working_directory = nullptr; ///< nullptr: stay
  int lifeline = -1;                       ///< read end; its end of file means that dcuop is gone
  int report = -1;                         ///< write end, for one Report
  int input = -1;
  int output = -1;
  int diagnostics = -1;
  int accesses = -1; ///< write end, for the tracer's records; -1: the tree is not traced
};

enum class Stage : std::int32_t { none, fork, working_directory, execute };

/// What the supervisor says when the tree has ended. Small enough for one atomic write(2) to a pipe.
struct Report {
  std::int32_t status = 0; ///< as wait4(2) gives it
  Stage failed_stage = Stage::none;
  std::int32_t error = 0; ///< errno of the failed stage
  std::uint64_t peak_kib = 0;
  bool traced = false; ///< every file that the tree asked for was written to Start::accesses
};

/// Runs in the forked process, with all signals blocked. SIGTERM makes it end the tree. Async-signal-safe, as
/// dcuop may have had any number of threads when it forked.
[[noreturn]] void supervise(const Start& start);

} // namespace dcuop::supervision
