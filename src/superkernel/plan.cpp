#include "dcuop/superkernel/plan.hpp"

#include <algorithm>

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

/// What the options mend of the streams and the operators: each adds none and takes a fault away, so this ends.
Scope mended_by_options(const Scope& scope, const Judgement& judgement) {
  Scope mended = with_meant_keys(scope, judgement.options);
  const auto is_stream_error = [](const BuildError& error) {
    return error.kind == BuildError::Kind::streams;
  };
  if (std::any_of(judgement.build_errors.begin(), judgement.build_errors.end(), is_stream_error)) {
    mended = with_option(mended, "stream-fusion", "1");
  }
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
