#include "dcuop/superkernel/plan.hpp"

#include <algorithm>
#include <initializer_list>

#include "cache.hpp"
#include "dcuop/support/text.hpp"
#include "findings.hpp"
#include "fixes.hpp"
#include "launch.hpp"

namespace dcuop::superkernel {

namespace {

using OptionList = std::vector<std::pair<std::string, std::string>>;

void set_option(OptionList& options, const std::string& key, const std::string& value) {
  const auto found =
      std::find_if(options.begin(), options.end(), [&](const auto& option) { return option.first == key; });
  if (found == options.end()) {
    options.emplace_back(key, value);
  } else {
    found->second = value;
  }
}

void set_list(OptionList& options, const std::string& key, const std::vector<std::string>& entries) {
  if (entries.empty()) {
    options.erase(std::remove_if(options.begin(), options.end(),
                                 [&](const auto& option) { return option.first == key; }),
                  options.end());
  } else {
    set_option(options, key, join(entries, ","));
  }
}

/// What was given under a name that is nearly right is meant.
Scope with_meant_keys(const Scope& scope, const Options& options) {
  Scope mended = scope;
  for (const OptionProblem& problem : options.problems) {
    if (problem.kind != OptionProblem::Kind::unknown || problem.wanted.empty()) {
      continue;
    }
    if (scope.backend == Backend::ge) {
      std::vector<std::pair<std::string, std::string>> given = parse_ge_options(mended.ge_options).given;
      given.emplace_back(problem.wanted, problem.value);
      mended.ge_options = written(given, Backend::ge);
      continue;
    }
    for (NpuOption& option : mended.npu_options) {
      if (option.key == problem.key) {
        option.key = problem.wanted;
      }
    }
  }
  return mended;
}

/// With the first option that mends an operator, if one does.
bool mend_one(Scope& scope, const Judgement& judgement) {
  for (std::size_t op = 0; op < scope.operators.size(); ++op) {
    for (const Fix& fix : fixes_of(scope, judgement, op)) {
      if (fix.kind == Fix::Kind::option) {
        for (const auto& [key, value] : fix.options) {
          scope = with_option(scope, key, value);
        }
        return true;
      }
    }
  }
  return false;
}

bool has_build_error(const Judgement& judgement, std::initializer_list<BuildError::Kind> kinds) {
  return std::any_of(judgement.build_errors.begin(), judgement.build_errors.end(),
                     [&](const BuildError& error) {
                       return std::find(kinds.begin(), kinds.end(), error.kind) != kinds.end();
                     });
}

/// The first of the changes that leaves less wrong, if one does.
Scope better_of(const Scope& scope, const std::vector<Scope>& changes) {
  const std::size_t wrong = count_faults(judge(scope));
  const auto better = std::find_if(changes.begin(), changes.end(), [&](const Scope& changed) {
    return count_faults(judge(changed)) < wrong;
  });
  return better == changes.end() ? scope : *better;
}

/// With the options changed that the back end does not build the scope for.
Scope mended_build(const Scope& scope, const Judgement& judgement) {
  using Kind = BuildError::Kind;
  Scope mended = scope;
  if (has_build_error(judgement, {Kind::streams})) {
    mended = with_option(mended, "stream-fusion", "1");
  }
  if (has_build_error(judgement, {Kind::debug_num_ratio, Kind::debug_num_platform, Kind::debug_num_less})) {
    mended = better_of(mended, {without_options(mended, {"debug-aic-num", "debug-aiv-num"})});
  }
  if (has_build_error(judgement, {Kind::early_start_off})) {
    mended = better_of(mended,
                       {without_options(mended, {"early-start"}), with_option(mended, "early-start", "2")});
  }
  return mended;
}

/// What the options mend: each adds none and takes a fault away, so this ends.
Scope mended_by_options(const Scope& scope, const Judgement& judgement) {
  Scope mended = mended_build(with_meant_keys(scope, judgement.options), judgement);
  while (mend_one(mended, judge(mended))) {
  }
  return mended;
}

/// The options that were given and taken, with what the scope needs.
OptionList recommended(const Scope& scope, const Judgement& judgement) {
  const Scope mended = mended_by_options(scope, judgement);
  const Judgement after = judge(mended);
  OptionList options = after.options.given;
  const bool ge = scope.backend == Backend::ge;
  const CacheAdvice advice = cache_advice_of(mended, after);
  set_list(options, ge ? "dcci-before-kernel-start" : "dcci_before_kernel_start", advice.before);
  set_list(options, ge ? "dcci-after-kernel-end" : "dcci_after_kernel_end", advice.after);
  set_list(options, ge ? "dcci-disable-on-kernel" : "dcci_disable_on_kernel", advice.disable);
  return options;
}

bool has_sync(const Operator& op) {
  return op.sync.all != SyncAll::none || op.sync.mode0[0] || op.sync.mode0[1] || op.sync.pair_guarded ||
         op.sync.matmul_unguarded;
}

/// The full device around one operator.
std::string recipe_of(const Scope& scope, const Operator& op) {
  if (!has_sync(op)) {
    return {};
  }
  if (scope.backend == Backend::npugraph_ex) {
    return "\"super_kernel_debug_options\": {\"debug_per_op_max_core_num\": 1}";
  }
  const std::uint32_t aic = std::min(scope.platform.aic, scope.platform.aiv / 2);
  return aic == 0 ? std::string()
                  : "debug-aic-num=" + std::to_string(aic) + ":debug-aiv-num=" + std::to_string(2 * aic);
}

} // namespace

Plan make_plan(const Scope& scope) {
  Plan plan;
  plan.judgement = judge(scope);
  for (std::size_t op = 0; op < scope.operators.size(); ++op) {
    plan.operators.push_back({fixes_of(scope, plan.judgement, op), recipe_of(scope, scope.operators[op])});
  }
  plan.cache_faults = cache_faults_of(scope, plan.judgement);
  plan.options = recommended(scope, plan.judgement);
  plan.overlap = overlap_of(scope, plan.judgement);
  plan.kernels_before = scope.operators.size();
  plan.kernels_after = plan.judgement.segments.size();
  if (scope.platform.launch_gap_us) {
    plan.launches_save_us =
        *scope.platform.launch_gap_us * static_cast<double>(plan.kernels_before - plan.kernels_after);
  }
  plan.findings = findings_of(scope, plan);
  return plan;
}

} // namespace dcuop::superkernel
