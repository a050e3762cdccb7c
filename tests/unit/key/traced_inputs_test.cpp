// From what a process tree asked for to an input set, and what a later look makes of it.

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "dcuop/key/collect_inputs.hpp"
#include "dcuop/key/explain.hpp"
#include "dcuop/support/files.hpp"

namespace dcuop::key {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class TracedInputsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("dcuop-traced-inputs-" + std::to_string(::getpid()));
    fs::remove_all(root_);
    write("ws/op/a.cpp", "a");
    write("ws/op/inc/x.h", "x");
    write("sys/y.h", "y");
    base_ = {root_ / "ws/op", root_ / "ws", at("bin1") + ":" + at("bin2"), at("home")};
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  std::string at(const std::string& path) const { return (root_ / path).string(); }

  FileAccess access(const std::string& path) const {
    FileAccess made;
    made.path = path;
    made.is_relative = !path.starts_with('/');
    made.first = identity_of(made.is_relative ? base_.directory / path : fs::path(path));
    made.was_asked_first = true;
    return made;
  }
  FileAccess read(const std::string& path) const {
    FileAccess made = access(path);
    made.was_read = true;
    return made;
  }
  FileAccess read_link(const std::string& path) const {
    FileAccess made = access(path);
    made.link_was_read = true;
    return made;
  }

  Collected collect(const std::vector<FileAccess>& accesses) {
    DigestMemo memo{fs::path{}};
    Trace trace;
    trace.accesses = accesses;
    return collect_traced({"a.cpp", root_ / "private", {root_ / "objects/unit.o"}}, trace, base_, memo);
  }
  Comparison compare_now(const InputSet& set) {
    DigestMemo memo{fs::path{}};
    return compare(set, base_, memo, false);
  }
  /// The paths whose answers differ now.
  std::vector<std::string> answers(const InputSet& set) {
    std::vector<std::string> paths;
    for (const LookUp& look_up : compare_now(set).answers) {
      paths.push_back(look_up.subject);
    }
    return paths;
  }

  fs::path root_;
  PathBase base_;
};

std::vector<std::string> paths(const InputSet& set) {
  std::vector<std::string> result;
  for (const Input& input : set.inputs) {
    result.push_back(input.path);
  }
  return result;
}

TEST_F(TracedInputsTest, ReadFilesAreInputsAsTheyAreWritten) {
  const Collected collected =
      collect({read("./a.cpp"), read("inc//x.h"), read(at("sys/y.h")), read(at("ws/op/a.cpp")),
               read(at("private/t.s")), read(at("objects/unit.o")), read("/dev/null")});
  EXPECT_THAT(collected.changed, IsEmpty());
  EXPECT_THAT(collected.unreadable, IsEmpty());
  EXPECT_THAT(paths(collected.set), ElementsAre(at("sys/y.h"), at("ws/op/a.cpp"), "a.cpp", "inc/x.h"))
      << "an absolute path in a source means that very file";
  EXPECT_TRUE(compare_now(collected.set).unchanged());
  write("ws/op/inc/x.h", "other");
  EXPECT_EQ(compare_now(collected.set).changed.at(0).path, "inc/x.h");
}

TEST_F(TracedInputsTest, AbsentNamesAppear) {
  const InputSet set = collect({read("x.h"), read("deep/er/x.h"), read(at("sys/none/z.h"))}).set;
  EXPECT_THAT(paths(set), IsEmpty());
  EXPECT_TRUE(compare_now(set).unchanged());
  write("ws/op/other.h", "");
  write("ws/op/deep/other.h", "");
  EXPECT_TRUE(compare_now(set).unchanged()) << "nobody asked for those";
  write("ws/op/deep/er/x.h", "");
  EXPECT_THAT(answers(set), ElementsAre("deep/er/x.h"));
  write("ws/op/x.h", "");
  write("sys/none/z.h", "");
  EXPECT_THAT(answers(set), ElementsAre("deep/er/x.h", "x.h", at("sys/none/z.h")));
  const std::vector<Difference> differences = describe(compare_now(set), set, base_);
  EXPECT_EQ(differences.at(1).name + " " + differences.at(1).text, "x.h appeared");
}

TEST_F(TracedInputsTest, PresentNamesGoOrBecomeSomethingElse) {
  const InputSet set = collect({access("inc"), access("inc/x.h")}).set;
  fs::remove_all(root_ / "ws/op/inc");
  EXPECT_THAT(answers(set), ElementsAre("inc", "inc/x.h"));
  write("ws/op/inc", "a file now");
  EXPECT_THAT(answers(set), ElementsAre("inc", "inc/x.h"));
}

TEST_F(TracedInputsTest, KindsChangeUnderTheSameName) {
  fs::create_directory(root_ / "ws/op/maybe.h");
  const InputSet set = collect({access("maybe.h")}).set;
  fs::remove(root_ / "ws/op/maybe.h");
  write("ws/op/maybe.h", "");
  EXPECT_THAT(answers(set), ElementsAre("maybe.h"));
}

TEST_F(TracedInputsTest, LinksAreFollowedEachTime) {
  fs::create_symlink(root_ / "later.h", root_ / "ws/op/dangling.h");
  fs::create_symlink(root_ / "later", root_ / "ws/op/absent");
  fs::create_symlink("v1", root_ / "ws/op/current");
  const InputSet set = collect({read("dangling.h"), read("absent/x.h"), read_link("current")}).set;
  EXPECT_TRUE(compare_now(set).unchanged());
  write("later.h", "");
  EXPECT_THAT(answers(set), ElementsAre("dangling.h"));
  fs::create_directory(root_ / "later");
  EXPECT_THAT(answers(set), ElementsAre("absent", "dangling.h"));
  fs::remove(root_ / "ws/op/current");
  fs::create_symlink("v2", root_ / "ws/op/current");
  EXPECT_THAT(answers(set), ElementsAre("current", "absent", "dangling.h"));
}

TEST_F(TracedInputsTest, RetargetedLinkedDirectory) {
  fs::create_directories(root_ / "empty");
  write("full/x.h", "");
  fs::create_symlink(root_ / "empty", root_ / "ws/op/lib");
  const InputSet set = collect({read("lib/x.h")}).set;
  fs::remove(root_ / "ws/op/lib");
  fs::create_symlink(root_ / "full", root_ / "ws/op/lib");
  EXPECT_THAT(answers(set), ElementsAre("lib/x.h"));
}

TEST_F(TracedInputsTest, ParentOfALinkIsTheLinksParent) {
  write("v1/x.h", "1");
  write("v2/x.h", "2");
  fs::create_directories(root_ / "v1/in");
  fs::create_directories(root_ / "v2/in");
  fs::create_symlink(root_ / "v1/in", root_ / "ws/op/link");
  const InputSet set = collect({read("link/../x.h")}).set;
  EXPECT_THAT(paths(set), ElementsAre("link/../x.h"));
  fs::remove(root_ / "ws/op/link");
  fs::create_symlink(root_ / "v2/in", root_ / "ws/op/link");
  EXPECT_EQ(compare_now(set).changed.at(0).path, "link/../x.h");
}

TEST_F(TracedInputsTest, ListedDirectoriesAreInputs) {
  const InputSet set = collect({read("inc"), read(at("sys"))}).set;
  write("sys/new.h", "");
  EXPECT_TRUE(compare_now(set).unchanged())
      << "outside of the workspace it is a driver that looks for its toolchain";
  const InputSet globbed = collect({read(at("sys")), read(at("sys/y.h"))}).set;
  write("sys/newer.h", "");
  EXPECT_EQ(compare_now(globbed).changed.at(0).path, at("sys")) << "unless it reads what it found there";
  write("ws/op/inc/new.h", "");
  EXPECT_EQ(compare_now(set).changed.at(0).path, "inc");
}

TEST_F(TracedInputsTest, WhatChangedMeanwhileIsSaid) {
  FileAccess content = read("inc/x.h");
  FileAccess appeared = read("new.h");
  FileAccess looked_up = access("maybe.h");
  write("ws/op/inc/x.h", "longer than before");
  write("ws/op/new.h", "");
  write("ws/op/maybe.h", "");
  EXPECT_THAT(collect({content, appeared, looked_up}).changed,
              ::testing::UnorderedElementsAre("inc/x.h", "new.h", "maybe.h"));
}

TEST_F(TracedInputsTest, ItsOwnFilesAreNoInputs) {
  FileAccess log = access("log");
  log.was_written = log.was_appended = true;
  FileAccess generated = read("generated.h");
  generated.was_written = true;
  generated.was_asked_first = false;
  FileAccess state = read("inc/x.h");
  state.was_written = true;
  write("ws/op/log", "");
  write("ws/op/generated.h", "");
  write("ws/op/inc/x.h", "rewritten");
  const Collected collected = collect({log, generated, state});
  EXPECT_THAT(paths(collected.set), IsEmpty());
  EXPECT_THAT(collected.changed, IsEmpty());
}

TEST_F(TracedInputsTest, AWriteThatDidNothingIsNone) {
  FileAccess locked = read("inc/x.h");
  locked.was_written = true; // flock(1), ln(1) onto it
  FileAccess made = read("inc");
  made.was_written = true; // mkdir -p
  const Collected collected = collect({locked, made});
  EXPECT_THAT(paths(collected.set), ElementsAre("inc", "inc/x.h"));
}

TEST_F(TracedInputsTest, WhatIsMadeBecauseItIsMissingIsAnInput) {
  FileAccess generated = read("generated.h");
  generated.was_written = true;
  write("ws/op/generated.h", "");
  const Collected collected = collect({generated});
  EXPECT_THAT(paths(collected.set), ElementsAre("generated.h"));
  EXPECT_THAT(collected.changed, IsEmpty());
}

TEST_F(TracedInputsTest, AnOwnLinkLeadsToAnInput) {
  FileAccess farm = read("farm/y.h");
  farm.was_written = true;
  farm.was_asked_first = false;
  farm.real = fs::canonical(root_ / "sys/y.h").string();
  farm.first = identity_of(farm.real);
  FileAccess temporary = read(at("private/x.h"));
  temporary.real = fs::canonical(root_ / "ws/op/inc/x.h").string();
  temporary.first = identity_of(temporary.real);
  EXPECT_THAT(paths(collect({farm, temporary}).set), ElementsAre(farm.real, "inc/x.h"));
}

TEST_F(TracedInputsTest, ProgramsAreWhatPathMakesThem) {
  write("bin2/as", "");
  fs::permissions(root_ / "bin2/as", fs::perms::owner_all);
  const InputSet set = collect({access(at("bin1/as")), access(at("bin2/as")), access(at("bin2/none"))}).set;
  EXPECT_TRUE(compare_now(set).unchanged());
  base_.program_path = at("bin3") + ":" + base_.program_path;
  EXPECT_TRUE(compare_now(set).unchanged()) << "another PATH, the same program";
  write("bin3/none", "");
  write("bin3/as", "");
  EXPECT_TRUE(compare_now(set).unchanged()) << "no program";
  fs::permissions(root_ / "bin3/as", fs::perms::owner_all);
  EXPECT_THAT(answers(set), ElementsAre("as"));
  EXPECT_EQ(describe(compare_now(set), set, base_).at(0).text,
            "was " + at("bin2/as") + " by PATH, is " + at("bin3/as"));
}

TEST_F(TracedInputsTest, HomeCountsWhereItWasUsed) {
  const InputSet with = collect({read(at("home/flags"))}).set;
  const InputSet without = collect({read(at("sys/y.h"))}).set;
  base_.home = at("other");
  EXPECT_THAT(answers(with), ElementsAre("HOME"));
  EXPECT_TRUE(compare_now(without).unchanged());
}

TEST_F(TracedInputsTest, MayRun) {
  FileAccess hook = access("inc/x.h");
  hook.may_run_was_asked = true;
  const InputSet set = collect({hook}).set;
  EXPECT_TRUE(compare_now(set).unchanged());
  fs::permissions(root_ / "ws/op/inc/x.h", fs::perms::owner_all);
  EXPECT_THAT(answers(set), ElementsAre("inc/x.h"));
}

TEST_F(TracedInputsTest, TwoNamesOfOneFile) {
  fs::create_symlink("x.h", root_ / "ws/op/inc/alias.h");
  const InputSet set = collect({read("inc/x.h"), read("inc/alias.h")}).set;
  EXPECT_TRUE(compare_now(set).unchanged());
  fs::remove(root_ / "ws/op/inc/alias.h");
  write("ws/op/inc/alias.h", "x");
  EXPECT_THAT(answers(set), ElementsAre("inc/alias.h")) << "#pragma once reads both now";
}

TEST_F(TracedInputsTest, WhereTheCheckoutLiesDoesNotMatter) {
  const InputSet set = collect({access("."), access(base_.directory.string()), access(root_.string()),
                                access(at("ws/op/a.cpp")), read("a.cpp")})
                           .set;
  EXPECT_EQ(set.asked, collect({access("a.cpp")}).set.asked);
  fs::rename(root_ / "ws", root_ / "moved");
  base_.directory = root_ / "moved/op";
  base_.workspace = root_ / "moved";
  EXPECT_TRUE(compare_now(set).unchanged());
}

TEST_F(TracedInputsTest, RoundTripAndMerge) {
  fs::create_symlink("v1", root_ / "ws/op/current");
  const InputSet unit = collect({read("a.cpp"), read("x.h"), read_link("current"), access("inc")}).set;
  const InputSet link = collect({read(at("sys/y.h")), read("inc/none.h"), access("current")}).set;
  const InputSet merged = merge({unit, link}, base_);
  const std::optional<InputSet> again = input_set_from_json_text(to_json_text(merged));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->record_digest(), merged.record_digest());
  EXPECT_EQ(again->look_ups, merged.look_ups);
  EXPECT_TRUE(compare_now(*again).unchanged());
  write("ws/op/x.h", "");
  write("ws/op/inc/none.h", "");
  EXPECT_THAT(answers(*again), ElementsAre("x.h", "inc/none.h"));
}

TEST_F(TracedInputsTest, PartsThatWereToldDifferentThingsNeverMatch) {
  const InputSet before = collect({read("x.h")}).set;
  write("ws/op/x.h", "");
  const InputSet after = collect({access("x.h")}).set;
  EXPECT_FALSE(compare_now(merge({before, after}, base_)).unchanged());
  fs::remove(root_ / "ws/op/x.h");
  EXPECT_FALSE(compare_now(merge({before, after}, base_)).unchanged());
}

TEST_F(TracedInputsTest, DamagedNamesAreAMiss) {
  InputSet set = collect({read("x.h")}).set;
  write("ws/op/other", "");
  ASSERT_TRUE(compare_now(set).unchanged());
  for (std::size_t size = 1; size < set.asked.size(); ++size) {
    InputSet damaged = set;
    damaged.asked.resize(size);
    EXPECT_FALSE(compare_now(damaged).unchanged()) << size;
  }
}

} // namespace
} // namespace dcuop::key
