// The simulation alone: who waits for whom, times, and the picture.

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "superkernel/scopes.hpp"

#include "dcuop/superkernel/plan.hpp"
#include "dcuop/superkernel/simulate.hpp"

namespace dcuop::superkernel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Operator timed(Operator op, double pre, double mid, double post, double skew = 0) {
  op.times = Times{pre, mid, post, skew};
  return op;
}

std::string blocked_text(const Scope& scope, const Run& run) {
  std::string text;
  for (const Blocked& one : run.blocked) {
    text += (text.empty() ? "" : "; ") + to_string(one.cores.side) + " " + ranges_text(one.cores.cores) +
            " " + one.at + " " + scope.operators[one.op].name;
  }
  return text;
}

TEST(Simulate, SaysWhoWaitsForWhom) {
  const Scope scope = a_scope({with_sync_all(aiv("a", 20)), aiv("b", 48)});
  const Simulation simulation = simulate(scope, Detail::timeline);
  ASSERT_EQ(simulation.faults.size(), 1U);
  EXPECT_EQ(ranges_text(simulation.faults[0].waiting.cores), "0-19");
  EXPECT_EQ(ranges_text(simulation.faults[0].missing.cores), "20-47");
  ASSERT_EQ(simulation.runs.size(), 1U);
  EXPECT_FALSE(simulation.runs[0].is_finished);
  EXPECT_EQ(blocked_text(scope, simulation.runs[0]), "AIV 0-19 SyncAll a; AIV 20-47 barrier a");
}

TEST(Simulate, AKernelBehindOneThatHangsDoesNotStart) {
  Operator cpu = aiv("cpu", 1);
  cpu.task = Task::unfusible;
  const Simulation simulation =
      simulate(a_scope({with_sync_all(aiv("a", 20)), aiv("b", 48), cpu}), Detail::timeline);
  ASSERT_EQ(simulation.runs.size(), 2U);
  EXPECT_TRUE(simulation.runs[0].is_started);
  EXPECT_FALSE(simulation.runs[1].is_started);
}

TEST(Simulate, BlocksThatHaveNoCoreAreNamed) {
  const Scope scope = a_scope({with_sync_all(aiv("a", 50))});
  const Simulation simulation = simulate(scope, Detail::timeline);
  EXPECT_EQ(blocked_text(scope, simulation.runs[0]), "AIV 0-47 SyncAll a; AIV 48-49 no core a");
  EXPECT_EQ(simulate(a_scope({timed(aiv("a", 50), 0, 10, 0)}), Detail::timeline).runs[0].end, 20.0)
      << "two turns";
}

double length(const Scope& scope) {
  const Simulation simulation = simulate(scope, Detail::timeline);
  EXPECT_THAT(simulation.faults, IsEmpty());
  EXPECT_TRUE(std::all_of(simulation.runs.begin(), simulation.runs.end(),
                          [](const Run& run) { return run.is_finished; }));
  return simulation.runs.back().end;
}

TEST(Times, OfOperatorsOneAfterTheOther) {
  Scope scope = a_scope({timed(aiv("a", 48), 2, 20, 11), timed(aic("b", 24), 5, 30, 1)});
  EXPECT_EQ(length(scope), 69.0);
  scope.platform.barrier_us = 1.5;
  EXPECT_EQ(length(scope), 70.5);
  scope.operators[0].times->skew = 4;
  EXPECT_EQ(length(scope), 74.5) << "everybody waits for the slowest core";
}

TEST(Times, EarlyStartOverlapsOtherCores) {
  Scope scope = a_scope({timed(aiv("a", 48), 2, 20, 11), timed(aic("b", 24), 5, 30, 1)});
  scope.operators[0].set_next = Call::every_core;
  EXPECT_EQ(length(scope), 58.0) << "post of a runs beside b";
  scope.operators[1].wait_previous = Call::every_core;
  EXPECT_EQ(length(scope), 53.0) << "and pre of b beside a";
  scope.platform.product = Product::a2;
  EXPECT_EQ(length(scope), 69.0);
}

TEST(Times, TwoStreamsRunBesideEachOther) {
  Operator cube = timed(aic("cube", 24), 0, 30, 0);
  Operator vector = timed(aiv("vector", 48), 0, 20, 0);
  vector.stream = 1;
  EXPECT_EQ(length(a_scope({cube, vector}, "stream-fusion=1")), 30.0);
  EXPECT_EQ(length(on_npugraph_ex(a_scope({cube, vector}))), 30.0);
  Operator after = timed(aic("after", 24), 0, 10, 0);
  after.receives.insert("e");
  vector.sends.insert("e");
  vector.times->mid = 35;
  EXPECT_EQ(length(a_scope({cube, vector, after}, "stream-fusion=1")), 45.0) << "it waits for both";
}

TEST(Times, KernelsAreALaunchGapApart) {
  Operator cpu = timed(aiv("cpu", 1), 0, 10, 0);
  cpu.task = Task::unfusible;
  Scope scope = a_scope({timed(aiv("a", 4), 0, 10, 0), cpu});
  scope.platform.launch_gap_us = 4;
  EXPECT_EQ(length(scope), 24.0);
}

TEST(Times, SyncAllMakesAnOperatorWaitForItsSlowest) {
  Operator op = with_sync_all(timed(aiv("a", 48), 0, 20, 0));
  op.sync.all_count = 3;
  const Simulation simulation = simulate(a_scope({op}), Detail::timeline);
  std::vector<double> met;
  for (const SyncPoint& point : simulation.runs[0].sync_points) {
    EXPECT_EQ(point.what, SyncPoint::What::sync_all);
    met.push_back(point.time);
  }
  EXPECT_THAT(met, ElementsAre(5.0, 10.0, 15.0));
}

TEST(RangesText, JoinsNeighbours) {
  EXPECT_EQ(ranges_text({}), "");
  EXPECT_EQ(ranges_text({3}), "3");
  EXPECT_EQ(ranges_text({0, 1, 2, 7, 9, 10}), "0-2, 7, 9-10");
}

// The picture --------------------------------------------------------------------------------------------------------

std::string picture(const Scope& scope, finding::LanguageOfText language = finding::LanguageOfText::en) {
  return timeline_svg(scope, make_plan(scope), simulate(scope, Detail::timeline), language);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(Timeline, HasARowForCoresThatDoTheSame) {
  const std::string svg =
      picture(a_scope({timed(aiv("a", 20), 0, 10, 0), timed(mix_1_2("b", 24), 0, 20, 0)}));
  for (const char* row : {">AIC 0-23<", ">AIV 0-19<", ">AIV 20-47<"}) {
    EXPECT_EQ(count(svg, row), 1U) << row;
  }
  EXPECT_EQ(count(svg, "class=\"stuck\""), 0U);
  EXPECT_EQ(count(svg, "class=\"meet\""), 1U) << "the barrier of the vector cores between the two";
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme: dark"));
}

TEST(Timeline, MarksWhatWaitsForEver) {
  const std::string svg = picture(a_scope({with_sync_all(aiv("a", 20)), aiv("b", 48)}));
  EXPECT_EQ(count(svg, "class=\"stuck\""), 2U);
  EXPECT_THAT(svg, HasSubstr("AIV 0-19 wait for ever: a"));
  EXPECT_THAT(svg, HasSubstr("HANGS: SyncAll() waits for 48 vector cores, 20 enter"));
  EXPECT_THAT(svg, HasSubstr("no scale")) << "times are not given";
}

TEST(Timeline, SpeaksChinese) {
  const Scope scope = a_scope({with_sync_all(aiv("a", 20)), aiv("b", 48)});
  const std::string svg = picture(scope, finding::LanguageOfText::zh);
  for (const char* text : {"sk：2 个算子，ge", "AIV 0-19 永远等待：a", "卡住：SyncAll() 等待 48 个",
                           "斜线：永远等待", "无刻度"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
  EXPECT_THAT(svg, Not(HasSubstr("HANGS")));
}

TEST(Timeline, NamesEachOperatorOnceWhereRowsAreMany) {
  const std::string svg = picture(a_scope({timed(aic("slow", 24), 0, 40, 0, 12)}));
  EXPECT_EQ(count(svg, ">AIC 7<"), 1U) << "each core ends at another time";
  EXPECT_EQ(count(svg, ">1 slow<"), 1U);
}

TEST(Timeline, ShortensLongNamesAtALetter) {
  std::string name;
  for (int i = 0; i < 40; ++i) {
    name += "算子";
  }
  const std::string svg = picture(a_scope({timed(aiv(name, 4), 0, 10, 0)}));
  EXPECT_EQ(count(svg, "算子算...,") + count(svg, "算子..., AIV 4<"), 1U);
  EXPECT_EQ(count(svg, name), 1U) << "whole in the title of its work";
  EXPECT_THAT(svg, HasSubstr("class=\"on\">1 算子算子"));
}

TEST(Timeline, CountsOneOperator) {
  EXPECT_THAT(picture(a_scope({aiv("a", 4)})), HasSubstr(">sk: 1 operator on ge<"));
}

TEST(Timeline, OfManyOperatorsListsThoseWithAFaultAndSomeOthers) {
  std::vector<Operator> operators;
  for (int i = 0; i < 300; ++i) {
    const Operator op = timed(aiv("op" + std::to_string(i) + "_", 48), 0, 10, 0);
    operators.push_back(i == 250 ? timed(with_sync_all(aiv("short", 20)), 0, 10, 0) : op);
  }
  const std::string svg = picture(a_scope(operators));
  EXPECT_EQ(count(svg, ", AIV 48</text>"), 39U);
  EXPECT_EQ(count(svg, "251 short, AIV 20</text>"), 1U);
  EXPECT_EQ(count(svg, ">and 260 more<"), 1U);
  EXPECT_LT(count(svg, "class=\"meet\""), 290U) << "lines that would hide the bars are drawn once";
  operators[250] = operators[0];
  EXPECT_EQ(count(picture(a_scope(operators)), "class=\"meet\""), 100U) << "at 2.9 px, one in three";
}

TEST(Timeline, ShortensWhatCoresWaitAt) {
  const std::string svg = picture(a_scope({with_sync_all(aiv(std::string(150, 'a'), 20)), aiv("b", 48)}));
  EXPECT_THAT(svg, HasSubstr(">barrier behind aaaa"));
  EXPECT_THAT(svg, HasSubstr("aaa...<"));
}

TEST(Timeline, EscapesNames) {
  const std::string svg = picture(a_scope({timed(aiv("a<b>&\"c\"", 4), 0, 10, 0)}));
  EXPECT_THAT(svg, HasSubstr("a&lt;b&gt;&amp;&quot;c&quot;"));
  EXPECT_THAT(svg, Not(HasSubstr("a<b>")));
}

} // namespace
} // namespace dcuop::superkernel
