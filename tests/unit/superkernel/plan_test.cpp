// Fixes, recommended options, savings, findings.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "superkernel/scopes.hpp"

#include "dcuop/superkernel/plan.hpp"

namespace dcuop::superkernel {
namespace {

using finding::LanguageOfText;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> fixes(const Plan& plan, std::size_t op) {
  std::vector<std::string> texts;
  for (const Fix& fix : plan.operators[op].fixes) {
    texts.push_back(fix.text.en);
  }
  return texts;
}

std::string options(const Scope& scope) {
  return written(make_plan(scope).options, scope.backend);
}

std::vector<std::string> rules(const Plan& plan) {
  std::vector<std::string> ids;
  for (const finding::Finding& finding : plan.findings) {
    ids.push_back(finding.rule);
  }
  return ids;
}

// Fixes --------------------------------------------------------------------------------------------------------------

TEST(Fixes, AreTheSmallestThatHelp) {
  const Plan fed = make_plan(a_scope({with_sync_all(aiv("a", 20)), aiv("b", 48)}));
  EXPECT_THAT(fixes(fed, 0), ElementsAre("feed-sync-all=1", "block_num = 48"));
  EXPECT_THAT(fixes(fed, 1), IsEmpty());

  Operator skipped = with_sync_all(aiv("a", 20));
  skipped.sync.all_on_every_core = false;
  EXPECT_THAT(fixes(make_plan(a_scope({skipped, aiv("b", 48)})), 0),
              ElementsAre("let every core come to SyncAll(), and feed-sync-all=1",
                          "let every core come to SyncAll(), and block_num = 48"));

  Operator mode0 = aiv("a", 20);
  mode0.sync.mode0[1] = true;
  EXPECT_THAT(fixes(make_plan(a_scope({mode0, aiv("b", 48)})), 0),
              ElementsAre("block_num = 48", "its own scope"));

  Operator unseen = with_sync_all(aiv("a", 20));
  unseen.sync.all_is_counted = false;
  EXPECT_THAT(fixes(make_plan(a_scope({unseen, aiv("b", 48)})), 0),
              ElementsAre("SyncAll() without a configuration, and feed-sync-all=1", "block_num = 48"));

  Operator guarded = mix_1_1("a", 24);
  guarded.sync.pair_guarded = true;
  EXPECT_THAT(fixes(make_plan(a_scope({guarded, aiv("b", 48)})), 0),
              ElementsAre("sync on both AIVs", "its own scope"));

  EXPECT_THAT(fixes(make_plan(a_scope({mix_1_2("a", 12), aic("b", 24)})), 0),
              ElementsAre("debug-aic-num=24:debug-aiv-num=48", "its own scope"));
}

TEST(Fixes, OfNpugraphExAreBatchMode) {
  const Plan plan = make_plan(on_npugraph_ex(a_scope({aiv("b", 48), with_sync_all(aiv("a", 20))})));
  EXPECT_THAT(fixes(plan, 1), ElementsAre("SetScheduleMode(1) in its tiling, which splits the scope there",
                                          "block_num = 48"));
}

TEST(Fixes, OfAFlagNameTheOperatorThatLeavesIt) {
  Operator leaves = mix_1_2("leaves", 24);
  leaves.sync.flags = {{3, Side::aic, 2, 1}};
  Operator finds = mix_1_2("finds", 24);
  finds.sync.flags = {{3, Side::aic, 1, 1}};
  EXPECT_THAT(fixes(make_plan(a_scope({leaves, finds})), 1),
              ElementsAre("as many waits as sets of flag 3 in leaves"));
}

TEST(Fixes, ThatWouldBreakSomethingElseAreNotOffered) {
  // In its own scope the operator would leave an event at the end of the SuperKernel before it.
  Operator sender = aiv("sender", 48);
  sender.sends.insert("e");
  Operator mode0 = aiv("a", 20);
  mode0.sync.mode0[1] = true;
  mode0.stream = 1;
  mode0.receives.insert("e");
  mode0.sends.insert("f");
  Operator last = aiv("last", 48);
  last.receives.insert("f");
  EXPECT_THAT(fixes(make_plan(a_scope({sender, mode0, last})), 1), ElementsAre("block_num = 48"));
}

// Options ------------------------------------------------------------------------------------------------------------

Operator with_gm(Operator op, std::set<std::string> reads, std::set<std::string> writes) {
  op.gm.frequent = true;
  op.gm.reads = std::move(reads);
  op.gm.writes = std::move(writes);
  return op;
}

TEST(RecommendedOptions, KeepWhatWasGivenAndAddWhatIsNeeded) {
  EXPECT_EQ(options(a_scope({aiv("a", 4)})), "");
  EXPECT_EQ(options(a_scope({with_sync_all(aiv("a", 20)), aiv("b", 48)},
                            "strict-scope-check=abort:feed-sync-all=0")),
            "strict-scope-check=abort:feed-sync-all=1");
  Operator other = aic("b", 4);
  other.stream = 1;
  EXPECT_EQ(options(a_scope({aiv("a", 4), other})), "stream-fusion=1");
  EXPECT_EQ(options(a_scope({aiv("a", 4)}, "dcci-after-kernel-start=a:feed-sync-all=7:split-mode=2")),
            "split-mode=2:dcci-after-kernel-end=a");
}

TEST(RecommendedOptions, KeepNoneThatTheBackEndDoesNotBuildTheScopeFor) {
  EXPECT_EQ(options(a_scope({aiv("a", 4)}, "split-mode=2:debug-aic-num=24")), "split-mode=2");
  EXPECT_EQ(options(a_scope({aiv("a", 4)}, "debug-aic-num=24:debug-aiv-num=48")),
            "debug-aic-num=24:debug-aiv-num=48");
  Operator calls = aiv("a", 4);
  calls.set_next = Call::every_core;
  EXPECT_EQ(options(a_scope({calls, aiv("b", 4)}, "early-start=0:split-mode=2")), "split-mode=2");
  calls.set_next = calls.wait_previous = Call::some_cores;
  EXPECT_EQ(options(a_scope({aiv("b", 4), calls, aiv("c", 4)}, "early-start=0")), "early-start=2")
      << "with the calls it would wait for ever";
}

TEST(RecommendedOptions, FlushByWhatIsReadAndWritten) {
  const Operator writes = with_gm(aiv("W", 4), {}, {"x"});
  const Operator both = with_gm(aiv("B", 4), {"x"}, {"y"});
  const Operator reads = with_gm(aiv("R", 4), {"y"}, {});
  const Operator constant = with_gm(aiv("C", 4), {"weights"}, {});
  EXPECT_EQ(options(a_scope({writes, both, reads})),
            "dcci-before-kernel-start=B,R:dcci-after-kernel-end=B,W");
  EXPECT_EQ(options(a_scope({writes, constant})), "dcci-after-kernel-end=W:dcci-disable-on-kernel=C");
  Operator second = constant;
  second.name = "C2";
  second.op_type = "C2";
  EXPECT_EQ(options(a_scope({constant, second, writes})), "dcci-after-kernel-end=W:dcci-disable-on-kernel=C")
      << "never two in a row";
  EXPECT_EQ(options(on_npugraph_ex(a_scope({writes}))),
            "\"super_kernel_optimize_options\": {\"dcci_after_kernel_end\": [\".*W.*\"]}");
  Operator sink = writes;
  sink.task = Task::tiling_sink;
  EXPECT_EQ(options(a_scope({sink})), "") << "the options do nothing for it";
}

TEST(RecommendedOptions, TurnNoFlushOffWhereItIsNotKnownWhoWrites) {
  EXPECT_EQ(options(a_scope({with_gm(aiv("R", 4), {}, {})})), "") << "nothing says what it reads";
  Operator reads = with_gm(aiv("R", 4), {"R.x", "weights"}, {});
  reads.gm.unplaced.insert("x");
  EXPECT_EQ(options(a_scope({reads})), "") << "x may be any buffer";
  reads.gm.unplaced.clear();
  EXPECT_EQ(options(a_scope({reads})), "dcci-disable-on-kernel=R");
  Operator writes = with_gm(aiv("W", 4), {}, {"W.y"});
  EXPECT_EQ(options(a_scope({writes, reads})), "dcci-after-kernel-end=W:dcci-disable-on-kernel=R");
  writes.gm.unplaced.insert("y");
  EXPECT_EQ(options(a_scope({writes, reads})), "dcci-after-kernel-end=W") << "y may be weights";
  EXPECT_EQ(options(a_scope({reads, writes})), "dcci-after-kernel-end=W:dcci-disable-on-kernel=R");
}

TEST(CacheFaults, WhatIsNotFlushedAndWhatIsOld) {
  Operator assigns = aiv("A", 4);
  assigns.gm.assigns = true;
  assigns.gm.writes.insert("x");
  Operator reads = aiv("R", 4);
  reads.gm.reads.insert("x");
  const Plan plan = make_plan(a_scope({assigns, reads}));
  ASSERT_EQ(plan.cache_faults.size(), 1U);
  EXPECT_TRUE(plan.cache_faults[0].is_unflushed);
  EXPECT_THAT(rules(plan), ElementsAre("DCU830"));
  EXPECT_THAT(plan.findings[0].cause, HasSubstr("A writes scalars to x and R reads them: gm(i) = x"));
  EXPECT_EQ(written(plan.options, Backend::ge), "dcci-after-kernel-end=A");
  EXPECT_THAT(make_plan(a_scope({assigns, reads}, "dcci-after-kernel-end=A")).findings, IsEmpty());

  Operator sets = aiv("S", 4);
  sets.gm.writes.insert("x");
  EXPECT_THAT(make_plan(a_scope({sets, reads})).findings, IsEmpty()) << "SetValue flushes its line";
  EXPECT_THAT(rules(make_plan(a_scope({sets, reads}, "dcci-before-kernel-start=S"))), ElementsAre("DCU830"));
  EXPECT_THAT(rules(make_plan(a_scope({sets, reads}, "dcci-after-kernel-end=R"))), ElementsAre("DCU831"));
  EXPECT_THAT(make_plan(a_scope({sets, reads}, "dcci-before-kernel-start=R")).findings, IsEmpty());
  EXPECT_THAT(make_plan(a_scope({reads, assigns})).findings, IsEmpty()) << "the reader comes first";
}

TEST(CacheFaults, TheFixNamesTheOperatorAsTheBackEndDoes) {
  Operator assigns = aiv("A", 4);
  assigns.gm.assigns = true;
  assigns.gm.writes.insert("x");
  Operator reads = aiv("R", 4);
  reads.gm.reads.insert("x");
  EXPECT_EQ(make_plan(a_scope({assigns, reads})).findings[0].fix, "dcci-after-kernel-end=A");
  EXPECT_EQ(make_plan(on_npugraph_ex(a_scope({assigns, reads}))).findings[0].fix,
            "dcci_after_kernel_end: .*A.*");
  assigns.kernel = "a_0";
  assigns.given.insert("kernel");
  EXPECT_EQ(make_plan(on_npugraph_ex(a_scope({assigns, reads}))).findings[0].fix,
            "dcci_after_kernel_end: a_0");
}

// Savings ------------------------------------------------------------------------------------------------------------

Operator timed(Operator op, double pre, double mid, double post, double skew = 0) {
  op.times = Times{pre, mid, post, skew};
  return op;
}

TEST(Overlap, IsABoundOfWhatTheCallsAllow) {
  Operator sets = timed(aiv("a", 48), 2, 20, 11);
  sets.set_next = Call::every_core;
  Operator waits = timed(aiv("b", 48), 5, 30, 1);
  const Overlap set_only = make_plan(a_scope({sets, waits})).overlap;
  EXPECT_EQ(set_only.at_most_us, 11.0);
  EXPECT_EQ(set_only.total_us, 69.0);
  waits.wait_previous = Call::every_core;
  EXPECT_EQ(make_plan(a_scope({sets, waits})).overlap.at_most_us, 5.0)
      << "on the same cores the smaller of both";
  waits.type = KernelType::mix_aic_1_0;
  waits.block_num = 24;
  EXPECT_EQ(make_plan(a_scope({sets, waits})).overlap.at_most_us, 16.0) << "on others both";
  sets.set_next = Call::none;
  EXPECT_EQ(make_plan(a_scope({sets, waits})).overlap.at_most_us, 5.0);
}

/// A core that is done with the first waits at the barrier for the slowest: pre of the second fits there.
TEST(Overlap, IsMoreWhereFastCoresWait) {
  Operator sets = timed(aiv("a", 48), 2, 20, 0, 2);
  sets.set_next = Call::every_core;
  Operator waits = timed(aiv("b", 48), 6, 30, 1);
  waits.wait_previous = Call::every_core;
  Scope scope = a_scope({sets, waits});
  EXPECT_EQ(make_plan(scope).overlap.at_most_us, 2.0);
  scope.platform.barrier_us = 1.5;
  EXPECT_EQ(make_plan(scope).overlap.at_most_us, 3.5);
}

TEST(Overlap, CannotBeMoreThanWhatFollows) {
  Operator sets = timed(aic("a", 24), 0, 20, 11);
  sets.set_next = Call::every_core;
  EXPECT_EQ(make_plan(a_scope({sets, timed(aiv("b", 48), 0, 3, 0)})).overlap.at_most_us, 3.0);
}

TEST(Overlap, SaysWhyThereIsNone) {
  Operator sets = timed(aiv("a", 48), 2, 20, 11);
  sets.set_next = Call::every_core;
  const Operator next = timed(aiv("b", 48), 1, 1, 1);
  const auto why = [](const Scope& scope) {
    const Overlap overlap = make_plan(scope).overlap;
    EXPECT_EQ(overlap.at_most_us.value_or(0), 0);
    return overlap.why_none.en;
  };
  EXPECT_THAT(why(a_scope({timed(aiv("a", 48), 2, 20, 11), next})), HasSubstr("no operator calls"));
  Scope on_a2 = a_scope({sets, next});
  on_a2.platform.product = Product::a2;
  EXPECT_THAT(why(on_a2), HasSubstr("A2"));
  EXPECT_THAT(why(a_scope({sets, next}, "early-start=2")), HasSubstr("early-start is not 1"));
  EXPECT_THAT(why(a_scope({sets, next}, "debug-sync-all=1")), HasSubstr("debug-sync-all"));
  EXPECT_THAT(why(on_npugraph_ex(a_scope({sets, next}))), HasSubstr("early_start is off"));
  EXPECT_THAT(why(a_scope({next, sets})), HasSubstr("no call stands between"));
  EXPECT_THAT(why(a_scope({sets, aiv("b", 48)})), HasSubstr("b has no times_us"));
  EXPECT_FALSE(make_plan(a_scope({sets, aiv("b", 48)})).overlap.at_most_us.has_value());
}

TEST(Launches, SaveAGapEach) {
  Scope scope = a_scope({aiv("a", 4), aiv("b", 4), aiv("c", 4)});
  EXPECT_FALSE(make_plan(scope).launches_save_us.has_value());
  scope.platform.launch_gap_us = 4;
  EXPECT_EQ(make_plan(scope).launches_save_us, 8.0);
  scope.operators[1].task = Task::unfusible;
  EXPECT_EQ(make_plan(scope).launches_save_us, 0.0);
}

// Findings -----------------------------------------------------------------------------------------------------------

TEST(Findings, ASyncAllThatHangsInBothLanguages) {
  Operator op = with_sync_all(aiv("hc_pre", 20));
  op.where.emplace("sync_all", "kernel.h:12");
  const Plan plan = make_plan(a_scope({op, aiv("b", 48)}));
  ASSERT_THAT(rules(plan), ElementsAre("DCU801"));
  const finding::Finding& finding = plan.findings[0];
  EXPECT_EQ(finding.cause,
            "hc_pre waits for ever at SyncAll(): 48 vector cores are launched, 20 enter the operator");
  EXPECT_EQ(finding.chinese.cause,
            "hc_pre 在 SyncAll() 处永远等待：启动了 48 个 Vector 核，只有 20 个进入该算子");
  EXPECT_EQ(finding.fix, "feed-sync-all=1, or block_num = 48");
  EXPECT_EQ(finding.evidence.back().text, "kernel.h:12");
  EXPECT_EQ(fault_text(a_scope({op, aiv("b", 48)}), plan.judgement, 0).en,
            "HANGS: SyncAll() waits for 48 vector cores, 20 enter (kernel.h:12)");
}

TEST(Findings, OfOptions) {
  const Plan plan =
      make_plan(a_scope({aiv("Add", 4)}, "dcci-after-kernel-start=Add:feed-sync-all=2:noise:"
                                         "dcci-before-kernel-start=Ad:strict-scope-check=maybe"));
  EXPECT_THAT(rules(plan), ElementsAre("DCU820", "DCU821", "DCU822", "DCU822", "DCU822"));
  EXPECT_EQ(plan.findings[0].cause,
            "ge knows no option dcci-after-kernel-start; it is dcci-after-kernel-end");
  EXPECT_EQ(plan.findings[0].fix, "dcci-after-kernel-end=Add");
  EXPECT_EQ(plan.findings[1].cause, "option feed-sync-all is '2' and must be 0 or 1");
  EXPECT_THAT(plan.findings[2].cause, HasSubstr("'noise' has no effect: it has no '='"));
  EXPECT_THAT(plan.findings[4].cause, HasSubstr("no operator of the scope is called so; did you mean Add?"));
}

TEST(Findings, OfListsThatWorkAgainstEachOther) {
  const Plan plan =
      make_plan(a_scope({aiv("A", 4), aiv("B", 4)}, "dcci-disable-on-kernel=A,B:dcci-before-kernel-start=A"));
  EXPECT_THAT(rules(plan), ElementsAre("DCU823", "DCU823"));
  Operator sink = aiv("S", 4);
  sink.task = Task::tiling_sink;
  sink.gm.reads.insert("x");
  EXPECT_THAT(rules(make_plan(a_scope({sink}, "dcci-before-kernel-start=S"))),
              ElementsAre("DCU822", "DCU832", "DCU834"));
  sink.relocatable_binary = true;
  EXPECT_THAT(rules(make_plan(a_scope({sink}))), ElementsAre("DCU834"));
}

TEST(Findings, ATilingSinkVectorOperatorBesideCubeCores) {
  Operator sink = aiv("S", 4);
  sink.task = Task::tiling_sink;
  sink.relocatable_binary = true;
  EXPECT_THAT(make_plan(a_scope({sink, aiv("b", 4)})).findings, IsEmpty()) << "all 48 enter";
  const Plan plan = make_plan(a_scope({sink, aic("b", 4)}));
  ASSERT_THAT(rules(plan), ElementsAre("DCU835"));
  EXPECT_THAT(plan.findings[0].cause, HasSubstr("24 of 48 vector cores enter it"));
  EXPECT_THAT(plan.findings[0].chinese.cause, HasSubstr("48 个 Vector 核中只有 24 个进入"));
  EXPECT_EQ(plan.findings[0].fix, "its own scope");
  EXPECT_FALSE(finding::has_error(plan.findings));
}

TEST(Findings, OfWhatIsNotBuilt) {
  Operator other = aic("b", 4);
  other.stream = 1;
  const Plan streams = make_plan(a_scope({aiv("a", 4), other}));
  EXPECT_THAT(rules(streams), ElementsAre("DCU825"));
  EXPECT_EQ(streams.findings[0].fix, "stream-fusion=1");
  Operator receives = aiv("a", 4);
  receives.receives.insert("e");
  EXPECT_THAT(rules(make_plan(a_scope({receives, aiv("b", 4)}))), ElementsAre("DCU826"));
  const Plan forced = make_plan(a_scope({aiv("a", 4)}, "debug-aiv-num=60"));
  ASSERT_THAT(rules(forced), ElementsAre("DCU824"));
  EXPECT_EQ(forced.findings[0].cause, "debug-aiv-num is 60, and the device has 48");
  Operator calls = aiv("c", 4);
  calls.set_next = Call::every_core;
  EXPECT_THAT(rules(make_plan(a_scope({calls, aiv("b", 4)}, "early-start=0"))), Contains("DCU827"));
}

TEST(Findings, NotesOfSplitsAndIdleCalls) {
  Operator cpu = aiv("cpu", 1);
  cpu.task = Task::unfusible;
  Operator calls = aiv("c", 4);
  calls.set_next = Call::every_core;
  Scope scope = a_scope({calls, cpu, aiv("b", 4)});
  scope.platform.product = Product::a2;
  const Plan plan = make_plan(scope);
  EXPECT_THAT(rules(plan), ElementsAre("DCU814", "DCU814", "DCU833"));
  EXPECT_EQ(plan.findings[0].cause, "cpu begins another kernel: cpu cannot be fused");
  EXPECT_EQ(plan.findings[1].cause, "b begins another kernel: cpu cannot be fused");
  EXPECT_FALSE(finding::has_error(plan.findings));
}

TEST(Findings, OneForAKernelThatClashesWithMany) {
  std::vector<Operator> operators;
  for (int i = 0; i < 6; ++i) {
    Operator op = with_sync_all(aiv("op" + std::to_string(i), 30));
    op.task = Task::unfusible;
    op.stream = i;
    operators.push_back(op);
  }
  const Plan plan = make_plan(a_scope(operators));
  EXPECT_EQ(plan.judgement.clashes.size(), 15U);
  const auto with_many = std::find_if(plan.findings.begin(), plan.findings.end(),
                                      [](const auto& finding) { return finding.rule == "DCU813"; });
  ASSERT_NE(with_many, plan.findings.end());
  EXPECT_EQ(with_many->cause,
            "op0 may run at the same time as op1, op2, op3 or 2 more, each needs all its cores at "
            "once, and the device has 24 AIC + 48 AIV: each may hold cores that the other waits for");
  EXPECT_THAT(with_many->chinese.cause, HasSubstr("op1, op2, op3 等另外 2 个"));
  EXPECT_EQ(with_many->fix, "SetScheduleMode(1) in the tiling of op0");
  EXPECT_EQ(std::count_if(plan.findings.begin(), plan.findings.end(),
                          [](const auto& finding) { return finding.rule == "DCU813"; }),
            5);
}

TEST(Findings, EveryFaultHasItsRule) {
  Operator all = mix_1_1("all", 20);
  all.sync.all = SyncAll::plain;
  all.sync.mode0[0] = true;
  all.sync.pair_guarded = all.sync.matmul_unguarded = true;
  all.sync.flags = {{3, Side::aic, 0, 1}, {4, Side::aic, 2, 1}};
  all.set_next = Call::some_cores;
  Operator next = mix_1_2("next", 24);
  next.wait_previous = Call::some_cores;
  next.sync.all = SyncAll::plain;
  next.sync.all_on_every_core = false;
  next.sync.flags = {{4, Side::aic, 1, 1}};
  const Plan plan = make_plan(a_scope({all, next, with_sync_all(aiv("v", 48), SyncAll::mix)}));
  const std::vector<std::string> ids = rules(plan);
  for (const char* id :
       {"DCU801", "DCU802", "DCU803", "DCU804", "DCU805", "DCU806", "DCU807", "DCU808", "DCU809", "DCU810"}) {
    EXPECT_THAT(ids, Contains(id));
  }
  EXPECT_THAT(rules(make_plan(a_scope({mix_1_2("a", 12), aic("b", 24)}))), ElementsAre("DCU811"));
  EXPECT_THAT(rules(make_plan(a_scope({with_sync_all(aiv("a", 49))}))), ElementsAre("DCU812"));
}

TEST(Recipe, IsTheFullDeviceAroundOneOperator) {
  const Plan plan = make_plan(a_scope({with_sync_all(aiv("a", 20)), aiv("b", 48)}));
  EXPECT_EQ(plan.operators[0].recipe, "debug-aic-num=24:debug-aiv-num=48");
  EXPECT_EQ(plan.operators[1].recipe, "") << "it waits for nobody";
  // What the recipe is for: alone, the operator does not show its fault.
  const Scope alone = a_scope({with_sync_all(aiv("a", 20))});
  EXPECT_THAT(verdicts(judge(alone)), ElementsAre(""));
  EXPECT_THAT(verdicts(judge(a_scope(alone.operators, plan.operators[0].recipe))),
              ElementsAre("sync-all-short AIV 20 of 48"));
}

TEST(Json, HasTheVerdictsAndTheSimulation) {
  const Scope scope = a_scope({with_sync_all(aiv("a", 20)), aiv("b", 48)});
  const Plan plan = make_plan(scope);
  const Simulation simulation = simulate(scope, Detail::timeline);
  const nlohmann::json document = to_json(scope, plan, &simulation);
  EXPECT_EQ(document["operators"][0]["verdict"], "hangs");
  EXPECT_EQ(document["operators"][0]["faults"][0]["fault"], "sync-all-short");
  EXPECT_EQ(document["operators"][0]["fixes"][0]["text"], "feed-sync-all=1");
  EXPECT_EQ(document["operators"][1]["verdict"], "fits");
  EXPECT_EQ(document["kernels"][0]["launch"]["aiv"], 48);
  EXPECT_EQ(document["options"]["text"], "feed-sync-all=1");
  EXPECT_EQ(document["simulation"]["faults"][0]["waiting_cores"], "0-19");
  EXPECT_EQ(document["simulation"]["faults"][0]["missing_cores"]["cores"], "20-47");
  EXPECT_TRUE(document["simulation"]["disagreement"].is_null());
  EXPECT_TRUE(to_json(scope, plan, nullptr)["simulation"].is_null());
}

TEST(Json, WhatIsOfNoSideHasNone) {
  const Scope scope = a_scope({with_sync_all(aic("a", 30))});
  const nlohmann::json fault = to_json(scope, make_plan(scope), nullptr)["operators"][0]["faults"][0];
  EXPECT_EQ(fault["fault"], "device-short");
  EXPECT_TRUE(fault["side"].is_null());
  EXPECT_EQ(fault["waiting"], 24);
  EXPECT_EQ(fault["expected"], 30);
}

} // namespace
} // namespace dcuop::superkernel
