#include "fixes.hpp"

#include <algorithm>
#include <functional>

#include "launch.hpp"

namespace dcuop::superkernel {

namespace {

struct Candidate {
  Fix fix;
  Scope scope; ///< with the change
};

bool has_fault(const Judgement& judgement, std::size_t op, Fault fault) {
  const std::vector<FaultAt>& faults = judgement.operators[op].faults;
  return std::any_of(faults.begin(), faults.end(), [&](const FaultAt& at) { return at.fault == fault; });
}

/// What one could do about a fault, the smallest change first.
class Candidates {
 public:
  Candidates(const Scope& scope, const Judgement& judgement, std::size_t op)
      : scope_(scope), judgement_(judgement), index_(op),
        launch_(judgement.segments[judgement.operators[op].segment].launch) {}

  std::vector<Candidate> of(const FaultAt& at) {
    switch (at.fault) {
    case Fault::sync_all_short:
      sync_all_short();
      break;
    case Fault::sync_all_one_sided:
      source("SyncAll() instead of SyncAll<false>()", "用 SyncAll() 代替 SyncAll<false>()",
             [](Operator& op) { op.sync.all = SyncAll::plain; });
      break;
    case Fault::sync_all_skipped:
      source("let every core come to SyncAll()", "使每个核都执行到 SyncAll()",
             [](Operator& op) { op.sync.all_on_every_core = true; });
      break;
    case Fault::mode0_short:
      batch_mode();
      full_cores(at.side);
      own_scope();
      break;
    case Fault::pair_guarded:
      source("sync on both AIVs", "在两个 AIV 上都同步", [](Operator& op) { op.sync.pair_guarded = false; });
      own_scope();
      break;
    case Fault::matmul_unguarded:
      source("call Matmul on AIV0 only", "只在 AIV0 上调用 Matmul",
             [](Operator& op) { op.sync.matmul_unguarded = false; });
      own_scope();
      break;
    case Fault::set_next_uneven:
      source("SetNextTaskStart on every path", "在每条路径上调用 SetNextTaskStart",
             [](Operator& op) { op.set_next = Call::every_core; });
      break;
    case Fault::wait_previous_uneven:
      source("WaitPreTaskEnd on every path", "在每条路径上调用 WaitPreTaskEnd",
             [](Operator& op) { op.wait_previous = Call::every_core; });
      break;
    case Fault::flag_short:
    case Fault::flag_early:
      flags(at);
      break;
    case Fault::vector_missing:
      vector_missing();
      break;
    case Fault::device_short:
      device_short();
      break;
    }
    return std::move(candidates_);
  }

 private:
  void add(Fix::Kind kind, const std::string& en, const std::string& zh, Scope changed) {
    candidates_.push_back({{kind, {en, zh}, {}}, std::move(changed)});
  }

  void source(const char* en, const char* zh, const std::function<void(Operator&)>& change) {
    Scope changed = scope_;
    change(changed.operators[index_]);
    add(Fix::Kind::source, en, zh, std::move(changed));
  }

  void option(const std::vector<std::pair<std::string, std::string>>& options) {
    Scope changed = scope_;
    for (const auto& [key, value] : options) {
      changed = with_option(changed, key, value);
    }
    const std::string text = written(options, scope_.backend);
    add(Fix::Kind::option, text, text, std::move(changed));
    candidates_.back().fix.options = options;
  }

  void own_scope() {
    Scope changed = scope_;
    changed.operators[index_].task = Task::unfusible;
    add(Fix::Kind::own_scope, "its own scope", "单独的 scope", std::move(changed));
  }

  void full_cores(Side side) {
    const Operator& op = scope_.operators[index_];
    const std::uint32_t full = is_mix(op.type) ? launch_.blocks : cores(launch_, side);
    Scope changed = scope_;
    changed.operators[index_].block_num = full;
    const std::string text = "block_num = " + std::to_string(full);
    add(Fix::Kind::block_count, text, text, std::move(changed));
  }

  void batch_mode() {
    if (scope_.backend == Backend::npugraph_ex) {
      Scope changed = scope_;
      changed.operators[index_].batch_mode = true;
      add(Fix::Kind::tiling, "SetScheduleMode(1) in its tiling, which splits the scope there",
          "在其 tiling 中调用 SetScheduleMode(1)，scope 在此断开", std::move(changed));
    }
  }

  void sync_all_short() {
    const Operator& op = scope_.operators[index_];
    if (scope_.backend == Backend::ge && op.sync.all_is_counted) {
      option({{"feed-sync-all", "1"}});
    } else if (scope_.backend == Backend::ge) {
      Scope changed = with_option(scope_, "feed-sync-all", "1");
      changed.operators[index_].sync.all_is_counted = true;
      add(Fix::Kind::source, "SyncAll() without a configuration, and feed-sync-all=1",
          "使用不带配置的 SyncAll()，并设置 feed-sync-all=1", std::move(changed));
    }
    batch_mode();
    full_cores(op.sync.all == SyncAll::mix || !uses(op.type, Side::aiv) ? Side::aic : Side::aiv);
    const std::size_t alone = candidates_.size();
    own_scope();
    if (!op.sync.all_on_every_core) {
      for (std::size_t index = 0; index < alone; ++index) {
        add_with_every_core(candidates_[index]);
      }
    }
  }

  /// For a SyncAll() that too few cores enter and not all of these come to: one change is not enough.
  void add_with_every_core(const Candidate& other) {
    Scope changed = other.scope;
    changed.operators[index_].sync.all_on_every_core = true;
    add(Fix::Kind::source, "let every core come to SyncAll(), and " + other.fix.text.en,
        "使每个核都执行到 SyncAll()，并且" + other.fix.text.zh, std::move(changed));
  }

  void flags(const FaultAt& at) {
    const Side from = opposite(at.side);
    const std::string flag = std::to_string(at.flag);
    if (at.fault == Fault::flag_short) {
      Scope changed = scope_;
      for (FlagUse& use : changed.operators[index_].sync.flags) {
        use.sets = use.id == at.flag && use.from == from ? std::max(use.sets, use.waits) : use.sets;
      }
      add(Fix::Kind::source, "as many sets as waits of flag " + flag,
          "使标志 " + flag + " 的置位次数等于等待次数", std::move(changed));
      return;
    }
    Scope changed = scope_;
    std::string who;
    for (std::size_t sooner = 0; sooner < index_; ++sooner) {
      for (FlagUse& use : changed.operators[sooner].sync.flags) {
        if (use.id == at.flag && use.from == from && use.sets > use.waits) {
          use.waits = use.sets;
          who += (who.empty() ? "" : ", ") + changed.operators[sooner].name;
        }
      }
    }
    add(Fix::Kind::source, "as many waits as sets of flag " + flag + " in " + who,
        "使 " + who + " 中标志 " + flag + " 的等待次数等于置位次数", std::move(changed));
  }

  void vector_missing() {
    if (scope_.backend == Backend::ge && 2 * launch_.aic <= scope_.platform.aiv) {
      option({{"debug-aic-num", std::to_string(launch_.aic)},
              {"debug-aiv-num", std::to_string(2 * launch_.aic)}});
    }
    own_scope();
    Scope changed = scope_;
    const std::uint32_t blocks = launch_.aic / 2 + 1;
    changed.operators[index_].block_num = blocks;
    const std::string text = "block_num = " + std::to_string(blocks);
    add(Fix::Kind::block_count, text, text, std::move(changed));
  }

  void device_short() {
    Scope changed = scope_;
    std::string who;
    for (const std::size_t index : judgement_.segments[judgement_.operators[index_].segment].operators) {
      Operator& op = changed.operators[index];
      std::uint32_t most = uses(op.type, Side::aic) ? scope_.platform.aic : scope_.platform.aiv;
      if (op.type == KernelType::mix_aic_1_2) {
        most = std::min(most, scope_.platform.aiv / 2);
      }
      if (op.block_num > most && most > 0) {
        op.block_num = most;
        who += (who.empty() ? "" : ", ") + op.name + ": block_num = " + std::to_string(most);
      }
    }
    if (!who.empty()) {
      add(Fix::Kind::block_count, who, who, std::move(changed));
    }
    own_scope();
  }

  const Scope& scope_;
  const Judgement& judgement_;
  std::size_t index_;
  const Launch& launch_;
  std::vector<Candidate> candidates_;
};

} // namespace

std::size_t count_faults(const Judgement& judgement) {
  std::size_t count = judgement.build_errors.size();
  for (const Verdict& verdict : judgement.operators) {
    count += verdict.faults.size() + (verdict.is_reached ? 0 : 1);
  }
  return count;
}

Scope with_option(const Scope& scope, const std::string& key, const std::string& value) {
  Scope changed = scope;
  if (scope.backend == Backend::npugraph_ex) {
    const auto same = [&](const NpuOption& option) { return option.key == key; };
    changed.npu_options.erase(std::remove_if(changed.npu_options.begin(), changed.npu_options.end(), same),
                              changed.npu_options.end());
    changed.npu_options.push_back({key, {value}, false, key.starts_with("debug_")});
    return changed;
  }
  const std::string others = without_options(scope, {key}).ge_options;
  changed.ge_options = others + (others.empty() ? "" : ":") + written({{key, value}}, scope.backend);
  return changed;
}

Scope without_options(const Scope& scope, const std::set<std::string>& keys) {
  std::vector<std::pair<std::string, std::string>> given = parse_ge_options(scope.ge_options).given;
  given.erase(std::remove_if(given.begin(), given.end(),
                             [&](const auto& option) { return keys.count(option.first) != 0; }),
              given.end());
  Scope changed = scope;
  changed.ge_options = written(given, scope.backend);
  return changed;
}

std::vector<Fix> fixes_of(const Scope& scope, const Judgement& judgement, std::size_t op) {
  std::vector<Fix> fixes;
  if (judgement.operators[op].faults.empty()) {
    return fixes;
  }
  const FaultAt& at = judgement.operators[op].faults.front();
  for (Candidate& candidate : Candidates(scope, judgement, op).of(at)) {
    const Judgement after = judge(candidate.scope);
    if (!has_fault(after, op, at.fault) && count_faults(after) < count_faults(judgement)) {
      fixes.push_back(std::move(candidate.fix));
      if (fixes.size() == 2) {
        break;
      }
    }
  }
  return fixes;
}

} // namespace dcuop::superkernel
