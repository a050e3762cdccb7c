#pragma once
// Faults that an Ascend operator has, or gets, inside a SuperKernel, as its sources show them.

#include <optional>

#include "dcuop/check/check.hpp"
#include "dcuop/superkernel/scope.hpp"

namespace dcuop::check {

struct SuperKernelRequest : Request {
  std::optional<superkernel::Product> product; ///< none: what holds for any
};

/// Reads kernels, host tiling, build files and Python; runs nothing.
[[nodiscard]] Report check_superkernel(const SuperKernelRequest& request);

/// Which operators of a scope the sources said something of.
struct FilledScope {
  struct Read {
    std::string op;
    std::string kernel; ///< "op_kernel/hc_pre.cpp:12"
  };
  std::vector<Read> read;
  std::vector<Read>
      scalars; ///< in loops, where the file has neither gm.reads nor gm.writes; `kernel` is their place
  std::vector<std::string> unread; ///< operators that no kernel, or more than one, is named like
  std::vector<std::string>
      doubts; ///< files that were not understood wholly: what they do besides is not known
};

/// Fills in what a scope's file leaves open and the kernels of the sources say: type, SyncAll, flags, the Matmul API, early
/// start, batch mode, scalars of global memory, each with its place in `where`. What the file gives stays. Throws
/// Error(usage) when neither says an operator's kernel type. Reads files and runs nothing.
FilledScope fill_from_sources(const SuperKernelRequest& request, superkernel::Scope& scope);

} // namespace dcuop::check
