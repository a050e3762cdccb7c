// Launch counts, ratios and scope splits: the worked cases of the documentation and of the generator's sources.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "superkernel/scopes.hpp"

#include "dcuop/superkernel/judge.hpp"
#include "dcuop/superkernel/plan.hpp"

namespace dcuop::superkernel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string launched(const Scope& scope) {
  std::string text;
  for (const Segment& segment : judge(scope).segments) {
    text += (text.empty() ? "" : ", ") + launch_text(segment.launch);
  }
  return text;
}

std::string launched(const std::vector<Operator>& operators) {
  return launched(a_scope(operators));
}

TEST(Launch, HasTheCoresOfTheOperatorThatNeedsMost) {
  // The documentation's example: four blocks and two.
  EXPECT_EQ(launched({aiv("a", 4), aiv("b", 2)}), "MIX_AIV_1_0 x 4 (4 AIV)");
  EXPECT_EQ(launched({aic("a", 4), aic("b", 20)}), "MIX_AIC_1_0 x 20 (20 AIC)");
  EXPECT_EQ(launched({an_operator("a", KernelType::aiv_only, 7)}), "MIX_AIV_1_0 x 7 (7 AIV)");
}

TEST(Launch, OfBothSidesIsOneToOneOrOneToTwo) {
  EXPECT_EQ(launched({aic("a", 24), aiv("b", 24)}), "MIX_AIC_1_1 x 24 (24 AIC + 24 AIV)");
  EXPECT_EQ(launched({aic("a", 24), aiv("b", 48)}), "MIX_AIC_1_2 x 24 (24 AIC + 48 AIV)");
  EXPECT_EQ(launched({mix_1_1("a", 24), aiv("b", 48)}), "MIX_AIC_1_2 x 24 (24 AIC + 48 AIV)");
  EXPECT_EQ(launched({mix_1_2("a", 20), aic("b", 24)}), "MIX_AIC_1_2 x 24 (24 AIC + 48 AIV)");
  EXPECT_EQ(launched({mix_1_1("a", 12), mix_1_2("b", 24)}), "MIX_AIC_1_2 x 24 (24 AIC + 48 AIV)");
  EXPECT_EQ(launched({mix_1_1("a", 3), mix_1_1("b", 9)}), "MIX_AIC_1_1 x 9 (9 AIC + 9 AIV)");
  EXPECT_EQ(launched({aic("a", 2), aiv("b", 1)}), "MIX_AIC_1_1 x 2 (2 AIC + 2 AIV)");
}

TEST(Launch, RoundsAnOddNumberOfVectorCoresUp) {
  EXPECT_EQ(launched({aic("a", 20), aiv("b", 45)}), "MIX_AIC_1_2 x 23 (23 AIC + 46 AIV)");
}

TEST(Launch, GeTakesOneToOneWhereCubeCoresSuffice) {
  const std::vector<Operator> operators = {mix_1_2("a", 12), aic("b", 24)};
  EXPECT_EQ(launched(operators), "MIX_AIC_1_1 x 24 (24 AIC + 24 AIV)");
  EXPECT_EQ(launched(on_npugraph_ex(a_scope(operators))), "MIX_AIC_1_2 x 24 (24 AIC + 48 AIV)");
}

TEST(Launch, TilingSinkCountsAsTheWholeDeviceOnGe) {
  Operator sink = aiv("sink", 2);
  sink.task = Task::tiling_sink;
  EXPECT_EQ(launched({aiv("a", 4), sink}), "MIX_AIV_1_0 x 48 (48 AIV)");
  Operator mix = mix_1_2("sink", 2);
  mix.task = Task::tiling_sink;
  EXPECT_EQ(launched({aiv("a", 4), mix}), "MIX_AIC_1_2 x 24 (24 AIC + 48 AIV)");
  // npugraph_ex fuses what has a static kernel.
  EXPECT_EQ(launched(on_npugraph_ex(a_scope({aiv("a", 4), sink}))),
            "MIX_AIV_1_0 x 4 (4 AIV), MIX_AIV_1_0 x 2 (2 AIV)");
}

TEST(Launch, IsForcedByDebugNumbers) {
  EXPECT_EQ(launched(a_scope({aiv("a", 4)}, "debug-aiv-num=12")), "MIX_AIV_1_0 x 12 (12 AIV)");
  EXPECT_EQ(launched(a_scope({aic("a", 4)}, "debug-aic-num=12:debug-aiv-num=0")),
            "MIX_AIC_1_0 x 12 (12 AIC)");
  EXPECT_EQ(launched(a_scope({aiv("a", 4)}, "debug-aic-num=12:debug-aiv-num=12")),
            "MIX_AIC_1_1 x 12 (12 AIC + 12 AIV)");
  EXPECT_EQ(launched(a_scope({aiv("a", 4)}, "debug-aic-num=24:debug-aiv-num=48")),
            "MIX_AIC_1_2 x 24 (24 AIC + 48 AIV)");
  const Judgement judgement =
      judge(a_scope({mix_1_2("a", 12), aic("b", 24)}, "debug-aic-num=24:debug-aiv-num=48"));
  EXPECT_TRUE(judgement.segments.front().launch.is_forced);
  EXPECT_THAT(verdicts(judgement), ElementsAre("", ""));
}

std::vector<BuildError::Kind> errors_of(const Scope& scope) {
  std::vector<BuildError::Kind> kinds;
  for (const BuildError& error : judge(scope).build_errors) {
    kinds.push_back(error.kind);
  }
  return kinds;
}

TEST(Launch, DebugNumbersThatAreRefusedChangeNothing) {
  using Kind = BuildError::Kind;
  EXPECT_THAT(errors_of(a_scope({aiv("a", 4)}, "debug-aic-num=5:debug-aiv-num=12")),
              ElementsAre(Kind::debug_num_ratio));
  EXPECT_THAT(errors_of(a_scope({aiv("a", 4)}, "debug-aiv-num=49")), ElementsAre(Kind::debug_num_platform));
  EXPECT_THAT(errors_of(a_scope({aiv("a", 4)}, "debug-aiv-num=3")), ElementsAre(Kind::debug_num_less));
  // One of the two alone: the other is 0, and that is less than a vector operator needs.
  EXPECT_THAT(errors_of(a_scope({aiv("a", 4)}, "debug-aic-num=12")), ElementsAre(Kind::debug_num_less));
  EXPECT_THAT(errors_of(a_scope({mix_1_1("a", 4)}, "debug-aic-num=4:debug-aiv-num=4")), IsEmpty());
  EXPECT_EQ(launched(a_scope({aiv("a", 4)}, "debug-aiv-num=49")), "MIX_AIV_1_0 x 4 (4 AIV)");
}

TEST(Launch, FullCoresForEachOperatorOnNpugraphEx) {
  Scope scope = on_npugraph_ex(a_scope({aiv("a", 4), mix_1_1("b", 2)}));
  scope.npu_options.push_back({"debug_per_op_max_core_num", {"1"}, false, true});
  EXPECT_EQ(launched(scope), "MIX_AIC_1_2 x 24 (24 AIC + 48 AIV), MIX_AIC_1_2 x 24 (24 AIC + 48 AIV)");
  EXPECT_EQ(judge(scope).segments.front().ended_by, Segment::Why::each_alone);
}

// Which cores enter an operator ------------------------------------------------------------------------------------

std::vector<std::pair<std::uint32_t, std::uint32_t>> entering(const std::vector<Operator>& operators) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> cores;
  for (const Verdict& verdict : judge(a_scope(operators)).operators) {
    cores.emplace_back(verdict.aic, verdict.aiv);
  }
  return cores;
}

TEST(Entering, BlocksBelowTheCountWithEveryVectorCoreOfThem) {
  using Cores = std::pair<std::uint32_t, std::uint32_t>;
  EXPECT_THAT(entering({mix_1_1("a", 20), mix_1_2("b", 24), aic("c", 7), aiv("d", 45)}),
              ElementsAre(Cores(20, 40), Cores(24, 48), Cores(7, 0), Cores(0, 45)))
      << "1:2 x 24: a 1:1 operator gets both vector cores of a block";
  EXPECT_THAT(entering({mix_1_2("a", 12), aic("b", 24)}), ElementsAre(Cores(12, 12), Cores(24, 0)))
      << "1:1 x 24: a 1:2 operator gets one";
}

TEST(Entering, ATilingSinkOperatorWhateverItsTilingGives) {
  using Cores = std::pair<std::uint32_t, std::uint32_t>;
  Operator vector = aiv("vector", 2);
  Operator mix = mix_1_1("mix", 2);
  vector.task = mix.task = Task::tiling_sink;
  EXPECT_THAT(entering({vector, aiv("b", 4)}), ElementsAre(Cores(0, 48), Cores(0, 4)));
  EXPECT_THAT(entering({vector, mix, aic("b", 4)}), ElementsAre(Cores(0, 24), Cores(24, 48), Cores(4, 0)))
      << "1:2 x 24";
}

// Splits -----------------------------------------------------------------------------------------------------------

std::vector<std::vector<std::size_t>> kernels(const Scope& scope) {
  std::vector<std::vector<std::size_t>> all;
  for (const Segment& segment : judge(scope).segments) {
    all.push_back(segment.operators);
  }
  return all;
}

TEST(Split, AtAnOperatorThatCannotBeFused) {
  Operator cpu = aiv("cpu", 1);
  cpu.task = Task::unfusible;
  const Judgement judgement = judge(a_scope({aiv("a", 4), aiv("b", 8), cpu, aiv("c", 2), aiv("d", 3)}));
  ASSERT_EQ(judgement.segments.size(), 3U);
  EXPECT_THAT(judgement.segments[0].operators, ElementsAre(0, 1));
  EXPECT_EQ(judgement.segments[0].ended_by, Segment::Why::unfusible);
  EXPECT_FALSE(judgement.segments[1].is_fused);
  EXPECT_THAT(judgement.segments[2].operators, ElementsAre(3, 4));
  EXPECT_EQ(judgement.segments[2].launch.aiv, 3U) << "not 8: that is another kernel";
}

Operator on_stream(Operator op, std::int64_t stream) {
  op.stream = stream;
  return op;
}

/// Stream by stream: one that is at an operator that cannot be fused does not hold the others up.
TEST(Split, NpugraphExGoesOnWithTheOtherStreams) {
  Operator cpu = on_stream(aiv("cpu", 1), 1);
  cpu.task = Task::unfusible;
  const std::vector<Operator> operators = {aiv("a", 4), cpu, aiv("b", 30), on_stream(aiv("c", 2), 1)};
  const Judgement judgement = judge(on_npugraph_ex(a_scope(operators)));
  EXPECT_THAT(kernels(on_npugraph_ex(a_scope(operators))), ElementsAre(ElementsAre(1), ElementsAre(0, 2, 3)))
      << "cpu is the first of its stream: it runs before";
  EXPECT_EQ(judgement.segments[1].launch.aiv, 30U);
  EXPECT_THAT(kernels(a_scope(operators)), ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2, 3)));

  std::vector<Operator> behind = operators;
  behind.insert(behind.begin(), on_stream(aiv("first", 8), 1));
  EXPECT_THAT(kernels(on_npugraph_ex(a_scope(behind))),
              ElementsAre(ElementsAre(0, 1, 3), ElementsAre(2), ElementsAre(4)));
  behind[2].sends.insert("e");
  behind[3].receives.insert("e");
  EXPECT_THAT(kernels(on_npugraph_ex(a_scope(behind))),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2), ElementsAre(3, 4)))
      << "b waits for cpu";
}

Operator batch(Operator op) {
  op.batch_mode = true;
  return op;
}

TEST(Split, NpugraphExBeforeABatchOperatorWithFewerCores) {
  const Scope scope = on_npugraph_ex(a_scope({aiv("a", 48), batch(aiv("b", 20)), aiv("c", 20)}));
  EXPECT_THAT(kernels(scope), ElementsAre(ElementsAre(0), ElementsAre(1, 2)));
  EXPECT_EQ(judge(scope).segments[0].ended_by, Segment::Why::core_drop);
  Scope on_ge = scope;
  on_ge.backend = Backend::ge;
  EXPECT_THAT(kernels(on_ge), ElementsAre(ElementsAre(0, 1, 2)));
}

TEST(Split, NpugraphExBeforeAnOperatorThatNeedsMoreThanABatchOperatorHas) {
  const Scope scope = on_npugraph_ex(a_scope({batch(aiv("a", 20)), aiv("b", 20), aiv("c", 21)}));
  EXPECT_THAT(kernels(scope), ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
  EXPECT_EQ(judge(scope).segments[0].ended_by, Segment::Why::core_rise);
}

TEST(Split, ABatchOperatorCountsWithTheSideThatItHasNot) {
  // 20 cube cores count as 40 vector cores, and 40 vector cores as 20 cube cores.
  EXPECT_THAT(kernels(on_npugraph_ex(a_scope({batch(aic("a", 20)), aiv("b", 40)}))),
              ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(kernels(on_npugraph_ex(a_scope({batch(aic("a", 20)), aiv("b", 41)}))),
              ElementsAre(ElementsAre(0), ElementsAre(1)));
  EXPECT_THAT(kernels(on_npugraph_ex(a_scope({batch(aiv("a", 39)), aic("b", 20)}))),
              ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(kernels(on_npugraph_ex(a_scope({batch(aiv("a", 39)), aic("b", 21)}))),
              ElementsAre(ElementsAre(0), ElementsAre(1)));
}

/// What is behind a split is looked at as if nothing had been before it.
TEST(Split, EachPartStartsAnew) {
  EXPECT_THAT(kernels(on_npugraph_ex(a_scope({batch(aiv("a", 20)), aiv("b", 30), batch(aiv("c", 25)),
                                              aiv("d", 25), aiv("e", 5), aiv("f", 26)}))),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2, 3, 4), ElementsAre(5)));
  EXPECT_THAT(kernels(on_npugraph_ex(a_scope({aiv("a", 20), aiv("b", 40), aiv("c", 10)}))),
              ElementsAre(ElementsAre(0, 1, 2)))
      << "nothing is in batch mode";
}

/// A side that the operator at hand lacks is not compared; a drop goes before a rise.
TEST(Split, ComparesTheSidesThatAnOperatorHas) {
  EXPECT_THAT(kernels(on_npugraph_ex(a_scope({batch(mix_1_2("a", 20)), aiv("b", 40), aic("c", 20)}))),
              ElementsAre(ElementsAre(0, 1, 2)));
  EXPECT_THAT(kernels(on_npugraph_ex(a_scope({batch(mix_1_1("a", 20)), aiv("b", 21)}))),
              ElementsAre(ElementsAre(0), ElementsAre(1)));
  const Scope both = on_npugraph_ex(a_scope({batch(mix_1_1("a", 20)), batch(aic("b", 12))}));
  EXPECT_THAT(kernels(both), ElementsAre(ElementsAre(0), ElementsAre(1)));
  EXPECT_EQ(judge(both).segments[0].ended_by, Segment::Why::core_drop)
      << "12 cube cores are fewer than 20, 24 vector cores more";
}

// Streams -----------------------------------------------------------------------------------------------------------

TEST(Streams, OfGeNeedAnEventOrTheOption) {
  using Kind = BuildError::Kind;
  Operator a = aic("a", 4);
  Operator b = aiv("b", 4);
  b.stream = 1;
  EXPECT_THAT(errors_of(a_scope({a, b})), ElementsAre(Kind::streams));
  EXPECT_THAT(errors_of(a_scope({a, b}, "stream-fusion=1")), IsEmpty());
  EXPECT_TRUE(judge(a_scope({a, b}, "stream-fusion=1")).segments[0].two_queues);
  EXPECT_FALSE(judge(a_scope({a, b}, "stream-fusion=1")).segments[0].early_start);
  a.sends.insert("e");
  b.receives.insert("e");
  EXPECT_THAT(errors_of(a_scope({a, b})), IsEmpty());
  EXPECT_FALSE(judge(a_scope({a, b}, "stream-fusion=1")).segments[0].two_queues)
      << "nothing runs in parallel";
  EXPECT_THAT(errors_of(on_npugraph_ex(a_scope({a, b}))), IsEmpty());
}

TEST(Streams, EventsAtTheEndsOfAScopeAreRefused) {
  using Kind = BuildError::Kind;
  Operator first = aiv("first", 4);
  first.receives.insert("before");
  Operator last = aiv("last", 4);
  last.sends.insert("behind");
  EXPECT_THAT(errors_of(a_scope({first, last})), ElementsAre(Kind::first_receives, Kind::last_sends));
  Operator sender = aiv("sender", 4);
  sender.sends.insert("e");
  Operator receiver = aiv("receiver", 4);
  receiver.receives.insert("e");
  EXPECT_THAT(errors_of(a_scope({sender, receiver})), ElementsAre(Kind::event_in_stream));
  Operator both = aiv("both", 4);
  both.sends.insert("x");
  both.receives.insert("x");
  EXPECT_THAT(errors_of(a_scope({aiv("a", 4), both, aiv("b", 4)})), ElementsAre(Kind::event_in_operator));
}

TEST(Streams, EarlyStartIsRefusedWhereTheGeneratorDoes) {
  using Kind = BuildError::Kind;
  Operator sink = aiv("sink", 4);
  sink.task = Task::tiling_sink;
  sink.set_next = Call::every_core;
  EXPECT_THAT(errors_of(a_scope({sink, aiv("b", 4)})), ElementsAre(Kind::dynamic_early));
  Operator calls = aiv("calls", 4);
  calls.wait_previous = Call::every_core;
  EXPECT_THAT(errors_of(a_scope({aiv("a", 4), calls}, "early-start=0")), ElementsAre(Kind::early_start_off));
  EXPECT_THAT(errors_of(a_scope({aiv("a", 4), calls})), IsEmpty());
}

} // namespace
} // namespace dcuop::superkernel
