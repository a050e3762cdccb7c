#include "simulate_shape.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace dcuop::superkernel {

namespace {

Shape one_sided(bool is_cube, std::uint32_t blocks) {
  return {blocks, is_cube ? 1U : 0U, is_cube ? 0U : 1U};
}

bool holds(const Shape& shape, const Layout& layout) {
  return layout.cubes <= shape.blocks * shape.cubes && layout.vectors <= shape.blocks * shape.vectors;
}

bool holds_all(const Shape& shape, const std::vector<Layout>& layouts) {
  return std::all_of(layouts.begin(), layouts.end(),
                     [&](const Layout& layout) { return holds(shape, layout); });
}

/// The fewest blocks of that form in which every operator has its cores.
Shape grown(Shape shape, const std::vector<Layout>& layouts) {
  while (!holds_all(shape, layouts)) {
    ++shape.blocks;
  }
  return shape;
}

/// What the back end launches when nobody says otherwise.
Shape shape_for(const Scope& scope, const std::vector<std::size_t>& operators,
                const std::vector<Layout>& layouts) {
  const bool any_cube =
      std::any_of(layouts.begin(), layouts.end(), [](const Layout& layout) { return layout.cubes > 0; });
  const bool any_vector =
      std::any_of(layouts.begin(), layouts.end(), [](const Layout& layout) { return layout.vectors > 0; });
  if (!any_cube || !any_vector) {
    return grown(one_sided(any_cube, 1), layouts);
  }
  // One vector core a block, when those that come with the cube cores that are needed anyway suffice.
  std::vector<Layout> cubes_only = layouts;
  for (Layout& layout : cubes_only) {
    layout.vectors = 0;
  }
  const Shape single = grown({1, 1, 1}, cubes_only);
  const bool must_be_double = scope.backend == Backend::npugraph_ex &&
                              std::any_of(operators.begin(), operators.end(), [&](std::size_t index) {
                                return scope.operators[index].type == KernelType::mix_aic_1_2;
                              });
  return holds_all(single, layouts) && !must_be_double ? single : grown({1, 1, 2}, layouts);
}

/// The shape that debug-aic-num and debug-aiv-num ask for, where the back end accepts them.
Shape asked_shape(const Scope& scope, const Options& options, const Shape& natural) {
  const std::uint32_t cubes = options.debug_aic;
  const std::uint32_t vectors = options.debug_aiv;
  if (cubes + vectors == 0 || cubes > scope.platform.aic || vectors > scope.platform.aiv ||
      cubes < natural.blocks * natural.cubes || vectors < natural.blocks * natural.vectors) {
    return natural;
  }
  if (cubes == 0 || vectors == 0) {
    return one_sided(cubes > 0, cubes + vectors);
  }
  for (std::uint32_t each = 1; each <= 2; ++each) {
    if (vectors == each * cubes) {
      return {cubes, 1, each};
    }
  }
  return natural;
}

std::uint32_t blocks_with_cores(const Shape& shape, const Platform& platform) {
  std::uint32_t cubes = platform.aic;
  std::uint32_t vectors = platform.aiv;
  std::uint32_t blocks = 0;
  while (blocks < shape.blocks && cubes >= shape.cubes && vectors >= shape.vectors) {
    cubes -= shape.cubes;
    vectors -= shape.vectors;
    ++blocks;
  }
  return blocks;
}

/// What a batch-mode operator says it needs: on both sides.
Layout claim_of(const Scope& scope, const Operator& op) {
  Layout claim = layout_of(scope, op, true);
  if (op.batch_mode && claim.vectors == 0) {
    claim.vectors = 2 * claim.cubes;
  }
  if (op.batch_mode && claim.cubes == 0) {
    claim.cubes = (claim.vectors + 1) / 2;
  }
  return claim;
}

/// npugraph_ex lets operators into one kernel as long as each batch-mode one has all that any of them needs.
bool may_share(const Scope& scope, const std::vector<std::size_t>& operators) {
  Layout most;
  for (const std::size_t index : operators) {
    const Layout claim = claim_of(scope, scope.operators[index]);
    most.cubes = std::max(most.cubes, claim.cubes);
    most.vectors = std::max(most.vectors, claim.vectors);
  }
  return std::all_of(operators.begin(), operators.end(), [&](std::size_t index) {
    const Layout claim = claim_of(scope, scope.operators[index]);
    return !scope.operators[index].batch_mode || (claim.cubes == most.cubes && claim.vectors == most.vectors);
  });
}

bool stays_apart(const Scope& scope, const Operator& op) {
  return op.task == Task::unfusible ||
         (op.task == Task::tiling_sink && scope.backend == Backend::npugraph_ex);
}

bool joins(const Scope& scope, const Options& options, const Kernel& kernel, std::size_t index) {
  if (!kernel.is_fused || stays_apart(scope, scope.operators[index]) || options.each_at_full) {
    return false;
  }
  std::vector<std::size_t> together = kernel.operators;
  together.push_back(index);
  return scope.backend == Backend::ge || may_share(scope, together);
}

/// Whether nothing that is left must run before the operator.
bool is_free(const Scope& scope, const std::set<std::size_t>& left, std::size_t index) {
  const Operator& op = scope.operators[index];
  return std::none_of(left.begin(), left.lower_bound(index), [&](std::size_t other) {
    const Operator& sooner = scope.operators[other];
    return sooner.stream == op.stream ||
           std::any_of(op.receives.begin(), op.receives.end(),
                       [&](const std::string& event) { return sooner.sends.count(event) != 0; });
  });
}

/// What npugraph_ex walks along the streams for one kernel: all that cannot be fused and can run, each by itself; then
/// all that can be fused and can run.
std::vector<std::vector<std::size_t>> walks_of(const Scope& scope) {
  std::set<std::size_t> left;
  for (std::size_t index = 0; index < scope.operators.size(); ++index) {
    left.insert(index);
  }
  std::vector<std::vector<std::size_t>> walks;
  const auto next = [&](bool apart) {
    return std::find_if(left.begin(), left.end(), [&](std::size_t index) {
      return stays_apart(scope, scope.operators[index]) == apart && is_free(scope, left, index);
    });
  };
  while (!left.empty()) {
    for (auto index = next(true); index != left.end(); index = next(true)) {
      walks.push_back({*index});
      left.erase(index);
    }
    std::vector<std::size_t> together;
    for (auto index = next(false); index != left.end(); index = next(false)) {
      together.push_back(*index);
      left.erase(index);
    }
    walks.push_back(std::move(together));
  }
  return walks;
}

/// ge goes along the graph.
std::vector<std::vector<std::size_t>> whole(const Scope& scope) {
  std::vector<std::size_t> all(scope.operators.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return {all};
}

} // namespace

Layout layout_of(const Scope& scope, const Operator& op, bool is_fused) {
  std::uint32_t blocks = op.block_num;
  const bool is_dynamic = is_fused && scope.backend == Backend::ge && op.task == Task::tiling_sink;
  switch (op.type) {
  case KernelType::aiv_only:
  case KernelType::mix_aiv_1_0:
    return {0, is_dynamic ? scope.platform.aiv : blocks};
  default:
    break;
  }
  blocks = is_dynamic ? scope.platform.aic : blocks;
  const std::uint32_t each = op.type == KernelType::mix_aic_1_2   ? 2
                             : op.type == KernelType::mix_aic_1_1 ? 1
                                                                  : 0;
  return {blocks, each * blocks};
}

std::vector<Kernel> kernels_of(const Scope& scope, const Options& options) {
  std::vector<Kernel> kernels;
  const bool walks = scope.backend == Backend::npugraph_ex && !options.each_at_full;
  for (const std::vector<std::size_t>& walk : walks ? walks_of(scope) : whole(scope)) {
    for (const std::size_t index : walk) {
      if (index == walk.front() || !joins(scope, options, kernels.back(), index)) {
        kernels.push_back({});
        kernels.back().is_fused = !stays_apart(scope, scope.operators[index]);
      }
      kernels.back().operators.push_back(index);
    }
  }
  for (Kernel& kernel : kernels) {
    std::vector<Layout> layouts;
    layouts.reserve(kernel.operators.size());
    for (const std::size_t index : kernel.operators) {
      layouts.push_back(layout_of(scope, scope.operators[index], kernel.is_fused));
    }
    if (!kernel.is_fused) {
      const Layout& own = layouts.front();
      kernel.shape = own.cubes == 0 || own.vectors == 0 ? one_sided(own.cubes > 0, own.cubes + own.vectors)
                                                        : Shape{own.cubes, 1, own.vectors / own.cubes};
    } else if (options.each_at_full) {
      kernel.shape = {scope.platform.aic, 1, 2};
    } else {
      kernel.shape = asked_shape(scope, options, shape_for(scope, kernel.operators, layouts));
    }
    kernel.resident = blocks_with_cores(kernel.shape, scope.platform);
  }
  return kernels;
}

// Two kernels ---------------------------------------------------------------------------------------------------

namespace {

bool wants_all_at_once(const Scope& scope, const Kernel& kernel) {
  if (kernel.is_fused && kernel.operators.size() >= 2) {
    return true;
  }
  for (const std::size_t index : kernel.operators) {
    const SyncUse& sync = scope.operators[index].sync;
    if (sync.all != SyncAll::none || sync.mode0[0] || sync.mode0[1]) {
      return true;
    }
  }
  return false;
}

bool starts_as_a_whole(const Scope& scope, const Kernel& kernel) {
  for (const std::size_t index : kernel.operators) {
    if (!scope.operators[index].batch_mode) {
      return false;
    }
  }
  return true;
}

/// Runs everything that can run while neither of the two does: both are then free to start, or one waits for the other.
bool can_be_together(const Scope& scope, const std::vector<Kernel>& kernels, std::size_t one,
                     std::size_t other) {
  std::set<std::string> sent_later; // by what has not run
  std::set<std::int64_t> streams;   // of what has not run
  bool free[2] = {false, false};
  for (std::size_t at = 0; at < kernels.size(); ++at) {
    bool is_free = true;
    for (const std::size_t index : kernels[at].operators) {
      const Operator& op = scope.operators[index];
      is_free = is_free && streams.count(op.stream) == 0 &&
                std::none_of(op.receives.begin(), op.receives.end(),
                             [&](const std::string& event) { return sent_later.count(event) != 0; });
    }
    if (at == one || at == other) {
      free[at == one ? 0 : 1] = is_free;
    }
    if (!is_free || at == one || at == other) {
      for (const std::size_t index : kernels[at].operators) {
        streams.insert(scope.operators[index].stream);
        sent_later.insert(scope.operators[index].sends.begin(), scope.operators[index].sends.end());
      }
    }
  }
  return free[0] && free[1];
}

/// Every number of blocks that each may have got.
bool gets_stuck(const Shape& one, const Shape& other, const Platform& platform) {
  const auto used = [&](std::uint32_t a, std::uint32_t b) {
    return Layout{a * one.cubes + b * other.cubes, a * one.vectors + b * other.vectors};
  };
  const auto fits = [&](std::uint32_t a, std::uint32_t b) {
    const Layout layout = used(a, b);
    return layout.cubes <= platform.aic && layout.vectors <= platform.aiv;
  };
  if (!fits(one.blocks, 0) || !fits(0, other.blocks)) {
    return false;
  }
  for (std::uint32_t a = 0; a < one.blocks; ++a) {
    for (std::uint32_t b = 0; b < other.blocks && fits(a, b); ++b) {
      if (!fits(a + 1, b) && !fits(a, b + 1)) {
        return true;
      }
    }
  }
  return false;
}

} // namespace

std::vector<Clash> simulated_clashes(const Scope& scope, const std::vector<Kernel>& kernels) {
  std::vector<Clash> clashes;
  for (std::size_t one = 0; one < kernels.size(); ++one) {
    for (std::size_t other = one + 1; other < kernels.size(); ++other) {
      const bool may_hold =
          wants_all_at_once(scope, kernels[one]) && wants_all_at_once(scope, kernels[other]) &&
          !starts_as_a_whole(scope, kernels[one]) && !starts_as_a_whole(scope, kernels[other]);
      if (may_hold && can_be_together(scope, kernels, one, other) &&
          gets_stuck(kernels[one].shape, kernels[other].shape, scope.platform)) {
        clashes.push_back({one, other});
      }
    }
  }
  return clashes;
}

} // namespace dcuop::superkernel
