// The predicates and the simulation, which share no code, on random scopes.

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "superkernel/random_scope.hpp"

#include "dcuop/superkernel/judge.hpp"
#include "dcuop/superkernel/plan.hpp"
#include "dcuop/superkernel/simulate.hpp"

namespace dcuop::superkernel {
namespace {

/// DCUOP_RANDOM_SCOPES asks for more (make full).
std::uint64_t scopes_to_try() {
  if (const char* wanted = std::getenv("DCUOP_RANDOM_SCOPES")) {
    return std::strtoull(wanted, nullptr, 10);
  }
#ifdef __SANITIZE_ADDRESS__
  return 4'000;
#else
  return 120'000;
#endif
}

/// DCUOP_RANDOM_SEED: other scopes than each time.
std::uint32_t seed() {
  const char* wanted = std::getenv("DCUOP_RANDOM_SEED");
  return wanted != nullptr ? static_cast<std::uint32_t>(std::strtoul(wanted, nullptr, 10)) : 20261130;
}

TEST(Agreement, OnRandomScopes) {
  Dice dice(seed());
  std::set<Fault> seen;
  std::uint64_t faulty = 0;
  std::uint64_t clashing = 0;
  const std::uint64_t count = scopes_to_try();
  for (std::uint64_t i = 0; i < count; ++i) {
    const Scope scope = random_scope(dice);
    const Judgement judgement = judge(scope);
    const Simulation simulation = simulate(scope, Detail::verdicts);
    ASSERT_EQ(disagreement(scope, judgement, simulation), "") << "scope " << i << ": " << described(scope);
    for (const Verdict& verdict : judgement.operators) {
      for (const FaultAt& at : verdict.faults) {
        seen.insert(at.fault);
      }
    }
    faulty += faulty_operators(judgement) > 0 ? 1 : 0;
    clashing += judgement.clashes.empty() ? 0 : 1;
  }
  // That they agree means something only where both happen.
  EXPECT_EQ(seen.size(), 12U);
  EXPECT_GT(faulty, count / 5);
  EXPECT_GT(count - faulty, count / 20);
  EXPECT_GT(clashing, count / 200);
}

/// Else that they agree would say little.
TEST(Agreement, IsOfTwoThatShareNoCode) {
  const auto text_of = [](const std::string& name) {
    std::ifstream file(std::string(DCUOP_SOURCE_DIR) + "/src/superkernel/" + name);
    EXPECT_TRUE(file) << name;
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  for (const char* name :
       {"machine.hpp", "machine.cpp", "program.hpp", "program.cpp", "simulate.cpp", "simulate_shape.hpp",
        "simulate_shape.cpp", "simulate_verdicts.hpp", "simulate_verdicts.cpp"}) {
    for (const char* of_the_predicates :
         {"launch.hpp", "clashes.hpp", "plan.hpp", "judge(", "ratio(", "resident_blocks("}) {
      EXPECT_THAT(text_of(name), ::testing::Not(::testing::HasSubstr(of_the_predicates))) << name;
    }
  }
  for (const char* name : {"judge.cpp", "launch.cpp", "clashes.cpp"}) {
    for (const char* of_the_simulation : {"machine.hpp", "program.hpp", "simulate"}) {
      EXPECT_THAT(text_of(name),
                  ::testing::Not(::testing::HasSubstr("include \"" + std::string(of_the_simulation))));
    }
  }
}

bool has_flags(const Scope& scope) {
  return std::any_of(scope.operators.begin(), scope.operators.end(),
                     [](const Operator& op) { return !op.sync.flags.empty(); });
}

/// A kernel ends when none of its operators waits for ever; the verdicts are found with one operator at a time, this run
/// has them all under way. (A flag of a later operator can answer a wait where nothing keeps the two in order.)
TEST(Agreement, WithAllOperatorsUnderWay) {
  Dice dice(7);
  std::uint64_t finished = 0;
  std::uint64_t stopped = 0;
  for (std::uint64_t i = 0; i < scopes_to_try() / 20; ++i) {
    const Scope scope = random_scope(dice);
    if (has_flags(scope)) {
      continue;
    }
    const Judgement judgement = judge(scope);
    const Simulation simulation = simulate(scope, Detail::timeline);
    for (std::size_t kernel = 0; kernel < simulation.runs.size(); ++kernel) {
      const superkernel::Run& run = simulation.runs[kernel];
      const bool must_stop = std::any_of(run.operators.begin(), run.operators.end(), [&](std::size_t op) {
        const std::vector<FaultAt>& faults = judgement.operators[op].faults;
        return std::any_of(faults.begin(), faults.end(),
                           [](const FaultAt& at) { return waits_for_ever(at.fault); });
      });
      if (run.is_started) {
        ASSERT_EQ(run.is_finished, !must_stop) << "kernel " << kernel << " of " << described(scope);
        ++(run.is_finished ? finished : stopped);
      }
    }
  }
  EXPECT_GT(finished, scopes_to_try() / 100);
  EXPECT_GT(stopped, scopes_to_try() / 100);
}

std::size_t all_faults(const Judgement& judgement) {
  std::size_t count = judgement.build_errors.size();
  for (const Verdict& verdict : judgement.operators) {
    count += verdict.faults.size() + (verdict.is_reached ? 0 : 1);
  }
  return count;
}

TEST(RecommendedOptions, AreTakenAndMendWhatTheyArePromisedTo) {
  Dice dice(11);
  std::uint64_t mended = 0;
  for (std::uint64_t i = 0; i < scopes_to_try() / 60; ++i) {
    const Scope scope = random_scope(dice);
    const Plan plan = make_plan(scope);
    if (scope.backend != Backend::ge) {
      continue;
    }
    Scope with_them = scope;
    with_them.ge_options = written(plan.options, Backend::ge);
    const Judgement after = judge(with_them);
    ASSERT_TRUE(after.options.problems.empty()) << with_them.ge_options;
    ASSERT_LE(all_faults(after), all_faults(plan.judgement)) << with_them.ge_options << "\n"
                                                             << described(scope);
    mended += all_faults(after) < all_faults(plan.judgement) ? 1 : 0;
    // Again there is nothing to add.
    ASSERT_EQ(written(make_plan(with_them).options, Backend::ge), with_them.ge_options) << described(scope);
  }
  EXPECT_GT(mended, scopes_to_try() / 1000);
}

double simulated_length(const Scope& scope) {
  return simulate(scope, Detail::timeline).runs.back().end;
}

/// What is simulated to be saved is never more than the bound.
TEST(Overlap, IsABoundOnRandomScopes) {
  Dice dice(13);
  std::uint64_t saving = 0;
  for (std::uint64_t i = 0; i < scopes_to_try() / 40; ++i) {
    Scope scope = random_scope(dice);
    scope.platform.product = Product::a3;
    scope.platform.aic = 24;
    scope.platform.aiv = 48;
    scope.platform.barrier_us = dice.up_to(2);
    scope.ge_options.clear();
    scope.npu_options = {{"early_start", {"1"}, false, false}};
    for (Operator& op : scope.operators) {
      op.sync = {};
      op.task = Task::fixed;
      op.stream = 0;
      op.sends.clear();
      op.receives.clear();
      op.set_next = dice.one_in(2) ? Call::every_core : Call::none;
      op.wait_previous = dice.one_in(2) ? Call::every_core : Call::none;
      op.times = Times{1.0 * dice.up_to(9), 1.0 * dice.up_to(20), 1.0 * dice.up_to(9), 1.0 * dice.up_to(3)};
    }
    const Overlap overlap = overlap_of(scope, judge(scope));
    const double with_calls = simulated_length(scope);
    Scope without = scope;
    for (Operator& op : without.operators) {
      op.set_next = op.wait_previous = Call::none;
    }
    const double in_a_row = simulated_length(without);
    ASSERT_LE(in_a_row, overlap.total_us + 1e-9) << described(scope);
    ASSERT_LE(in_a_row - with_calls, *overlap.at_most_us + 1e-9) << described(scope);
    ASSERT_GE(in_a_row - with_calls, -1e-9) << "early start makes nothing slower: " << described(scope);
    saving += in_a_row - with_calls > 0 ? 1 : 0;
  }
  EXPECT_GT(saving, scopes_to_try() / 400);
}

} // namespace
} // namespace dcuop::superkernel
