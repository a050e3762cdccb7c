// Which operators wait for ever, by the predicates; agreement_test.cpp has the simulation say the same.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "superkernel/scopes.hpp"

#include "dcuop/superkernel/judge.hpp"
#include "dcuop/superkernel/simulate.hpp"

namespace dcuop::superkernel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Of the predicates, after the simulation has said the same.
std::vector<std::string> of(const Scope& scope) {
  const Judgement judgement = judge(scope);
  EXPECT_EQ(disagreement(scope, judgement, simulate(scope, Detail::verdicts)), "");
  return verdicts(judgement);
}

// H1: SyncAll ------------------------------------------------------------------------------------------------------

TEST(SyncAllShort, HangsUntilIdleCoresAreFed) {
  const std::vector<Operator> operators = {with_sync_all(aiv("a", 20)), aiv("b", 48)};
  EXPECT_THAT(of(a_scope(operators)), ElementsAre("sync-all-short AIV 20 of 48", ""));
  EXPECT_THAT(of(a_scope(operators, "feed-sync-all=1")), ElementsAre("", ""));
  EXPECT_THAT(of(a_scope({operators[0]})), ElementsAre("")) << "alone its launch is 20";
  EXPECT_THAT(of(on_npugraph_ex(a_scope(operators))), ElementsAre("sync-all-short AIV 20 of 48", ""));
}

TEST(SyncAllShort, EvenTheLargestOperatorOfAnOddNumberOfCores) {
  const std::vector<Operator> operators = {aic("a", 20), with_sync_all(aiv("b", 45))};
  EXPECT_THAT(of(a_scope(operators)), ElementsAre("", "sync-all-short AIV 45 of 46"));
  EXPECT_THAT(of(a_scope(operators, "feed-sync-all=1")), ElementsAre("", ""));
}

TEST(SyncAllShort, OfAMixOperatorCountsBothVectorCoresOfABlock) {
  EXPECT_THAT(of(a_scope({with_sync_all(mix_1_2("a", 20)), aic("b", 24)})),
              ElementsAre("sync-all-short AIV 40 of 48", ""));
  EXPECT_THAT(of(a_scope({with_sync_all(mix_1_1("a", 24)), aiv("b", 48)})), ElementsAre("", ""));
  EXPECT_THAT(of(a_scope({with_sync_all(mix_1_2("a", 20), SyncAll::mix), aic("b", 24)})),
              ElementsAre("sync-all-short AIC 20 of 24", ""));
}

TEST(SyncAllShort, OfACubeOperatorCountsCubeCores) {
  EXPECT_THAT(of(a_scope({with_sync_all(aic("a", 20)), mix_1_1("b", 24)})),
              ElementsAre("sync-all-short AIC 20 of 24", ""));
}

TEST(SyncAllShort, TheFormWithAConfigurationIsNotFed) {
  Operator unseen = with_sync_all(aiv("a", 20));
  unseen.sync.all_is_counted = false;
  EXPECT_THAT(of(a_scope({unseen, aiv("b", 48)}, "feed-sync-all=1")),
              ElementsAre("sync-all-short AIV 20 of 48", ""));
}

TEST(SyncAllShort, ABatchOperatorOfNpugraphExHasAKernelOfItsOwnSize) {
  Operator a = with_sync_all(aiv("a", 20));
  a.batch_mode = true;
  EXPECT_THAT(of(on_npugraph_ex(a_scope({aiv("b", 48), a}))), ElementsAre("", ""));
}

/// The generator writes the SuperKernel's blocks into its guard, and compares vector cores with them.
TEST(SyncAllShort, ATilingSinkOperatorIsEnteredByAsManyAsTheLaunchHasBlocks) {
  Operator sink = with_sync_all(aiv("a", 20));
  sink.task = Task::tiling_sink;
  EXPECT_THAT(of(a_scope({sink, aiv("b", 4)})), ElementsAre("", "")) << "48 vector cores are 48 blocks";
  EXPECT_THAT(of(a_scope({sink, aic("b", 4)}, "feed-sync-all=1")),
              ElementsAre("sync-all-short AIV 24 of 48", ""))
      << "1:2 x 24, and to the generator no core is idle";
  Operator mix = with_sync_all(mix_1_2("a", 7), SyncAll::mix);
  mix.task = Task::tiling_sink;
  EXPECT_THAT(of(a_scope({mix, aiv("b", 4)})), ElementsAre("", ""));
  Operator cube = with_sync_all(aic("a", 3));
  cube.task = Task::tiling_sink;
  EXPECT_THAT(of(a_scope({cube, aiv("b", 48)})), ElementsAre("", ""));
  // On npugraph_ex it is a kernel of its own.
  EXPECT_THAT(of(on_npugraph_ex(a_scope({sink, aic("b", 4)}))), ElementsAre("", ""));
}

TEST(SyncAllOneSided, HangsWhateverTheOptions) {
  EXPECT_THAT(of(a_scope({with_sync_all(aiv("a", 48), SyncAll::mix)}, "feed-sync-all=1")),
              ElementsAre("sync-all-one-sided AIV 48 of 0"));
  EXPECT_THAT(of(a_scope({with_sync_all(aic("a", 24), SyncAll::mix), aiv("b", 48)})),
              ElementsAre("sync-all-one-sided AIC 24 of 0", ""));
}

TEST(SyncAllSkipped, HangsWhateverTheOptions) {
  Operator op = with_sync_all(aiv("a", 20));
  op.sync.all_on_every_core = false;
  EXPECT_THAT(of(a_scope({op})), ElementsAre("sync-all-skipped AIV 19 of 20"));
  EXPECT_THAT(of(a_scope({op, aiv("b", 48)}, "feed-sync-all=1")),
              ElementsAre("sync-all-skipped AIV 47 of 48", ""));
  op.block_num = 1;
  EXPECT_THAT(of(a_scope({op, aiv("b", 48)}, "feed-sync-all=1")), ElementsAre("", "")) << "nobody waits";
}

// H2: mode 0 ---------------------------------------------------------------------------------------------------------

TEST(Mode0Short, IsNotFed) {
  Operator op = mix_1_2("a", 20);
  op.sync.mode0[0] = op.sync.mode0[1] = true;
  EXPECT_THAT(of(a_scope({op, aic("b", 24)}, "feed-sync-all=1")),
              ElementsAre("mode0-short AIC 20 of 24; mode0-short AIV 40 of 48", ""));
  op.block_num = 24;
  EXPECT_THAT(of(a_scope({op, aic("b", 24)})), ElementsAre("", ""));
}

// H3: 1:1 under 1:2 --------------------------------------------------------------------------------------------------

TEST(OneToOneUnderOneToTwo, HangsWhereOneVectorCoreIsSingledOut) {
  Operator guarded = mix_1_1("a", 24);
  guarded.sync.pair_guarded = true;
  EXPECT_THAT(of(a_scope({guarded, aiv("b", 48)})), ElementsAre("pair-guarded AIC 24 of 0", ""));
  EXPECT_THAT(of(a_scope({guarded, aiv("b", 24)})), ElementsAre("", "")) << "the launch is 1:1";
  Operator matmul = mix_1_1("a", 20);
  matmul.sync.matmul_unguarded = true;
  EXPECT_THAT(of(a_scope({matmul, aiv("b", 48)})), ElementsAre("matmul-unguarded AIV 20 of 0", ""));
  Operator written_for_two = mix_1_2("a", 24);
  written_for_two.sync.pair_guarded = true;
  EXPECT_THAT(of(a_scope({written_for_two})), ElementsAre("")) << "guards are normal there";
}

TEST(OneToTwoUnderOneToOne, LacksItsSecondVectorCores) {
  EXPECT_THAT(of(a_scope({mix_1_2("a", 12), aic("b", 24)})), ElementsAre("vector-missing AIV 12 of 24", ""));
  EXPECT_THAT(of(on_npugraph_ex(a_scope({mix_1_2("a", 12), aic("b", 24)}))), ElementsAre("", ""));
  EXPECT_THAT(of(a_scope({mix_1_2("a", 13), aic("b", 24)})), ElementsAre("", ""))
      << "26 vector cores are more than 24";
}

// H4: early start ----------------------------------------------------------------------------------------------------

TEST(EarlyStart, HangsTheNextWhenACoreDoesNotSet) {
  Operator sets = aiv("a", 20);
  sets.set_next = Call::some_cores;
  EXPECT_THAT(of(a_scope({sets, aiv("b", 48)})), ElementsAre("set-next-uneven AIV 0 of 0", ""));
  EXPECT_THAT(of(a_scope({aiv("b", 48), sets})), ElementsAre("", "")) << "nobody is behind it";
  EXPECT_THAT(of(a_scope({sets, aiv("b", 48)}, "early-start=2")), ElementsAre("", ""))
      << "the calls do nothing";
  Scope on_a2 = a_scope({sets, aiv("b", 48)});
  on_a2.platform.product = Product::a2;
  EXPECT_THAT(of(on_a2), ElementsAre("", ""));
  EXPECT_THAT(of(on_npugraph_ex(a_scope({sets, aiv("b", 48)}))), ElementsAre("", "")) << "off by default";
}

TEST(EarlyStart, LosesTheOrderWhenACoreDoesNotWait) {
  Operator waits = mix_1_2("b", 24);
  waits.wait_previous = Call::some_cores;
  EXPECT_THAT(of(a_scope({aiv("a", 20), waits})), ElementsAre("", "wait-previous-uneven AIC 0 of 0"));
  EXPECT_THAT(of(a_scope({waits, aiv("a", 20)})), ElementsAre("", "")) << "nothing is before it";
  EXPECT_FALSE(waits_for_ever(Fault::wait_previous_uneven));
}

// H7: flags ----------------------------------------------------------------------------------------------------------

TEST(Flags, ShortInOneOperator) {
  Operator op = mix_1_2("a", 10);
  op.sync.flags = {{3, Side::aic, 1, 2}};
  EXPECT_THAT(of(a_scope({op})), ElementsAre("flag-short AIV 20 of 0"));
  op.sync.flags = {{3, Side::aiv, 1, 2}};
  EXPECT_THAT(of(a_scope({op})), ElementsAre("flag-short AIC 10 of 0"));
}

TEST(Flags, WhatOneLeavesTheNextFinds) {
  Operator leaves = mix_1_2("a", 10);
  leaves.sync.flags = {{3, Side::aic, 2, 1}};
  Operator uses_it = mix_1_2("b", 24);
  uses_it.sync.flags = {{3, Side::aic, 1, 1}};
  EXPECT_THAT(of(a_scope({leaves, uses_it})), ElementsAre("", "flag-early AIV 20 of 0"));
  uses_it.sync.flags = {{4, Side::aic, 1, 1}};
  EXPECT_THAT(of(a_scope({leaves, uses_it})), ElementsAre("", ""));
  // A missing set is made up for on the cores that found one left, and on no others.
  uses_it.sync.flags = {{3, Side::aic, 0, 1}};
  EXPECT_THAT(of(a_scope({leaves, uses_it})),
              ElementsAre("", "flag-short AIV 28 of 0; flag-early AIV 20 of 0"));
}

TEST(Flags, LiveAsLongAsTheKernel) {
  Operator leaves = mix_1_2("a", 24);
  leaves.sync.flags = {{3, Side::aic, 2, 1}};
  Operator cpu = aiv("cpu", 1);
  cpu.task = Task::unfusible;
  Operator uses_it = mix_1_2("b", 24);
  uses_it.sync.flags = {{3, Side::aic, 1, 1}};
  EXPECT_THAT(of(a_scope({leaves, cpu, uses_it})), ElementsAre("", "", ""));
}

// More cores than the device has --------------------------------------------------------------------------------------

TEST(DeviceShort, HangsAtTheFirstPlaceWhereAllCoresMeet) {
  EXPECT_THAT(of(a_scope({aiv("a", 50), aiv("b", 20)})),
              ElementsAre("device-short AIV 48 of 50", "not reached"));
  EXPECT_THAT(of(a_scope({aiv("a", 50)})), ElementsAre("")) << "two blocks run when others have ended";
  EXPECT_THAT(of(a_scope({with_sync_all(aiv("a", 50))})), ElementsAre("device-short AIV 48 of 50"));
  Operator alone = with_sync_all(aiv("a", 50));
  alone.task = Task::unfusible;
  EXPECT_THAT(of(a_scope({alone})), ElementsAre("device-short AIV 48 of 50"));
}

// H6: kernels on two streams --------------------------------------------------------------------------------------------

std::vector<std::pair<std::size_t, std::size_t>> clashes(const Scope& scope) {
  const Judgement judgement = judge(scope);
  EXPECT_EQ(disagreement(scope, judgement, simulate(scope, Detail::verdicts)), "");
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (const Clash& clash : judgement.clashes) {
    pairs.emplace_back(clash.first, clash.second);
  }
  return pairs;
}

TEST(Clash, TwoKernelsThatHoldEachOthersCores) {
  Operator one = with_sync_all(aiv("one", 30));
  one.task = Task::unfusible;
  Operator other = with_sync_all(aiv("other", 30));
  other.task = Task::unfusible;
  other.stream = 1;
  EXPECT_THAT(clashes(a_scope({one, other})), ElementsAre(std::pair(0, 1)));
  other.batch_mode = true;
  EXPECT_THAT(clashes(a_scope({one, other})), IsEmpty()) << "its cores are given all at once";
  other.batch_mode = false;
  other.stream = 0;
  EXPECT_THAT(clashes(a_scope({one, other})), IsEmpty()) << "one after the other";
  other.stream = 1;
  one.sends.insert("e");
  other.receives.insert("e");
  EXPECT_THAT(clashes(a_scope({one, other})), IsEmpty()) << "an event keeps them in order";
  one.sends.clear();
  other.receives.clear();
  other.block_num = 19;
  EXPECT_THAT(clashes(a_scope({one, other})), IsEmpty()) << "30 + 19: the one that lacks a core last gets it";
  other.block_num = 20;
  EXPECT_THAT(clashes(a_scope({one, other})), SizeIs(1));
  other.sync.all = SyncAll::none;
  EXPECT_THAT(clashes(a_scope({one, other})), IsEmpty()) << "it ends without all its cores";
}

} // namespace
} // namespace dcuop::superkernel
