// The programs of the cores are those of the generated kernels:
//   SyncAll, SetNextTaskStart, WaitPreTaskEnd: https://github.com/mirror-cann/asc-devkit,
//     impl/basic_api/dav_c220/kernel_operator_sync_impl.h (SyncAllImpl, SuperKernelAutoSyncAll*, WaitPreTaskEndV2Impl)
//   what is put between operators: https://github.com/mirror-cann/graph-autofusion,
//     super_kernel/src/jit/superkernel/super_kernel.py and super_kernel_sub_op_infos.py
#include "program.hpp"

#include <algorithm>
#include <set>

namespace dcuop::superkernel {

namespace {

// The order of what an operator synchronises with. A core that waits at one of these holds up those that wait behind.
constexpr std::uint32_t phase_gate = 0;
constexpr std::uint32_t phase_matmul = 2;
constexpr std::uint32_t phase_pair = 3;
constexpr std::uint32_t phase_mode0 = 4;
constexpr std::uint32_t phase_sync_all = 8;
constexpr std::uint32_t phase_flags = phase_sync_all + most_syncs + 1;
constexpr std::uint32_t phase_debug = phase_flags + 64;
constexpr std::uint32_t phase_behind = phase_debug + 1;

std::size_t number(Side side) {
  return side == Side::aic ? 0 : 1;
}

bool may_call_early(const Operator& op) {
  return op.task != Task::tiling_sink; // the back end refuses it
}

} // namespace

Program::Program(const Scope& scope, const Options& options, const Kernel& kernel, Machine& machine)
    : scope_(scope), options_(options), kernel_(kernel), machine_(machine) {
  std::set<std::int64_t> streams;
  bool has_unlinked_neighbours = false;
  for (std::size_t at = 0; at < kernel.operators.size(); ++at) {
    streams.insert(operator_at(at).stream);
    if (at > 0 && operator_at(at).stream != operator_at(at - 1).stream) {
      std::vector<std::string> common;
      std::set_intersection(operator_at(at - 1).sends.begin(), operator_at(at - 1).sends.end(),
                            operator_at(at).receives.begin(), operator_at(at).receives.end(),
                            std::back_inserter(common));
      has_unlinked_neighbours = has_unlinked_neighbours || common.empty();
    }
  }
  const bool wants_early = options.early_start == 1 && scope.platform.product != Product::a2;
  if (scope.backend == Backend::ge) {
    style_ = options.stream_fusion && has_unlinked_neighbours ? Style::edges
             : options.early_start == 0                       ? Style::full
                                                              : Style::flags;
    calls_count_ = wants_early && style_ == Style::flags;
  } else {
    calls_count_ = wants_early && streams.size() == 1 && !options.debug_sync_all;
    style_ = calls_count_ ? Style::flags : Style::edges;
  }
}

const Operator& Program::operator_at(std::size_t at) const {
  return scope_.operators[kernel_.operators[at]];
}

std::uint32_t Program::blocks_of(std::size_t at) const {
  const Operator& op = operator_at(at);
  const std::uint32_t there = machine_.core_count(uses(op.type, Side::aic) ? Side::aic : Side::aiv);
  // call_func_of_<operator>: "numBlocks" is the SuperKernel's; what tiling gives only becomes GetBlockNum().
  if (kernel_.is_fused && scope_.backend == Backend::ge && op.task == Task::tiling_sink) {
    return std::min(kernel_.shape.blocks, there);
  }
  return std::min(op.block_num, there);
}

bool Program::enters_at(std::size_t at, Side side, std::uint32_t core) const {
  const Operator& op = operator_at(at);
  if (!uses(op.type, side)) {
    return false;
  }
  // A vector-only operator counts vector cores; with cube cores in it, blocks count, with all vector cores of each.
  const bool counts_vectors = !uses(op.type, Side::aic);
  const std::uint32_t place = counts_vectors ? core : machine_.block_of(side, core);
  return place < blocks_of(at);
}

bool Program::enters(std::size_t op, Side side, std::uint32_t core) const {
  const auto found = std::find(kernel_.operators.begin(), kernel_.operators.end(), op);
  return enters_at(static_cast<std::size_t>(found - kernel_.operators.begin()), side, core);
}

std::uint32_t Program::missing_vectors(std::size_t op) const {
  if (scope_.operators[op].type != KernelType::mix_aic_1_2) {
    return 0;
  }
  std::uint32_t missing = 0;
  for (std::uint32_t block = 0; block < machine_.core_count(Side::aic); ++block) {
    missing += enters(op, Side::aic, block) ? 2 - kernel_.shape.vectors : 0;
  }
  return missing;
}

Times Program::times_of(const Operator& op) const {
  if (op.times) {
    return *op.times;
  }
  // To no scale: enough to draw.
  const bool has_calls = op.set_next != Call::none || op.wait_previous != Call::none;
  return {has_calls ? 2.0 : 0.0, 10.0, has_calls ? 2.0 : 0.0, 0.0};
}

void Program::put(const Context& here, Opcode what, std::uint32_t object, std::uint32_t phase) {
  machine_.append(here.side, here.core,
                  {what, object, phase, static_cast<std::uint32_t>(here.index), Span::What::mid, 0});
}

void Program::work(const Context& here, Span::What span, double duration) {
  machine_.append(here.side, here.core,
                  {Opcode::work, 0, 0, static_cast<std::uint32_t>(here.index), span, duration});
}

void Program::append(std::size_t at) {
  for (const Side side : {Side::aic, Side::aiv}) {
    for (std::uint32_t core = 0; core < machine_.core_count(side); ++core) {
      append_core(at, side, core);
    }
  }
}

bool Program::extend(Side side, std::uint32_t core) {
  std::vector<std::size_t>& appended = appended_[number(side)];
  appended.resize(machine_.core_count(side), 0);
  if (appended[core] == kernel_.operators.size()) {
    return false;
  }
  append_core(appended[core]++, side, core);
  return true;
}

void Program::append_core(std::size_t at, Side side, std::uint32_t core) {
  if (at == syncs_.size()) {
    prepare_syncs(at);
  }
  Context here;
  here.at = at;
  here.op = &operator_at(at);
  here.syncs = &syncs_[at];
  here.index = kernel_.operators[at];
  here.side = side;
  here.core = core;
  here.enters = enters_at(at, side, core);
  const bool counts_vectors = !uses(here.op->type, Side::aic);
  const std::uint32_t place = counts_vectors ? core : machine_.block_of(side, core);
  here.is_last_block = here.enters && place + 1 == blocks_of(at);
  append_core(here);
}

void Program::prepare_syncs(std::size_t at) {
  const Operator& op = operator_at(at);
  const auto index = static_cast<std::uint32_t>(kernel_.operators[at]);
  const Side sync_side = op.sync.all == SyncAll::mix || !uses(op.type, Side::aiv) ? Side::aic : Side::aiv;
  const double delay = scope_.platform.barrier_us;
  Syncs syncs;
  for (std::uint32_t i = 0; op.sync.all != SyncAll::none && i < op.sync.all_count; ++i) {
    syncs.all.push_back(machine_.add_rendezvous(Cause::sync_all, index, sync_side));
  }
  for (const Side side : {Side::aic, Side::aiv}) {
    if (op.sync.mode0[number(side)]) {
      syncs.mode0[number(side)] = machine_.add_rendezvous(Cause::mode0, index, side);
    }
  }
  syncs.matmul = machine_.add_rendezvous(Cause::matmul, index, Side::aic);
  syncs.pair = machine_.add_rendezvous(Cause::pair, index, Side::aic);
  const Side debug_side = machine_.core_count(Side::aic) > 0 ? Side::aic : Side::aiv;
  syncs.debug = machine_.add_rendezvous(Cause::barrier, index, debug_side, delay);
  static_cast<void>(machine_.add_rendezvous(Cause::barrier, index, Side::aiv, delay));
  syncs.gate = gate_behind(at);
  syncs.barrier = machine_.add_rendezvous(Cause::barrier, index, debug_side, delay);
  syncs.edge = edge_behind(at);
  std::size_t places = syncs.all.size();
  places += op.sync.mode0[0] || op.sync.mode0[1] ? 1 : 0;
  places += op.sync.matmul_unguarded || op.sync.pair_guarded || !op.sync.flags.empty() ? 1 : 0;
  syncs.piece = times_of(op).mid / static_cast<double>(places + 1);
  syncs_.push_back(std::move(syncs));
}

/// Behind every operator but the last, with what the next one needs of it.
Program::Gate Program::gate_behind(std::size_t at) {
  Gate gate;
  if (style_ != Style::flags || at + 1 == kernel_.operators.size()) {
    return gate;
  }
  const auto index = static_cast<std::uint32_t>(kernel_.operators[at]);
  for (const Side side : {Side::aic, Side::aiv}) {
    if (!uses(operator_at(at).type, side)) {
      continue;
    }
    gate.all[number(side)] = machine_.add_rendezvous(Cause::barrier, index, side, scope_.platform.barrier_us);
    if (uses(operator_at(at + 1).type, opposite(side))) {
      gate.cross[number(side)] = machine_.add_rendezvous(Cause::barrier, index, side);
      machine_.hand_on(*gate.cross[number(side)], *gate.all[number(side)]);
    }
  }
  return gate;
}

std::optional<Program::Gate> Program::edge_behind(std::size_t at) {
  if (style_ != Style::edges || !has_dependents(at)) {
    return std::nullopt;
  }
  const auto index = static_cast<std::uint32_t>(kernel_.operators[at]);
  Gate edge;
  for (const Side side : {Side::aic, Side::aiv}) {
    if (uses(operator_at(at).type, side)) {
      edge.all[number(side)] =
          machine_.add_rendezvous(Cause::barrier, index, side, scope_.platform.barrier_us);
      edge.cross[number(side)] = machine_.add_rendezvous(Cause::barrier, index, side);
    }
  }
  return edge;
}

void Program::append_core(const Context& here) {
  if (!here.enters) {
    waits_before(here);
    feed(here);
    gate_sets(here);
    barriers_behind(here);
    return;
  }
  const Operator& op = *here.op;
  const Times times = times_of(op);
  const bool waits_inside = calls_count_ && may_call_early(op) && op.wait_previous != Call::none;
  const bool sets_inside = calls_count_ && may_call_early(op) && op.set_next != Call::none;
  if (!waits_inside) {
    waits_before(here);
  }
  work(here, Span::What::pre, times.pre);
  // Where blocks wait for a core, nobody gets past the first operator: that is the finding, not this path.
  const bool has_all_cores = kernel_.resident == kernel_.shape.blocks;
  if (waits_inside && op.wait_previous == Call::some_cores && here.is_last_block && has_all_cores) {
    if (here.at > 0) {
      put(here, Opcode::pass_by, 0, phase_gate);
    }
  } else if (waits_inside) {
    waits_before(here);
  }
  body(here);
  const std::uint32_t blocks = blocks_of(here.at);
  const std::uint32_t place = uses(op.type, Side::aic) ? machine_.block_of(here.side, here.core) : here.core;
  const double share = blocks > 1 ? static_cast<double>(place) / (blocks - 1) : 1.0;
  work(here, Span::What::mid, times.skew * share);
  if (sets_inside && !(op.set_next == Call::some_cores && here.is_last_block)) {
    gate_sets(here);
  }
  work(here, Span::What::post, times.post);
  if (!sets_inside) {
    gate_sets(here);
  }
  barriers_behind(here);
}

/// Outside of the operators, on every core.
void Program::barriers_behind(const Context& here) {
  if (options_.debug_sync_all && kernel_.is_fused) {
    full_barrier(here, here.syncs->debug, phase_debug);
  }
  if (style_ == Style::edges) {
    edge_sets(here);
  } else if (style_ == Style::full && here.at + 1 < kernel_.operators.size()) {
    full_barrier(here, here.syncs->barrier, phase_behind);
  }
}

void Program::waits_before(const Context& here) {
  if (style_ == Style::edges) {
    edge_waits(here);
  } else if (style_ == Style::flags) {
    gate_waits(here);
  }
}

// Inside an operator --------------------------------------------------------------------------------------------

void Program::body(const Context& here) {
  const Operator& op = *here.op;
  const auto next_piece = [&] { work(here, Span::What::mid, here.syncs->piece); };
  const bool talks = op.sync.matmul_unguarded || op.sync.pair_guarded || !op.sync.flags.empty();
  next_piece();
  // Guards on one vector core are a mistake of operators that were written for one vector core a block only.
  if (op.type == KernelType::mix_aic_1_1) {
    if (op.sync.matmul_unguarded) {
      put(here, here.side == Side::aic ? Opcode::serve : Opcode::ask, here.syncs->matmul, phase_matmul);
      if (here.side == Side::aiv) {
        put(here, Opcode::wait_reply, here.syncs->matmul, phase_matmul);
      }
    }
    if (op.sync.pair_guarded) {
      if (here.side == Side::aic) {
        put(here, Opcode::wait_up, here.syncs->pair, phase_pair);
      } else if (here.core % kernel_.shape.vectors == 0) {
        put(here, Opcode::set_up, here.syncs->pair, phase_pair);
      }
    }
  }
  if (op.sync.mode0[number(here.side)]) {
    const std::uint32_t object = here.syncs->mode0[number(here.side)];
    const std::uint32_t phase = phase_mode0 + static_cast<std::uint32_t>(number(here.side));
    put(here, Opcode::join_all, object, phase);
    put(here, Opcode::wait_all, object, phase);
  }
  if (op.sync.mode0[0] || op.sync.mode0[1]) {
    next_piece();
  }
  for (std::uint32_t i = 0; i < here.syncs->all.size(); ++i) {
    if (op.sync.all_on_every_core || !here.is_last_block) {
      sync_all(here, here.syncs->all[i], phase_sync_all + i, op.sync.all);
    }
    next_piece();
  }
  flag_sets(here);
  flag_waits(here);
  if (talks) {
    next_piece();
  }
}

void Program::sync_all(const Context& here, std::uint32_t object, std::uint32_t phase, SyncAll form) {
  if (form == SyncAll::plain) {
    // The vector cores; in an operator without any, its cube cores.
    if (here.side == Side::aiv || !uses(here.op->type, Side::aiv)) {
      put(here, Opcode::join_all, object, phase);
      put(here, Opcode::wait_all, object, phase);
    }
    return;
  }
  if (here.side == Side::aic) {
    put(here, Opcode::wait_up, object, phase);
    put(here, Opcode::join_all, object, phase);
    put(here, Opcode::wait_all, object, phase);
    put(here, Opcode::set_down, object, phase);
  } else {
    put(here, Opcode::set_up, object, phase);
    put(here, Opcode::wait_down, object, phase);
  }
}

/// feed-sync-all: a core that the operator leaves idle repeats the SyncAlls that block 0 of its side counts.
void Program::feed(const Context& here) {
  const Operator& op = *here.op;
  // Whether there are idle cores is asked when it is compiled: a tiling-sink operator has all cores then.
  const bool block_0_counts = op.task != Task::tiling_sink && op.sync.all_is_counted &&
                              (op.sync.all_on_every_core || blocks_of(here.at) > 1);
  if (scope_.backend != Backend::ge || !kernel_.is_fused || !options_.feed_sync_all || !block_0_counts ||
      !uses(op.type, here.side)) {
    return;
  }
  for (std::uint32_t i = 0; i < here.syncs->all.size(); ++i) {
    sync_all(here, here.syncs->all[i], phase_sync_all + i, op.sync.all);
  }
}

void Program::flag_sets(const Context& here) {
  for (const FlagUse& use : here.op->sync.flags) {
    for (std::uint32_t i = 0; use.from == here.side && i < use.sets; ++i) {
      put(here, Opcode::set_count, counter_number(use.id, use.from), phase_flags);
    }
  }
}

void Program::flag_waits(const Context& here) {
  std::uint32_t phase = phase_flags;
  for (const FlagUse& use : here.op->sync.flags) {
    for (std::uint32_t i = 0; use.from != here.side && i < use.waits; ++i) {
      put(here, Opcode::wait_count, counter_number(use.id, use.from), phase);
    }
    ++phase;
  }
}

// Between operators -----------------------------------------------------------------------------------------------

void Program::gate_sets(const Context& here) {
  if (style_ != Style::flags) {
    return;
  }
  if (const auto& all = here.syncs->gate.all[number(here.side)]) {
    put(here, Opcode::join_all, *all, phase_behind);
  }
}

void Program::gate_waits(const Context& here) {
  if (here.at == 0) {
    return;
  }
  const Gate& gate = syncs_[here.at - 1].gate;
  if (const auto& all = gate.all[number(here.side)]) {
    put(here, Opcode::wait_all, *all, phase_gate);
  }
  if (const auto& cross = gate.cross[number(here.side)]) {
    put(here, here.side == Side::aic ? Opcode::set_down : Opcode::set_up, *cross, phase_gate);
  }
  if (const auto& cross = gate.cross[number(opposite(here.side))]) {
    put(here, here.side == Side::aic ? Opcode::wait_up : Opcode::wait_down, *cross, phase_gate + 1);
  }
}

void Program::full_barrier(const Context& here, std::uint32_t object, std::uint32_t phase) {
  const bool has_both = machine_.core_count(Side::aic) > 0 && machine_.core_count(Side::aiv) > 0;
  if (has_both && style_ != Style::edges) {
    sync_all(here, object, phase, SyncAll::mix);
  } else if (uses(here.op->type, here.side)) {
    // Two lists: the cores of one side. The object of the vector cores is the next one.
    const std::uint32_t own = object + (has_both && here.side == Side::aiv ? 1 : 0);
    put(here, Opcode::join_all, own, phase);
    put(here, Opcode::wait_all, own, phase);
  }
}

bool Program::depends(std::size_t later, std::size_t sooner) const {
  const Operator& after = operator_at(later);
  const Operator& before = operator_at(sooner);
  if (after.stream == before.stream) {
    return true;
  }
  return std::any_of(after.receives.begin(), after.receives.end(),
                     [&](const std::string& event) { return before.sends.count(event) != 0; });
}

bool Program::has_dependents(std::size_t at) const {
  for (std::size_t later = at + 1; later < kernel_.operators.size(); ++later) {
    if (depends(later, at)) {
      return true;
    }
  }
  return false;
}

void Program::edge_sets(const Context& here) {
  const std::optional<Gate>& edge = here.syncs->edge;
  if (!edge || !edge->all[number(here.side)]) {
    return;
  }
  const std::uint32_t all = *edge->all[number(here.side)];
  put(here, Opcode::join_all, all, phase_behind);
  put(here, Opcode::wait_all, all, phase_behind);
  const bool exists = machine_.core_count(opposite(here.side)) > 0;
  if (exists) {
    put(here, here.side == Side::aic ? Opcode::set_down : Opcode::set_up, *edge->cross[number(here.side)],
        phase_behind);
  }
}

void Program::edge_waits(const Context& here) {
  if (!uses(here.op->type, here.side)) {
    return;
  }
  for (std::size_t sooner = 0; sooner < here.at; ++sooner) {
    const std::optional<Gate>& edge = syncs_[sooner].edge;
    if (edge && depends(here.at, sooner)) {
      if (const auto& cross = edge->cross[number(opposite(here.side))]) {
        put(here, here.side == Side::aic ? Opcode::wait_up : Opcode::wait_down, *cross, phase_gate);
      }
    }
  }
}

} // namespace dcuop::superkernel
