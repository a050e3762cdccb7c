// The verdicts, each by a formula of core counts. Nothing here is shared with simulate.cpp, which a property test
// compares with it on random scopes.
#include "dcuop/superkernel/judge.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "build_errors.hpp"
#include "clashes.hpp"
#include "launch.hpp"

namespace dcuop::superkernel {

namespace {

/// One kernel, and its operators one after the other.
class SegmentJudge {
 public:
  SegmentJudge(const Scope& scope, const Options& options, const Segment& segment)
      : scope_(scope), options_(options), segment_(segment), launch_(segment.launch),
        resident_(resident_blocks(launch_, scope.platform)), is_too_large_(resident_ < launch_.blocks),
        has_barrier_(has_barrier(scope, options, segment)) {}

  void run(std::vector<Verdict>& verdicts) {
    bool reached = true;
    for (std::size_t at = 0; at < segment_.operators.size(); ++at) {
      const std::size_t index = segment_.operators[at];
      verdict_ = {};
      verdict_.is_reached = reached;
      enter(scope_.operators[index]);
      if (reached) {
        reached = judge_one(scope_.operators[index], at);
      }
      const std::size_t segment = verdicts[index].segment;
      verdicts[index] = verdict_;
      verdicts[index].segment = segment;
    }
  }

 private:
  [[nodiscard]] std::uint32_t total(Side side) const { return cores(launch_, side); }
  [[nodiscard]] std::uint32_t entering(Side side) const {
    return side == Side::aic ? verdict_.aic : verdict_.aiv;
  }

  /// How many its tiling gives is not known when the code is generated: a tiling-sink operator of ge is entered by as
  /// many as the launch has blocks, be they blocks or, in a vector operator, vector cores.
  [[nodiscard]] std::uint32_t blocks_of(const Operator& op) const {
    const bool is_sink = scope_.backend == Backend::ge && segment_.is_fused && op.task == Task::tiling_sink;
    return std::min(is_sink ? launch_.blocks : op.block_num,
                    uses(op.type, Side::aic) ? launch_.aic : launch_.aiv);
  }

  void enter(const Operator& op) {
    blocks_ = blocks_of(op);
    verdict_.aic = uses(op.type, Side::aic) ? blocks_ : 0;
    verdict_.aiv = !uses(op.type, Side::aiv) ? 0 : is_mix(op.type) ? blocks_ * ratio(launch_) : blocks_;
  }

  void add(Fault fault, Side side, std::uint32_t waiting, std::uint32_t expected, std::uint32_t flag = 0) {
    verdict_.faults.push_back({fault, side, waiting, expected, flag});
  }

  /// False when nothing behind it is reached: blocks that have no core yet are waited for.
  bool judge_one(const Operator& op, std::size_t at) {
    if (is_too_large_ && resident_ == 0) {
      add(Fault::device_short, Side::aiv, 0, launch_.blocks);
      return false;
    }
    judge_wait_previous(op, at);
    judge_pairs(op);
    if (is_too_large_ && synchronises_side(op)) {
      add(Fault::device_short, Side::aiv, resident_, launch_.blocks);
      return false;
    }
    judge_mode0(op);
    judge_sync_all(op);
    judge_flags(op);
    if (is_too_large_ && has_barrier_ && is_stopped_behind(at)) {
      add(Fault::device_short, Side::aiv, resident_, launch_.blocks);
      return false;
    }
    judge_set_next(op, at);
    return true;
  }

  // Cores of one block ---------------------------------------------------------------------------------------------

  void judge_pairs(const Operator& op) {
    if (op.type == KernelType::mix_aic_1_2 && ratio(launch_) == 1) {
      add(Fault::vector_missing, Side::aiv, blocks_, 2 * blocks_);
    }
    if (op.type == KernelType::mix_aic_1_1 && ratio(launch_) == 2) {
      if (op.sync.matmul_unguarded) {
        add(Fault::matmul_unguarded, Side::aiv, blocks_, 0);
      }
      if (op.sync.pair_guarded) {
        add(Fault::pair_guarded, Side::aic, blocks_, 0);
      }
    }
  }

  // All cores of a side --------------------------------------------------------------------------------------------

  void judge_mode0(const Operator& op) {
    for (const Side side : {Side::aic, Side::aiv}) {
      if (op.sync.mode0[static_cast<int>(side)] && entering(side) < total(side)) {
        add(Fault::mode0_short, side, entering(side), total(side));
      }
    }
  }

  /// Cores of the last block on a side.
  [[nodiscard]] std::uint32_t skipping(const Operator& op, Side side) const {
    if (op.sync.all_on_every_core) {
      return 0;
    }
    return side == Side::aiv && is_mix(op.type) ? ratio(launch_) : 1;
  }

  /// Cores that come to SyncAll: those that enter, without those that have a path around it, and with feed-sync-all
  /// the idle ones too, which repeat what block 0 does. The generator compares block counts for that, and takes that of
  /// a tiling-sink operator for the whole device's, whatever enters it.
  [[nodiscard]] std::uint32_t callers(const Operator& op, Side side) const {
    const std::uint32_t own = entering(side) - skipping(op, side);
    const bool is_fed = scope_.backend == Backend::ge && segment_.is_fused && options_.feed_sync_all &&
                        op.task != Task::tiling_sink && op.sync.all_is_counted && own > 0;
    return is_fed ? total(side) - skipping(op, side) : own;
  }

  /// The side on which SyncAll is a synchronisation of all its cores; SyncAll<false> begins with the cube cores.
  [[nodiscard]] static Side synchronised_side(const Operator& op) {
    return op.sync.all == SyncAll::mix || !uses(op.type, Side::aiv) ? Side::aic : Side::aiv;
  }

  [[nodiscard]] static bool is_one_sided_mix(const Operator& op) {
    return op.sync.all == SyncAll::mix && !is_mix(op.type);
  }

  void judge_sync_all(const Operator& op) {
    if (op.sync.all == SyncAll::none) {
      return;
    }
    if (is_one_sided_mix(op)) {
      const Side side = uses(op.type, Side::aic) ? Side::aic : Side::aiv;
      if (callers(op, side) > 0) {
        add(Fault::sync_all_one_sided, side, callers(op, side), 0);
      }
      return;
    }
    const Side side = synchronised_side(op);
    const std::uint32_t waiting = callers(op, side);
    if (waiting == 0 || waiting == total(side)) {
      return;
    }
    const bool all_but_skipping = waiting + skipping(op, side) == total(side);
    add(all_but_skipping ? Fault::sync_all_skipped : Fault::sync_all_short, side, waiting, total(side));
  }

  [[nodiscard]] bool synchronises_side(const Operator& op) const {
    const bool mode0 = op.sync.mode0[0] || op.sync.mode0[1];
    const bool all =
        op.sync.all != SyncAll::none && !is_one_sided_mix(op) && callers(op, synchronised_side(op)) > 0;
    return mode0 || all;
  }

  /// Whether a started core must pass a barrier behind the operator.
  [[nodiscard]] bool is_stopped_behind(std::size_t at) const {
    if (options_.debug_sync_all) {
      return true;
    }
    const Operator& op = scope_.operators[segment_.operators[at]];
    if (!segment_.two_queues) {
      return at + 1 < segment_.operators.size();
    }
    return std::any_of(segment_.operators.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                       segment_.operators.end(), [&](std::size_t later) {
                         const Operator& other = scope_.operators[later];
                         return other.stream == op.stream || are_linked(op, other);
                       });
  }

  // Counters that live on ------------------------------------------------------------------------------------------

  /// What operators left in the counter of a flag: from block `first` on, until the next range.
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t left = 0;
  };

  void judge_flags(const Operator& op) {
    for (const FlagUse& use : op.sync.flags) {
      std::vector<Range>& ranges = left_[{use.id, use.from}];
      if (ranges.empty()) {
        ranges.push_back({});
      }
      split_at(ranges, blocks_);
      std::uint32_t early = 0;
      std::uint32_t waiting = 0;
      for (std::size_t at = 0; at < ranges.size() && ranges[at].first < blocks_; ++at) {
        const std::uint32_t end = at + 1 < ranges.size() ? std::min(ranges[at + 1].first, blocks_) : blocks_;
        const std::uint32_t size = end - ranges[at].first;
        const std::uint32_t there = ranges[at].left + use.sets;
        early += use.waits > 0 && ranges[at].left > 0 ? size : 0;
        waiting += there < use.waits ? size : 0;
        ranges[at].left = there < use.waits ? 0 : there - use.waits;
      }
      const Side to = opposite(use.from);
      const std::uint32_t cores_a_block = to == Side::aiv ? ratio(launch_) : 1;
      if (waiting > 0) {
        add(Fault::flag_short, to, waiting * cores_a_block, 0, use.id);
      }
      if (early > 0) {
        add(Fault::flag_early, to, early * cores_a_block, 0, use.id);
      }
    }
  }

  static void split_at(std::vector<Range>& ranges, std::uint32_t block) {
    const auto next =
        std::find_if(ranges.begin(), ranges.end(), [&](const Range& range) { return range.first >= block; });
    if (next == ranges.end() || next->first != block) {
      const std::uint32_t left = std::prev(next)->left; // the first range begins with block 0, and block > 0
      ranges.insert(next, {block, left});
    }
  }

  // Early start ----------------------------------------------------------------------------------------------------

  [[nodiscard]] bool calls_count(const Operator& op) const {
    return segment_.early_start && op.task != Task::tiling_sink; // which the back end refuses to have any
  }

  void judge_wait_previous(const Operator& op, std::size_t at) {
    if (at > 0 && calls_count(op) && op.wait_previous == Call::some_cores) {
      add(Fault::wait_previous_uneven, uses(op.type, Side::aic) ? Side::aic : Side::aiv, 0, 0);
    }
  }

  void judge_set_next(const Operator& op, std::size_t at) {
    if (calls_count(op) && op.set_next == Call::some_cores && is_waited_for(op, at)) {
      add(Fault::set_next_uneven, uses(op.type, Side::aic) ? Side::aic : Side::aiv, 0, 0);
    }
  }

  /// Whether a core waits for those of the operator: each does that has not got a path without WaitPreTaskEnd.
  [[nodiscard]] bool is_waited_for(const Operator& op, std::size_t at) const {
    if (at + 1 == segment_.operators.size()) {
      return false;
    }
    const Operator& next = scope_.operators[segment_.operators[at + 1]];
    const bool has_path = calls_count(next) && next.wait_previous == Call::some_cores;
    for (const Side side : {Side::aic, Side::aiv}) {
      const std::uint32_t last_block = side == Side::aiv && is_mix(next.type) ? ratio(launch_) : 1;
      const std::uint32_t without = has_path && uses(next.type, side) ? last_block : 0;
      if (uses(op.type, side) && total(side) > without) {
        return true;
      }
    }
    return false;
  }

  const Scope& scope_;
  const Options& options_;
  const Segment& segment_;
  const Launch& launch_;
  std::uint32_t resident_;
  bool is_too_large_;
  bool has_barrier_;
  Verdict verdict_;
  std::uint32_t blocks_ = 0; ///< that enter the operator at hand
  std::map<std::pair<std::uint32_t, Side>, std::vector<Range>> left_;
};

} // namespace

bool waits_for_ever(Fault fault) {
  return fault < Fault::wait_previous_uneven;
}

std::string to_string(Fault fault) {
  static constexpr const char* names[] = {"sync-all-short",       "sync-all-one-sided", "sync-all-skipped",
                                          "mode0-short",          "pair-guarded",       "matmul-unguarded",
                                          "set-next-uneven",      "flag-short",         "device-short",
                                          "wait-previous-uneven", "flag-early",         "vector-missing"};
  return names[static_cast<std::size_t>(fault)];
}

Judgement judge(const Scope& scope) {
  Judgement judgement;
  judgement.options = parse_options(scope);
  judgement.segments = segments_of(scope, judgement.options, judgement.build_errors);
  judgement.operators.resize(scope.operators.size());
  for (std::size_t index = 0; index < judgement.segments.size(); ++index) {
    for (const std::size_t op : judgement.segments[index].operators) {
      judgement.operators[op].segment = index;
    }
    SegmentJudge(scope, judgement.options, judgement.segments[index]).run(judgement.operators);
  }
  add_build_errors(scope, judgement.options, judgement.segments, judgement.build_errors);
  judgement.clashes = clashes_of(scope, judgement.segments);
  return judgement;
}

std::size_t faulty_operators(const Judgement& judgement) {
  return static_cast<std::size_t>(
      std::count_if(judgement.operators.begin(), judgement.operators.end(),
                    [](const Verdict& verdict) { return !verdict.faults.empty() || !verdict.is_reached; }));
}

} // namespace dcuop::superkernel
