#pragma once
// The kernels of an Ascend operator, and on which cores they run.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ascend_program.hpp"
#include "dcuop/superkernel/scope.hpp"

namespace dcuop::check::ascend {

using superkernel::KernelType;

struct Kernel {
  const Function* function = nullptr;
  bool is_entry = false;          ///< __global__ or __sk__; else device code that nothing here calls
  std::optional<KernelType> type; ///< KERNEL_TASK_TYPE_DEFAULT, __vector__, __cube__, __mix__
  std::map<std::string, KernelType> by_key; ///< KERNEL_TASK_TYPE(key, type)
  Node type_at;
  bool by_qualifier = false; ///< the type comes from __vector__ and its kin
  bool schedules = false;    ///< __schedmode__(1)
  Sides sides = both_sides;  ///< that its type launches
  std::set<const Function*> reached;

  [[nodiscard]] bool has_type() const { return type.has_value() || !by_key.empty(); }
  /// Every type that it is known to have.
  [[nodiscard]] std::vector<KernelType> types() const;
  [[nodiscard]] bool may_be(KernelType wanted) const;
  [[nodiscard]] bool is_only(KernelType wanted) const;
};

[[nodiscard]] std::optional<KernelType> kernel_type(std::string_view name);
[[nodiscard]] Sides sides_of(KernelType type);
/// Entries first, then device functions that no other one calls.
[[nodiscard]] std::vector<Kernel> find_kernels(Program& program);
/// The directory that an operator's parts are in: above op_kernel, op_host and what is below them.
[[nodiscard]] std::filesystem::path operator_root(const std::filesystem::path& file);

} // namespace dcuop::check::ascend
