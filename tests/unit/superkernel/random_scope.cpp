#include "random_scope.hpp"

#include <array>
#include <sstream>

namespace dcuop::superkernel {

namespace {

constexpr std::array types = {KernelType::aiv_only,    KernelType::aic_only,    KernelType::mix_aiv_1_0,
                              KernelType::mix_aic_1_0, KernelType::mix_aic_1_1, KernelType::mix_aic_1_2};

Call random_call(Dice& dice) {
  return dice.one_in(3) ? (dice.one_in(3) ? Call::some_cores : Call::every_core) : Call::none;
}

void add_syncs(Operator& op, Dice& dice) {
  if (dice.one_in(2)) {
    op.sync.all = dice.one_in(4) ? SyncAll::mix : SyncAll::plain;
    op.sync.all_count = 1 + dice.up_to(2);
    op.sync.all_is_counted = !dice.one_in(6);
    op.sync.all_on_every_core = !dice.one_in(6);
  }
  op.sync.mode0[0] = uses(op.type, Side::aic) && dice.one_in(6);
  op.sync.mode0[1] = uses(op.type, Side::aiv) && dice.one_in(6);
  if (!is_mix(op.type)) {
    return;
  }
  op.sync.pair_guarded = dice.one_in(4);
  op.sync.matmul_unguarded = dice.one_in(4);
  for (const Side from : {Side::aic, Side::aiv}) {
    if (dice.one_in(3)) {
      op.sync.flags.push_back({dice.up_to(1), from, dice.up_to(2), dice.up_to(2)});
    }
  }
}

void add_options(Scope& scope, Dice& dice) {
  if (scope.backend == Backend::npugraph_ex) {
    if (dice.one_in(2)) {
      scope.npu_options.push_back({"early_start", {"1"}, false, false});
    }
    if (dice.one_in(8)) {
      scope.npu_options.push_back({"debug_sync_all", {"1"}, false, true});
    }
    if (dice.one_in(8)) {
      scope.npu_options.push_back({"debug_per_op_max_core_num", {"1"}, false, true});
    }
    return;
  }
  std::string& options = scope.ge_options;
  const auto add = [&](const std::string& item) { options += (options.empty() ? "" : ":") + item; };
  if (dice.one_in(2)) {
    add("feed-sync-all=1");
  }
  if (dice.one_in(2)) {
    add("stream-fusion=1");
  }
  if (dice.one_in(3)) {
    add("early-start=" + std::to_string(dice.up_to(2)));
  }
  if (dice.one_in(8)) {
    add("debug-sync-all=1");
  }
  if (dice.one_in(6)) {
    const std::uint32_t aic = dice.up_to(scope.platform.aic);
    add("debug-aic-num=" + std::to_string(aic));
    add("debug-aiv-num=" +
        std::to_string(dice.one_in(4) ? dice.up_to(scope.platform.aiv) : aic * dice.up_to(2)));
  }
}

} // namespace

Scope random_scope(Dice& dice) {
  Scope scope;
  scope.name = "random";
  scope.backend = dice.one_in(3) ? Backend::npugraph_ex : Backend::ge;
  scope.platform.product = dice.one_in(5) ? Product::a2 : Product::a3;
  scope.platform.aic = 1 + dice.up_to(dice.one_in(50) ? 23 : 5);
  scope.platform.aiv = dice.one_in(6) ? 1 + dice.up_to(12) : 2 * scope.platform.aic;
  add_options(scope, dice);
  const std::uint32_t streams = dice.one_in(3) ? 2 : 0;
  const std::uint32_t count = 1 + dice.up_to(4);
  for (std::uint32_t i = 0; i < count; ++i) {
    Operator op;
    op.name = op.op_type = op.kernel = "op" + std::to_string(i);
    op.type = types[dice.up_to(static_cast<std::uint32_t>(types.size()) - 1)];
    const std::uint32_t cores = uses(op.type, Side::aic) ? scope.platform.aic : scope.platform.aiv;
    op.block_num = dice.one_in(3) ? cores : 1 + dice.up_to(dice.one_in(8) ? 2 * cores : cores - 1);
    op.stream = dice.up_to(streams);
    op.task = dice.one_in(8) ? Task::unfusible : dice.one_in(12) ? Task::tiling_sink : Task::fixed;
    op.batch_mode = dice.one_in(3);
    add_syncs(op, dice);
    op.set_next = random_call(dice);
    op.wait_previous = random_call(dice);
    if (i > 0 && dice.one_in(3)) {
      const std::string event = "e" + std::to_string(i);
      scope.operators[dice.up_to(i - 1)].sends.insert(event);
      op.receives.insert(event);
    }
    scope.operators.push_back(op);
  }
  return scope;
}

std::string described(const Scope& scope) {
  std::ostringstream text;
  text << to_string(scope.backend) << " " << to_string(scope.platform.product) << " aic "
       << scope.platform.aic << " aiv " << scope.platform.aiv << " barrier " << scope.platform.barrier_us
       << " '" << scope.ge_options << "'";
  for (const NpuOption& option : scope.npu_options) {
    text << " " << option.key << "=" << option.values.front();
  }
  for (const Operator& op : scope.operators) {
    text << "\n  " << op.name << " " << to_string(op.type) << " x " << op.block_num << " stream " << op.stream
         << " " << to_string(op.task) << (op.batch_mode ? " batch" : "");
    text << " all " << static_cast<int>(op.sync.all) << "x" << op.sync.all_count
         << (op.sync.all_is_counted ? "" : " uncounted") << (op.sync.all_on_every_core ? "" : " skipped")
         << " mode0 " << op.sync.mode0[0] << op.sync.mode0[1] << (op.sync.pair_guarded ? " pair" : "")
         << (op.sync.matmul_unguarded ? " matmul" : "") << " set " << static_cast<int>(op.set_next)
         << " wait " << static_cast<int>(op.wait_previous);
    for (const FlagUse& use : op.sync.flags) {
      text << " flag " << use.id << " " << to_string(use.from) << " " << use.sets << "/" << use.waits;
    }
    if (op.times) {
      text << " us " << op.times->pre << " " << op.times->mid << " " << op.times->post << " skew "
           << op.times->skew;
    }
    for (const std::string& event : op.sends) {
      text << " >" << event;
    }
    for (const std::string& event : op.receives) {
      text << " <" << event;
    }
  }
  return text.str();
}

} // namespace dcuop::superkernel
