#pragma once
// Which of a kernel's buffers its scalars read and write: GetValue, SetValue, gm(i) and gm(i) = x of GlobalTensors, followed
// from SetGlobalBuffer back to the parameters of the kernel.

#include <map>
#include <set>
#include <string>

#include "dcuop/check/superkernel.hpp"
#include "dcuop/source/model.hpp"
#include "dcuop/superkernel/scope.hpp"

namespace dcuop::cli {

/// Names of the kernel's parameters. Those of its workspace and its tiling are no other operator's.
struct ScalarBuffers {
  std::set<std::string> reads, writes;
};
[[nodiscard]] ScalarBuffers scalar_buffers_of(const source::Model& model, const source::Function& kernel);

/// Fills in gm.reads and gm.writes of the operators whose kernels were read and whose file gives neither: a parameter is
/// the buffer that gm.tensors calls it, else one of its own, "hc_pre.x". Returns what was found by operator.
[[nodiscard]] std::map<std::string, ScalarBuffers> fill_buffers(const check::SuperKernelRequest& request,
                                                                const check::FilledScope& filled,
                                                                superkernel::Scope& scope);

} // namespace dcuop::cli
