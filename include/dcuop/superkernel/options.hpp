#pragma once
// The options of a SuperKernel, as the two back ends read them.
//
// ge: torchair.scope.super_kernel(scope, "key=value:key=value"). npugraph_ex: the dictionaries
// super_kernel_optimize_options and super_kernel_debug_options of torch.compile.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dcuop/finding/finding.hpp"
#include "dcuop/superkernel/scope.hpp"

namespace dcuop::superkernel {

/// What an option does not mean, or not here.
struct OptionProblem {
  enum class Kind {
    unknown,     ///< no such key
    other_end,   ///< a key of the other back end
    bad_value,   ///< the back end refuses it
    default_for, ///< out of range: the back end takes its default, with a warning
    duplicate,
    ignored,   ///< an item without "=": the back end ignores it, with a warning
    bad_place, ///< a debug key among the others, or the other way round
    odd_value, ///< taken, but nothing that is documented
  };
  Kind kind = Kind::unknown;
  std::string key;
  std::string value;
  std::string wanted;     ///< "0 or 1"; for unknown the nearest key, or empty
  std::string seen_where; ///< the text as it was given
};

struct Options {
  bool feed_sync_all = false;
  bool stream_fusion = false;
  int early_start = 0;         ///< 0: none; ge: 1 (as default), 2 (the operators' own calls do nothing)
  bool debug_sync_all = false; ///< a synchronisation of all cores behind each operator
  bool each_at_full = false;   ///< npugraph_ex debug_per_op_max_core_num
  std::uint32_t debug_aic = 0; ///< ge debug-aic-num; 0: not set
  std::uint32_t debug_aiv = 0;
  std::vector<std::string> dcci_before, dcci_after,
      dcci_disable; ///< operator types (ge), patterns (npugraph_ex)

  std::vector<std::pair<std::string, std::string>>
      given; ///< what was taken, in order; lists joined by commas
  std::vector<OptionProblem> problems;
};

[[nodiscard]] Options parse_options(const Scope& scope);
/// A string of ge alone: what `dcuop superkernel check` finds in a Python file.
[[nodiscard]] Options parse_ge_options(std::string_view text);

/// What is wrong with options that are no scope's, for `dcuop superkernel check`.
[[nodiscard]] std::vector<finding::Finding> findings_of_options(const std::vector<OptionProblem>& problems,
                                                                Backend backend);

/// Whether a pattern of npugraph_ex (letters, digits, "_", "-", "." for any one, "*" for any number of the one before)
/// is the whole of `name`; nullopt for what it takes for no pattern.
[[nodiscard]] std::optional<bool> matches_pattern(std::string_view pattern, std::string_view name);
/// Whether an entry of a dcci list names the operator.
[[nodiscard]] bool names_operator(const std::string& entry, const Operator& op, Backend backend);

/// "a=1:b=2", or "super_kernel_optimize_options": {"a": 1, "b": ["x"]}: as it is written in Python.
[[nodiscard]] std::string written(const std::vector<std::pair<std::string, std::string>>& options,
                                  Backend backend);

} // namespace dcuop::superkernel
