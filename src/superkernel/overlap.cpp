// What SetNextTaskStart and WaitPreTaskEnd can save, from above. One instruction stream a core: work of two operators
// overlaps on other cores, or in other pipes of the same core, as far as the sources of the times allow.
#include <algorithm>
#include <cmath>

#include "dcuop/superkernel/plan.hpp"
#include "launch.hpp"

namespace dcuop::superkernel {

namespace {

bool has_calls(const Operator& op) {
  return op.set_next != Call::none || op.wait_previous != Call::none;
}

/// Cores of a side that an operator enters, as [0, count).
std::uint32_t entering(const Verdict& verdict, Side side) {
  return side == Side::aic ? verdict.aic : verdict.aiv;
}

class Bound {
 public:
  Bound(const Scope& scope, const Judgement& judgement) : scope_(scope), judgement_(judgement) {}

  void add(const Segment& segment, Overlap& overlap) {
    double bound = 0;
    double chain = 0;     // the place of WaitPreTaskEnd of the operator at hand, if nothing but order held it
    double chain_end = 0; // of the latest operator's last work
    double in_a_row = 0;
    for (std::size_t at = 0; at < segment.operators.size(); ++at) {
      const std::size_t index = segment.operators[at];
      const Operator& op = scope_.operators[index];
      const Times times = *op.times;
      in_a_row += times.pre + times.mid + times.skew + times.post;
      if (at == 0) {
        chain = times.pre;
      } else {
        const std::size_t before = segment.operators[at - 1];
        const Times its = *scope_.operators[before].times;
        const bool sets = scope_.operators[before].set_next != Call::none;
        const bool waits = op.wait_previous != Call::none;
        chain +=
            its.mid + its.skew + (sets ? 0 : its.post) + scope_.platform.barrier_us + (waits ? 0 : times.pre);
        in_a_row += scope_.platform.barrier_us;
        const double part = segment.early_start ? part_of(before, index) : 0;
        bound += part;
        if (part > 0) {
          overlap.parts.push_back({before, index, part});
        }
      }
      chain_end = std::max(chain_end, chain + times.mid + times.skew + times.post);
    }
    if (segment.early_start) {
      bound = std::min(bound, std::max(0.0, in_a_row - chain_end));
    }
    overlap.at_most_us = overlap.at_most_us.value_or(0) + bound;
    overlap.total_us += in_a_row;
  }

 private:
  [[nodiscard]] double part_of(std::size_t before, std::size_t after) const {
    const Operator& first = scope_.operators[before];
    const Operator& second = scope_.operators[after];
    const Times its = *first.times;
    const double pre = second.times->pre;
    const bool sets = first.set_next != Call::none;
    const bool waits = second.wait_previous != Call::none;
    if (!sets && !waits) {
      return 0;
    }
    if (!are_same_cores(before, after)) {
      return (sets ? its.post : 0) + (waits ? pre : 0);
    }
    // A core that is done before the slowest one does its pre until the flag of all has come.
    const double idle = its.skew + scope_.platform.barrier_us;
    if (sets && waits) {
      return std::min(its.post + pre, std::min(its.post, pre) + idle);
    }
    return sets ? its.post : std::min(pre, idle + its.post);
  }

  /// Whether each core of `after` has work in `before` that it must finish first.
  [[nodiscard]] bool are_same_cores(std::size_t before, std::size_t after) const {
    for (const Side side : {Side::aic, Side::aiv}) {
      if (entering(judgement_.operators[after], side) > entering(judgement_.operators[before], side)) {
        return false;
      }
    }
    return true;
  }

  const Scope& scope_;
  const Judgement& judgement_;
};

Phrase why_none(const Scope& scope, const Judgement& judgement) {
  if (std::none_of(scope.operators.begin(), scope.operators.end(), has_calls)) {
    return {"no operator calls SetNextTaskStart or WaitPreTaskEnd",
            "没有算子调用 SetNextTaskStart 或 WaitPreTaskEnd"};
  }
  if (scope.platform.product == Product::a2) {
    return {"on A2 the calls compile and do nothing", "在 A2 上这些调用仅保证编译，不生效"};
  }
  if (judgement.options.debug_sync_all) {
    return {"debug-sync-all=1 synchronises behind each operator", "debug-sync-all=1 在每个算子之后同步"};
  }
  if (judgement.options.early_start != 1) {
    return {scope.backend == Backend::ge ? "early-start is not 1" : "early_start is off, as it is by default",
            scope.backend == Backend::ge ? "early-start 不是 1" : "early_start 默认关闭"};
  }
  if (std::any_of(judgement.segments.begin(), judgement.segments.end(),
                  [](const Segment& segment) { return segment.is_fused && segment.two_queues; })) {
    return {"several streams in one SuperKernel turn early start off",
            "一个 SuperKernel 中有多条流时 early start 关闭"};
  }
  return {"no call stands between two operators of one SuperKernel",
          "没有调用位于同一 SuperKernel 的两个算子之间"};
}

} // namespace

Overlap overlap_of(const Scope& scope, const Judgement& judgement) {
  Overlap overlap;
  const auto missing = std::find_if(scope.operators.begin(), scope.operators.end(),
                                    [](const Operator& op) { return !op.times.has_value(); });
  if (missing != scope.operators.end()) {
    overlap.why_none = {"not known: " + missing->name + " has no times_us",
                        "未知：" + missing->name + " 没有 times_us"};
    return overlap;
  }
  Bound bound(scope, judgement);
  for (const Segment& segment : judgement.segments) {
    bound.add(segment, overlap);
  }
  if (judgement.options
          .debug_sync_all) { // the operators' own calls are there, and everybody waits behind each anyway
    overlap.at_most_us = 0;
    overlap.parts.clear();
  }
  if (*overlap.at_most_us <= 0) {
    overlap.why_none = why_none(scope, judgement);
  }
  return overlap;
}

} // namespace dcuop::superkernel
