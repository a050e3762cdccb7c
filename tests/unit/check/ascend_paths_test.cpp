// Steps of Ascend C kernels: how often each core comes to something, and with what state.
#include "../../../src/check/ascend_count.hpp"
#include "../../../src/check/ascend_flow.hpp"
#include "dcuop/support/environment.hpp"
#include "dcuop/support/temporary_directory.hpp"

namespace dcuop::check::ascend {
namespace {

class AscendPaths : public testing::Test {
 protected:
  AscendPaths() : directory_(Environment::of_this_process()) {}

  /// `body` of a kernel k(GM_ADDR x, uint32_t n), behind `before`.
  void read(const std::string& body, const std::string& before = "") {
    std::ofstream(directory_.path() / "k.cpp")
        << "#include \"kernel_operator.h\"\nusing namespace AscendC;\n"
        << before << "\nextern \"C\" __global__ __aicore__ void k(GM_ADDR x, uint32_t n) {\n"
        << body << "\n}\n";
    source::Model::Request request;
    request.files = {directory_.path() / "k.cpp"};
    request.dialect = &source::ascend_dialect();
    model_ = std::make_unique<source::Model>(source::Model::read(request));
    names_ = std::make_unique<Names>(*model_);
    cores_ = std::make_unique<Cores>(*names_);
    program_ = std::make_unique<Program>(*names_, *cores_);
    kernel_ = model_->named("k").at(0);
  }

  /// Of SyncAll().
  Count count(Sides side = aiv) {
    splits_.clear();
    Counter counter(
        *program_, side, [](const Event& event) { return event.kind == Event::Kind::sync_all; },
        [this](const Split& split) { splits_.push_back(split.condition->text()); });
    return counter.of(*kernel_);
  }

  /// The numbers of the flags that were set before each SyncAll(), by its line; "|" between ways that differ.
  struct Follower {
    std::map<std::size_t, std::string> seen;
    std::map<std::size_t, std::size_t> loops;
    void event(const Event& event, const std::string&, std::string& state, const Way& way) {
      if (event.kind == Event::Kind::set_flag) {
        state += std::to_string(event.flag.value_or(-1));
      } else if (event.kind == Event::Kind::sync_all) {
        const std::size_t line = event.in->file->place(event.node.begin()).line - 3;
        seen[line] += (seen[line].empty() ? "" : ",") + state;
        loops[line] = way.loops;
      }
    }
    static std::string joined(const std::string& a, const std::string& b) { return a == b ? a : a + "|" + b; }
  };
  std::optional<std::string> follow(Follower& follower, Sides side = aiv) {
    return Flow<std::string, Follower>(*program_, follower, side).run(*kernel_, "");
  }

  TemporaryDirectory directory_;
  std::unique_ptr<source::Model> model_;
  std::unique_ptr<Names> names_;
  std::unique_ptr<Cores> cores_;
  std::unique_ptr<Program> program_;
  const Function* kernel_ = nullptr;
  std::vector<std::string> splits_;
};

TEST_F(AscendPaths, CountsWhatIsOnEveryWay) {
  read("SyncAll(); if (n > 3) { SyncAll(); } else { SyncAll(); } SyncAll();");
  const Count all = count();
  EXPECT_TRUE(all.is_number());
  EXPECT_EQ(all.least, 3);
  EXPECT_TRUE(splits_.empty());
  EXPECT_TRUE(count(aic).is_number()); // whoever asks says for which side
}

TEST_F(AscendPaths, CountsToTheEndWhereAWayLeaves) {
  read("if (GetBlockIdx() > n) { return; } SyncAll(); SyncAll();");
  const Count some = count();
  EXPECT_EQ(some.least, 0);
  EXPECT_EQ(some.most, 2);
  EXPECT_FALSE(some.is_exact);
  EXPECT_THAT(splits_, testing::ElementsAre("GetBlockIdx() > n"));
}

TEST_F(AscendPaths, AJumpGoesOnAtItsLabel) {
  read("if (n > 3) { goto end; } SyncAll(); end: SyncAll();");
  const Count forward = count();
  EXPECT_EQ(forward.least, 1);
  EXPECT_EQ(forward.most, 2);
  read("again: SyncAll(); if (n > 3) { goto again; }");
  EXPECT_EQ(count().most, Count::no_bound);
}

TEST_F(AscendPaths, LoopsCountByTheirTripsWhateverTheirVariableIsCalled) {
  read("for (uint32_t i = 0; i < n; ++i) { SyncAll(); }");
  const Count one = count();
  EXPECT_TRUE(one.is_exact);
  EXPECT_FALSE(one.is_number());
  read("constexpr uint32_t first = 0; for (uint32_t round = first; round < n; round++) { SyncAll(); }");
  EXPECT_TRUE(same(one, count()));
  read("for (uint32_t i = 0; i < n; i += 2) { SyncAll(); }");
  EXPECT_FALSE(same(one, count()));
  EXPECT_FALSE(never_equal(one, count())); // n may be 0
}

TEST_F(AscendPaths, ComparesCounts) {
  const Count none;
  const Count two{2, 2, {}, true, nullptr};
  const Count few{1, 3, {}, false, nullptr};
  const Count many{4, Count::no_bound, {}, false, nullptr};
  EXPECT_TRUE(same(two, two));
  EXPECT_TRUE(never_equal(none, two));
  EXPECT_TRUE(never_equal(few, many));
  EXPECT_FALSE(never_equal(two, few));
}

TEST_F(AscendPaths, CountsInCalleesAndOnOneSide) {
  read("Meet(); if ASCEND_IS_AIC { SyncAll<false>(); }",
       "__aicore__ inline void Meet() { SyncAll(); SyncAll(); }");
  EXPECT_EQ(count(aiv).least, 2);
  EXPECT_EQ(count(aic).least, 3);
}

TEST_F(AscendPaths, TheStateFollowsEveryWay) {
  read("CrossCoreSetFlag<2, PIPE_MTE3>(1);\n"
       "if (n > 3) { CrossCoreSetFlag<2, PIPE_MTE3>(2); }\n"
       "SyncAll();\n"
       "if (n > 4) { return; }\n"
       "CrossCoreSetFlag<2, PIPE_MTE3>(3);\n"
       "SyncAll();\n");
  Follower follower;
  EXPECT_EQ(follow(follower), "12|13|12|1");
  EXPECT_EQ(follower.seen, (std::map<std::size_t, std::string>{{4, "12|1"}, {7, "12|13"}}));
}

TEST_F(AscendPaths, ALoopIsWalkedTwiceAndAnEndlessOneIsLeftByBreakAlone) {
  read("for (uint32_t i = 0; i < n; ++i) {\nCrossCoreSetFlag<2, PIPE_MTE3>(1);\nSyncAll();\n}\n"
       "while (true) {\nif (n > 3) { break; }\nCrossCoreSetFlag<2, PIPE_MTE3>(2);\n}\n");
  Follower follower;
  const auto end = follow(follower);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(follower.seen.at(4), "1,11");
  EXPECT_EQ(follower.loops.at(4), 1U);
  read("while (true) { SyncAll(); }");
  EXPECT_FALSE(follow(follower).has_value());
}

TEST_F(AscendPaths, JumpsAndLambdasAreFollowed) {
  read("auto set = [&] { CrossCoreSetFlag<2, PIPE_MTE3>(1); };\n"
       "if (n > 3) { goto end; }\n"
       "set();\n"
       "end:\n"
       "SyncAll();\n");
  Follower follower;
  follow(follower);
  EXPECT_EQ(follower.seen, (std::map<std::size_t, std::string>{{6, "1|"}}));
}

TEST_F(AscendPaths, WhatIsTooDeepIsSaid) {
  std::string before;
  const std::size_t depth = Program::deepest + 50;
  for (std::size_t index = 0; index < depth; ++index) {
    before +=
        "__aicore__ inline void F" + std::to_string(index) + "() { F" + std::to_string(index + 1) + "(); }\n";
  }
  read("F0();", before + "__aicore__ inline void F" + std::to_string(depth) + "() { SyncAll(); }");
  EXPECT_FALSE(count().is_exact);
  EXPECT_EQ(program_->too_deep().size(), 1U);
  read("F100();", before + "__aicore__ inline void F" + std::to_string(depth) + "() { SyncAll(); }");
  EXPECT_EQ(count().least, 1);
  EXPECT_TRUE(program_->too_deep().empty());
}

} // namespace
} // namespace dcuop::check::ascend
