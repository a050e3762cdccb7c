#pragma once
// What a build is for: the Python, torch, compilers and archs, gathered once for all ops of a command.

#include <optional>
#include <string>
#include <vector>

#include "dcuop/op/op.hpp"
#include "dcuop/probe/cuda.hpp"
#include "dcuop/probe/devices.hpp"
#include "dcuop/probe/machine.hpp"
#include "dcuop/probe/python.hpp"
#include "dcuop/probe/toolchain.hpp"
#include "dcuop/probe/torch.hpp"
#include "dcuop/support/error.hpp"

namespace dcuop::key {

struct Facts {
  std::optional<probe::Python> python;                     ///< when an op is bound to Python or torch
  std::optional<probe::Torch> torch;                       ///< when that Python has one
  std::optional<probe::Compiler> hip_compiler;             ///< when an op has HIP sources
  std::optional<probe::Compiler> cxx_compiler, c_compiler; ///< the system's, when an op has such sources
  std::optional<probe::Compiler> toolchain_cxx; ///< the HIP toolchain's clang++, when an op wants it
  std::optional<probe::Rocm> rocm;
  std::optional<probe::CudaCompiler> cuda; ///< nvcc, when an op has CUDA sources
  probe::ArchSelection archs;              ///< empty when no op has HIP sources
  probe::ArchSelection
      cuda_archs; ///< the same of CUDA; empty also when nothing says one, and why is its origin
};

/// What compiles the C++ units of this op, and the host's part of its CUDA units.
[[nodiscard]] const probe::Compiler& cxx_compiler_of(const Facts& facts, const op::Op& op);

/// A fact that the ops at hand need, and that gather_facts has therefore found. Throws Error(failed) when the two
/// disagree: that is a fault of dcuop.
template <typename Fact> [[nodiscard]] const Fact& needed(const std::optional<Fact>& fact) {
  if (!fact) {
    throw Error(ExitCode::failed, "a fact that the op needs was not gathered");
  }
  return *fact;
}

struct Wishes {
  probe::PythonWish python;                  ///< empty for the usual order
  std::vector<std::string> archs;            ///< --arch
  std::vector<std::string> configured_archs; ///< the user's config
};

/// Throws Error(environment) for what an op needs and this machine lacks, Error(usage) for an arch that is no
/// target id.
[[nodiscard]] Facts gather_facts(const probe::Machine& machine, const std::vector<op::Op>& ops,
                                 const Wishes& wishes);

} // namespace dcuop::key
