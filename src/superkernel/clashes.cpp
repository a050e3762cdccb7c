#include "clashes.hpp"

#include <algorithm>

#include "launch.hpp"

namespace dcuop::superkernel {

namespace {

bool synchronises(const Operator& op) {
  return op.sync.all != SyncAll::none || op.sync.mode0[0] || op.sync.mode0[1];
}

/// Whether all its cores must run at once.
bool needs_all_cores(const Scope& scope, const Segment& segment) {
  return (segment.is_fused && segment.operators.size() > 1) ||
         std::any_of(segment.operators.begin(), segment.operators.end(),
                     [&](std::size_t op) { return synchronises(scope.operators[op]); });
}

/// All or nothing. A SuperKernel is taken to be so when all that is in it is: no source says it.
bool is_batch(const Scope& scope, const Segment& segment) {
  return std::all_of(segment.operators.begin(), segment.operators.end(),
                     [&](std::size_t op) { return scope.operators[op].batch_mode; });
}

bool comes_before(const Scope& scope, const Segment& first, const Segment& second) {
  for (const std::size_t i : first.operators) {
    for (const std::size_t j : second.operators) {
      const Operator& sooner = scope.operators[i];
      const Operator& later = scope.operators[j];
      if (i < j && (sooner.stream == later.stream || are_linked(sooner, later))) {
        return true;
      }
    }
  }
  return false;
}

using Matrix = std::vector<std::vector<char>>;

Matrix order_of(const Scope& scope, const std::vector<Segment>& segments) {
  const std::size_t count = segments.size();
  Matrix before(count, std::vector<char>(count, 0));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) {
      before[i][j] = static_cast<char>(comes_before(scope, segments[i], segments[j]));
    }
  }
  for (std::size_t via = 0; via < count; ++via) {
    for (std::size_t i = 0; i < via; ++i) {
      for (std::size_t j = via + 1; j < count && before[i][via] != 0; ++j) {
        before[i][j] = static_cast<char>(before[i][j] | before[via][j]);
      }
    }
  }
  return before;
}

struct Size {
  std::uint32_t blocks = 0, aic = 0, aiv = 0; ///< cores are those of one block
};

Size size_of(const Launch& launch) {
  return {launch.blocks, launch.aic / launch.blocks, launch.aiv / launch.blocks};
}

std::uint32_t quotient(std::uint32_t cores, std::uint32_t each) {
  return each == 0 ? most_cores * 4 : cores / each;
}

/// With `held` blocks of `one` running: the other takes what is left, and then neither gets one block more.
bool lock_with(const Size& one, std::uint32_t held, const Size& other, const Platform& platform) {
  const std::uint32_t aic = platform.aic - held * one.aic;
  const std::uint32_t aiv = platform.aiv - held * one.aiv;
  const std::uint32_t taken = std::min(quotient(aic, other.aic), quotient(aiv, other.aiv));
  if (taken >= other.blocks) {
    return false; // it runs, ends and gives all back
  }
  return aic - taken * other.aic < one.aic || aiv - taken * other.aiv < one.aiv;
}

bool can_lock(const Launch& a, const Launch& b, const Platform& platform) {
  const Size one = size_of(a);
  const Size other = size_of(b);
  const std::uint32_t fits = std::min(quotient(platform.aic, one.aic), quotient(platform.aiv, one.aiv));
  if (fits < one.blocks ||
      std::min(quotient(platform.aic, other.aic), quotient(platform.aiv, other.aiv)) < other.blocks) {
    return false; // alone it does not fit either: another finding
  }
  for (std::uint32_t held = 0; held < one.blocks; ++held) {
    if (lock_with(one, held, other, platform)) {
      return true;
    }
  }
  return false;
}

} // namespace

std::vector<Clash> clashes_of(const Scope& scope, const std::vector<Segment>& segments) {
  std::vector<Clash> clashes;
  if (segments.size() < 2) {
    return clashes;
  }
  const Matrix before = order_of(scope, segments);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    for (std::size_t j = i + 1; j < segments.size(); ++j) {
      const auto may_hold = [&](const Segment& segment) {
        return needs_all_cores(scope, segment) && !is_batch(scope, segment);
      };
      if (before[i][j] == 0 && may_hold(segments[i]) && may_hold(segments[j]) &&
          can_lock(segments[i].launch, segments[j].launch, scope.platform)) {
        clashes.push_back({i, j});
      }
    }
  }
  return clashes;
}

} // namespace dcuop::superkernel
