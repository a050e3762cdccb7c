// ge:          super_kernel/src/jit/superkernel/super_kernel_op_infos.py (get_finale_type_and_block_num and what it calls)
// npugraph_ex: super_kernel/src/aot/sk_task_builder.cpp (GenEntryInfo), sk_scope_split.cpp (InitialScopeSplitPass,
//              ScheModeKernelSplitPass)
// of https://github.com/mirror-cann/graph-autofusion: sources, promised by no documentation.
#include "launch.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace dcuop::superkernel {

namespace {

using Kind = BuildError::Kind;

struct Need {
  std::uint32_t aic = 0, aiv = 0;
};

/// How many its tiling will ask for is not known when a tiling-sink operator of ge is compiled: it counts as the device.
std::uint32_t counted_blocks(const Scope& scope, const Operator& op) {
  if (scope.backend == Backend::ge && op.task == Task::tiling_sink) {
    return uses(op.type, Side::aic) ? scope.platform.aic : scope.platform.aiv;
  }
  return op.block_num;
}

Need need_of(const Scope& scope, const Operator& op) {
  const std::uint32_t blocks = counted_blocks(scope, op);
  return {uses(op.type, Side::aic) ? blocks : 0, !uses(op.type, Side::aiv)            ? 0
                                                 : op.type == KernelType::mix_aic_1_2 ? 2 * blocks
                                                                                      : blocks};
}

Launch launch(KernelType type, std::uint32_t blocks) {
  Launch result{type, blocks, 0, 0, false};
  result.aic = uses(type, Side::aic) ? blocks : 0;
  result.aiv = !uses(type, Side::aiv) ? 0 : type == KernelType::mix_aic_1_2 ? 2 * blocks : blocks;
  return result;
}

Launch natural_launch(const Scope& scope, const std::vector<std::size_t>& operators) {
  Need most;
  bool any_1_2 = false;
  for (const std::size_t index : operators) {
    const Operator& op = scope.operators[index];
    const Need need = need_of(scope, op);
    most = {std::max(most.aic, need.aic), std::max(most.aiv, need.aiv)};
    any_1_2 = any_1_2 || op.type == KernelType::mix_aic_1_2;
  }
  if (most.aic == 0) {
    return launch(KernelType::mix_aiv_1_0, most.aiv);
  }
  if (most.aiv == 0) {
    return launch(KernelType::mix_aic_1_0, most.aic);
  }
  // ge does not ask whether there is a 1:2 operator: {1:2 x 12, AIC x 24} becomes 1:1 x 24.
  const bool asks = scope.backend == Backend::npugraph_ex;
  if (most.aiv <= most.aic && !(asks && any_1_2)) {
    return launch(KernelType::mix_aic_1_1, most.aic);
  }
  return launch(KernelType::mix_aic_1_2, std::max(most.aic, (most.aiv + 1) / 2));
}

/// Of debug-aic-num and debug-aiv-num; empty where they are fine.
std::vector<BuildError> debug_num_errors(const Scope& scope, const Options& options, const Launch& natural) {
  std::vector<BuildError> errors;
  const std::uint32_t aic = options.debug_aic;
  const std::uint32_t aiv = options.debug_aiv;
  const auto add = [&](Kind kind, Side side, std::uint32_t wanted, std::uint32_t has) {
    BuildError error;
    error.kind = kind;
    error.side = side;
    error.wanted = wanted;
    error.has = has;
    errors.push_back(error);
  };
  if (aic != 0 && aiv != 0 && aic != aiv && std::uint64_t{2} * aic != aiv) {
    add(Kind::debug_num_ratio, Side::aic, aic, aiv);
  }
  if (aic > scope.platform.aic) {
    add(Kind::debug_num_platform, Side::aic, aic, scope.platform.aic);
  }
  if (aiv > scope.platform.aiv) {
    add(Kind::debug_num_platform, Side::aiv, aiv, scope.platform.aiv);
  }
  if (aic < natural.aic) {
    add(Kind::debug_num_less, Side::aic, aic, natural.aic);
  }
  if (aiv < natural.aiv) {
    add(Kind::debug_num_less, Side::aiv, aiv, natural.aiv);
  }
  return errors;
}

Launch forced_launch(const Options& options) {
  const std::uint32_t aic = options.debug_aic;
  const std::uint32_t aiv = options.debug_aiv;
  Launch result = aiv == 0     ? launch(KernelType::mix_aic_1_0, aic)
                  : aic == 0   ? launch(KernelType::mix_aiv_1_0, aiv)
                  : aic == aiv ? launch(KernelType::mix_aic_1_1, aic)
                               : launch(KernelType::mix_aic_1_2, aic);
  result.is_forced = true;
  return result;
}

Launch launch_of(const Scope& scope, const Options& options, const Segment& segment,
                 std::vector<BuildError>& errors) {
  const Operator& first = scope.operators[segment.operators.front()];
  if (!segment.is_fused) {
    return launch(first.type, first.block_num);
  }
  if (options.each_at_full) {
    Launch full = launch(KernelType::mix_aic_1_2, scope.platform.aic);
    full.is_forced = true;
    return full;
  }
  const Launch natural = natural_launch(scope, segment.operators);
  if (options.debug_aic == 0 && options.debug_aiv == 0) {
    return natural;
  }
  std::vector<BuildError> found = debug_num_errors(scope, options, natural);
  if (found.empty()) {
    return forced_launch(options);
  }
  for (BuildError& error : found) {
    error.op = segment.operators.front();
    errors.push_back(error);
  }
  return natural;
}

bool is_fusible(const Scope& scope, const Operator& op) {
  // npugraph_ex fuses what has a static kernel, and that has no tiling on the device.
  return op.task != Task::unfusible &&
         !(scope.backend == Backend::npugraph_ex && op.task == Task::tiling_sink);
}

/// The cores that a batch-mode operator counts with when scopes are split: it has both sides.
Need batch_need(const Scope& scope, const Operator& op) {
  Need need = need_of(scope, op);
  if (op.batch_mode) {
    need.aiv = need.aiv == 0 ? 2 * need.aic : need.aiv;
    need.aic = need.aic == 0 ? (need.aiv + 1) / 2 : need.aic;
  }
  return need;
}

/// A pass over one SuperKernel of npugraph_ex: a batch-mode operator must have all cores of its launch.
class BatchModeSplit {
 public:
  explicit BatchModeSplit(const Scope& scope) : scope_(scope) {}

  std::vector<Segment> run(const Segment& whole) {
    std::vector<Segment> parts;
    for (const std::size_t index : whole.operators) {
      const Operator& op = scope_.operators[index];
      const Need need = batch_need(scope_, op);
      if (!parts.empty()) {
        if (const Segment::Why why = reason_to_split(op, need); why != Segment::Why::end) {
          parts.back().ended_by = why;
          parts.push_back(Segment{});
        }
      } else {
        parts.push_back(Segment{});
      }
      if (parts.back().operators.empty()) {
        merged_ = {};
        has_batch_ = false;
      }
      parts.back().operators.push_back(index);
      merged_ = {std::max(merged_.aic, need.aic), std::max(merged_.aiv, need.aiv)};
      has_batch_ = has_batch_ || op.batch_mode;
    }
    parts.back().ended_by = whole.ended_by;
    return parts;
  }

 private:
  [[nodiscard]] Segment::Why reason_to_split(const Operator& op, const Need& need) const {
    const auto below = [](std::uint32_t one, std::uint32_t other) { return one != 0 && one < other; };
    const auto above = [](std::uint32_t one, std::uint32_t other) { return one != 0 && one > other; };
    if (op.batch_mode && (below(need.aic, merged_.aic) || below(need.aiv, merged_.aiv))) {
      return Segment::Why::core_drop;
    }
    if (has_batch_ && (above(need.aic, merged_.aic) || above(need.aiv, merged_.aiv))) {
      return Segment::Why::core_rise;
    }
    return Segment::Why::end;
  }

  const Scope& scope_;
  Need merged_;
  bool has_batch_ = false;
};

/// In the order of the graph: an operator that cannot be fused ends one SuperKernel, and another one begins behind it.
std::vector<Segment> in_order(const Scope& scope, const Options& options) {
  std::vector<Segment> segments;
  bool open = false;
  for (std::size_t index = 0; index < scope.operators.size(); ++index) {
    const bool fused = is_fusible(scope, scope.operators[index]);
    if (!open || !fused) {
      if (!segments.empty()) {
        const bool could_join = fused && segments.back().is_fused;
        segments.back().ended_by = could_join ? Segment::Why::each_alone : Segment::Why::unfusible;
      }
      segments.push_back(Segment{});
      segments.back().is_fused = fused;
    }
    segments.back().operators.push_back(index);
    open = fused && !options.each_at_full;
  }
  return segments;
}

/// npugraph_ex takes from every stream what can go on, until each is at an operator that cannot be fused or waits for one.
/// An operator's level says which SuperKernel it is in, or before which it runs by itself.
std::vector<std::size_t> levels_of(const Scope& scope) {
  std::vector<std::size_t> levels(scope.operators.size(), 0);
  std::map<std::int64_t, std::size_t> last;   // of a stream
  std::map<std::string, std::size_t> senders; // of an event
  for (std::size_t index = 0; index < levels.size(); ++index) {
    const Operator& op = scope.operators[index];
    const auto comes_behind = [&](std::size_t sooner) {
      const bool ends_kernel = is_fusible(scope, scope.operators[sooner]) && !is_fusible(scope, op);
      levels[index] = std::max(levels[index], levels[sooner] + (ends_kernel ? 1 : 0));
    };
    if (const auto before = last.find(op.stream); before != last.end()) {
      comes_behind(before->second);
    }
    for (const std::string& event : op.receives) {
      if (const auto sender = senders.find(event); sender != senders.end()) {
        comes_behind(sender->second);
      }
    }
    last[op.stream] = index;
    for (const std::string& event : op.sends) {
      senders.emplace(event, index);
    }
  }
  return levels;
}

std::vector<Segment> by_stream(const Scope& scope) {
  const std::vector<std::size_t> levels = levels_of(scope);
  const std::size_t count = levels.empty() ? 0 : *std::max_element(levels.begin(), levels.end()) + 1;
  std::vector<Segment> segments;
  for (std::size_t level = 0; level < count; ++level) {
    Segment fused;
    for (std::size_t index = 0; index < levels.size(); ++index) {
      if (levels[index] != level) {
        continue;
      }
      if (is_fusible(scope, scope.operators[index])) {
        fused.operators.push_back(index);
      } else {
        segments.push_back(Segment{});
        segments.back().operators = {index};
        segments.back().is_fused = false;
      }
    }
    if (!fused.operators.empty()) {
      segments.push_back(std::move(fused));
    }
  }
  for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
    segments[i].ended_by = Segment::Why::unfusible;
  }
  return segments;
}

bool in_two_streams(const Scope& scope, const Segment& segment) {
  const std::int64_t first = scope.operators[segment.operators.front()].stream;
  return std::any_of(segment.operators.begin(), segment.operators.end(),
                     [&](std::size_t index) { return scope.operators[index].stream != first; });
}

/// ge: two adjacent operators on two streams with nothing between them.
bool has_parallel_neighbours(const Scope& scope, const Segment& segment) {
  for (std::size_t at = 1; at < segment.operators.size(); ++at) {
    const Operator& before = scope.operators[segment.operators[at - 1]];
    const Operator& after = scope.operators[segment.operators[at]];
    if (before.stream != after.stream && !are_linked(before, after)) {
      return true;
    }
  }
  return false;
}

} // namespace

std::uint32_t ratio(const Launch& launch) {
  return launch.aic == 0 ? 0 : launch.aiv / launch.aic;
}

std::uint32_t cores(const Launch& launch, Side side) {
  return side == Side::aic ? launch.aic : launch.aiv;
}

std::uint32_t resident_blocks(const Launch& launch, const Platform& platform) {
  std::uint32_t resident = launch.blocks;
  if (launch.aic != 0) {
    resident = std::min(resident, platform.aic);
  }
  if (launch.aiv != 0) {
    resident = std::min(resident, platform.aiv / (launch.aiv / launch.blocks));
  }
  return resident;
}

bool are_linked(const Operator& first, const Operator& second) {
  return std::any_of(first.sends.begin(), first.sends.end(),
                     [&](const std::string& event) { return second.receives.count(event) != 0; });
}

bool has_barrier(const Scope& scope, const Options& options, const Segment& segment) {
  if (!segment.is_fused) {
    return false;
  }
  if (options.debug_sync_all) {
    return true;
  }
  if (!segment.two_queues) {
    return segment.operators.size() > 1;
  }
  std::set<std::int64_t> streams;
  for (const std::size_t later : segment.operators) {
    if (!streams.insert(scope.operators[later].stream).second) {
      return true;
    }
    for (const std::size_t sooner : segment.operators) {
      if (sooner < later && are_linked(scope.operators[sooner], scope.operators[later])) {
        return true;
      }
    }
  }
  return false;
}

std::vector<Segment> segments_of(const Scope& scope, const Options& options,
                                 std::vector<BuildError>& errors) {
  std::vector<Segment> segments;
  const bool goes_by_stream = scope.backend == Backend::npugraph_ex && !options.each_at_full;
  for (const Segment& part : goes_by_stream ? by_stream(scope) : in_order(scope, options)) {
    if (goes_by_stream && part.is_fused) {
      for (Segment& piece : BatchModeSplit(scope).run(part)) {
        segments.push_back(std::move(piece));
      }
    } else {
      segments.push_back(part);
    }
  }
  for (Segment& segment : segments) {
    segment.launch = launch_of(scope, options, segment, errors);
    if (!segment.is_fused) {
      continue;
    }
    const bool effective = options.early_start == 1 && scope.platform.product != Product::a2;
    if (scope.backend == Backend::ge) {
      segment.two_queues = options.stream_fusion && has_parallel_neighbours(scope, segment);
      segment.early_start = effective && !segment.two_queues;
    } else {
      segment.early_start = effective && !options.debug_sync_all && !in_two_streams(scope, segment);
      segment.two_queues = !segment.early_start;
    }
  }
  return segments;
}

} // namespace dcuop::superkernel
