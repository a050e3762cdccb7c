#include "dcuop/key/input_set.hpp"

#include <fstream>

#include <gmock/gmock.h>

#include "dcuop/key/collect_inputs.hpp"
#include "dcuop/support/files.hpp"

namespace dcuop::key {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// <temp>/ws/op with two include directories; the header is in the second.
class InputSetTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("dcuop-input-set-" + std::to_string(::getpid()));
    fs::remove_all(root_);
    write("ws/op/a.cpp", "#include <lib/x.h>\n#if __has_include(<lib/maybe.h>)\n#endif\n");
    write("ws/op/two/lib/x.h", "1");
    write("sys/y.h", "2");
    fs::create_directories(root_ / "ws/op/one");
    base_ = {root_ / "ws/op", root_ / "ws"};
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  InputSet collect(const std::string& part = "a.cpp") {
    PassReport pass;
    pass.files = {root_ / "ws/op/a.cpp", root_ / "ws/op/two/lib/x.h", root_ / "sys/y.h",
                  root_ / "private/gen.h"};
    pass.search_directories = {root_ / "ws/op/one", root_ / "ws/op/two", root_ / "sys", root_ / "absent"};
    DigestMemo memo{fs::path{}};
    Collected collected = collect_reported({part, root_ / "private", {}}, {pass}, base_, memo);
    EXPECT_THAT(collected.unreadable, IsEmpty());
    return std::move(collected.set);
  }

  Comparison compare_now(const InputSet& set, bool first_only = false) {
    DigestMemo memo{fs::path{}};
    return compare(set, base_, memo, first_only);
  }

  fs::path root_;
  PathBase base_;
};

std::vector<std::string> paths(const std::vector<Input>& inputs) {
  std::vector<std::string> result;
  for (const Input& input : inputs) {
    result.push_back(input.path);
  }
  return result;
}

TEST_F(InputSetTest, PathsInTheWorkspaceAreRelativeAndGeneratedFilesLeftOut) {
  EXPECT_THAT(paths(collect().inputs), ElementsAre((root_ / "sys/y.h").string(), "a.cpp", "two/lib/x.h"));
}

TEST_F(InputSetTest, NothingChanged) {
  EXPECT_TRUE(compare_now(collect()).unchanged());
}

TEST_F(InputSetTest, ChangedAndMissingInputs) {
  const InputSet set = collect();
  write("ws/op/two/lib/x.h", "other");
  fs::remove(root_ / "sys/y.h");
  EXPECT_THAT(paths(compare_now(set).changed), ElementsAre((root_ / "sys/y.h").string(), "two/lib/x.h"));
  EXPECT_THAT(compare_now(set, true).changed, SizeIs(1));
}

TEST_F(InputSetTest, HeaderThatShadowsAtAnyDepth) {
  const InputSet set = collect();
  write("ws/op/one/lib/x.h", "shadow");
  EXPECT_THAT(compare_now(set).shadowed, ElementsAre("one"));
  EXPECT_THAT(compare_now(set).changed, IsEmpty());
}

TEST_F(InputSetTest, HeaderThatShadowsInAnExistingSubdirectory) {
  fs::create_directories(root_ / "ws/op/one/lib");
  const InputSet set = collect();
  write("ws/op/one/lib/x.h", "shadow");
  EXPECT_THAT(compare_now(set).shadowed, ElementsAre("one/lib"));
}

TEST_F(InputSetTest, NameThatHasIncludeAsksFor) {
  const InputSet set = collect();
  write("ws/op/two/lib/maybe.h", "");
  EXPECT_THAT(compare_now(set).shadowed, ElementsAre("two/lib"));
}

TEST_F(InputSetTest, SearchDirectoryThatDidNotExist) {
  const InputSet set = collect();
  write("absent/other.txt", "");
  EXPECT_TRUE(compare_now(set).unchanged()) << "no include could mean other.txt";
  write("absent/y.h", "");
  EXPECT_THAT(compare_now(set).shadowed, ElementsAre((root_ / "absent").string()));
}

TEST_F(InputSetTest, IrrelevantNamesChangeNothing) {
  const InputSet set = collect();
  write("ws/op/one/.x.h.swp", "");
  write("ws/op/two/lib/z.h", "");
  EXPECT_TRUE(compare_now(set).unchanged());
}

TEST_F(InputSetTest, JsonRoundTripIsExact) {
  const InputSet set = collect();
  const std::optional<InputSet> read = input_set_from_json_text(to_json_text(set));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->inputs, set.inputs);
  EXPECT_EQ(read->directories, set.directories);
  EXPECT_EQ(read->probed_names, set.probed_names);
  EXPECT_EQ(read->record_digest(), set.record_digest());
}

TEST_F(InputSetTest, NamesThatAreNoUtf8AreTheSameAgain) {
  InputSet set;
  set.parts = {"a\xff.cpp", "100%.cpp"};
  set.inputs = {{"/odd\xfe/\xff.h", digest_of("1"), 1}, {"/odd\xff/%41.h", digest_of("2"), 3}};
  set.directories = {{"/odd\xff", digest_of("3"), digest_of("4")}, {"é", std::nullopt, digest_of("5")}};
  set.probed_names = {"\xff.h", "é.h"};
  const std::optional<InputSet> read = input_set_from_json_text(to_json_text(set));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->parts, set.parts);
  EXPECT_EQ(read->inputs, set.inputs);
  EXPECT_EQ(read->directories, set.directories);
  EXPECT_EQ(read->probed_names, set.probed_names);
}

TEST_F(InputSetTest, DamagedJsonIsNoSet) {
  const std::string text = to_json_text(collect());
  for (std::size_t size = 0; size < text.size(); size += 7) {
    EXPECT_FALSE(input_set_from_json_text(text.substr(0, size))) << size;
  }
  EXPECT_FALSE(input_set_from_json_text(
      "{\"parts\":[],\"inputs\":[[\"d\",[[\"n\",\"zz\",1]]]],\"directories\":[],\"probed\":[]}"));
}

TEST_F(InputSetTest, MergeKeepsTheReadersApart) {
  const InputSet a = collect("a.cpp");
  PassReport pass;
  pass.files = {root_ / "sys/y.h"};
  DigestMemo memo{fs::path{}};
  const InputSet link = collect_reported({"link", root_ / "private", {}}, {pass}, base_, memo).set;
  const InputSet merged = merge({a, link}, base_);
  EXPECT_THAT(merged.parts, ElementsAre("a.cpp", "link"));
  EXPECT_THAT(merged.readers_of(merged.inputs[0]), ElementsAre("a.cpp", "link"));
  EXPECT_THAT(merged.readers_of(merged.inputs[1]), ElementsAre("a.cpp"));
  EXPECT_TRUE(compare_now(merged).unchanged());
}

TEST_F(InputSetTest, DigestIsOfPathsAndContents) {
  const Digest before = collect().digest();
  write("ws/op/one/new.txt", "");
  EXPECT_EQ(collect().digest(), before);
  write("ws/op/two/lib/x.h", "3");
  EXPECT_NE(collect().digest(), before);
}

TEST_F(InputSetTest, ChangedSince) {
  const InputSet set = collect();
  const std::int64_t newest = identity_of(root_ / "sys/y.h")->ctime_ns;
  EXPECT_EQ(changed_since(set, base_, newest + 1), "");
  EXPECT_EQ(changed_since(set, base_, newest), (root_ / "sys/y.h").string());
}

} // namespace
} // namespace dcuop::key
