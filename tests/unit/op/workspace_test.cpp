#include "op/tree.hpp"

namespace dcuop::op {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WorkspaceTest : public TreeTest {
 protected:
  WorkspaceTest() {
    write("dcuop.toml", "[workspace]\nmembers = [\"ops/*\"]\n");
    write_op("ops/row_softmax");
    write_op("ops/affine");
    write("ops/notes/README.md");
    write("ops/README.md");
  }

  /// Directories relative to the root.
  [[nodiscard]] std::vector<std::string> selected(const std::vector<std::string>& arguments,
                                                  const std::string& from = ".") const {
    std::vector<std::string> result;
    for (const Op& op : select_ops(arguments, top() / from)) {
      result.push_back(op.directory.lexically_relative(top()).string());
    }
    return result;
  }
  [[nodiscard]] std::string fault(const std::vector<std::string>& arguments,
                                  const std::string& from = ".") const {
    return fault_of([&] { static_cast<void>(select_ops(arguments, top() / from)); });
  }
};

TEST_F(WorkspaceTest, IsFoundFromBelow) {
  write("ops/affine/src/deep/x.h");
  for (const char* start : {".", "ops", "ops/affine", "ops/affine/src/deep", "ops/notes"}) {
    const std::optional<Workspace> workspace = find_workspace(top() / start);
    ASSERT_TRUE(workspace) << start;
    EXPECT_EQ(workspace->root, top()) << start;
    EXPECT_THAT(workspace->members, ElementsAre(top() / "ops/affine", top() / "ops/row_softmax")) << start;
  }
  EXPECT_FALSE(find_workspace(top().parent_path()));
}

TEST_F(WorkspaceTest, TheNearestRootHolds) {
  write("ops/nested/dcuop.toml", "[workspace]\nmembers = [\"inner\"]\n");
  write_op("ops/nested/inner");
  EXPECT_EQ(find_workspace(top() / "ops/nested/inner")->root, top() / "ops/nested");
  EXPECT_EQ(read_op(top() / "ops/nested/inner/dcuop.toml").workspace_root, top() / "ops/nested");
}

TEST_F(WorkspaceTest, WithoutArgumentsTheOpOneStandsInElseAll) {
  write("ops/affine/src/x.h");
  EXPECT_THAT(selected({}, "ops/affine/src"), ElementsAre("ops/affine"));
  EXPECT_THAT(selected({}, "ops/row_softmax"), ElementsAre("ops/row_softmax"));
  EXPECT_THAT(selected({}), ElementsAre("ops/affine", "ops/row_softmax"));
  EXPECT_THAT(selected({}, "ops/notes"), ElementsAre("ops/affine", "ops/row_softmax"));
}

TEST_F(WorkspaceTest, ArgumentsAreDirectoriesManifestsOrNames) {
  EXPECT_THAT(selected({"ops/row_softmax"}), ElementsAre("ops/row_softmax"));
  EXPECT_THAT(selected({"ops/affine/"}), ElementsAre("ops/affine"));
  EXPECT_THAT(selected({"ops/affine/dcuop.toml"}), ElementsAre("ops/affine"));
  EXPECT_THAT(selected({"affine"}), ElementsAre("ops/affine"));
  EXPECT_THAT(selected({"affine"}, "ops"), ElementsAre("ops/affine"));
  EXPECT_THAT(selected({"."}, "ops/affine"), ElementsAre("ops/affine"));
  EXPECT_THAT(selected({"../affine"}, "ops/row_softmax"), ElementsAre("ops/affine"));
  EXPECT_THAT(selected({(top() / "ops/affine").string()}, "ops/notes"), ElementsAre("ops/affine"));
  EXPECT_THAT(selected({"."}), ElementsAre("ops/affine", "ops/row_softmax"));
}

TEST_F(WorkspaceTest, TakesEachOnceInTheOrderOfTheArguments) {
  EXPECT_THAT(selected({"row_softmax", "affine", "ops/affine", "row_softmax", "."}),
              ElementsAre("ops/row_softmax", "ops/affine"));
}

TEST_F(WorkspaceTest, SymbolicLinksAreTheSameOp) {
  std::filesystem::create_directory_symlink("affine", top() / "ops/aaa");
  write_op("elsewhere/outside");
  std::filesystem::create_directory_symlink(top() / "elsewhere/outside", top() / "ops/linked");
  // An op is where it really lies: compilers resolve its "../x" from there.
  EXPECT_THAT(selected({}), ElementsAre("ops/affine", "elsewhere/outside", "ops/row_softmax"));
  EXPECT_THAT(selected({"ops/aaa", "affine"}), ElementsAre("ops/affine"));
  EXPECT_THAT(selected({"linked"}), ElementsAre("elsewhere/outside"));
  EXPECT_EQ(read_op(top() / "ops/linked/dcuop.toml").workspace_root, top()) << "seen from the link";
}

TEST_F(WorkspaceTest, UnknownNamesComeWithTheNearest) {
  EXPECT_EQ(fault({"afine"}), "no op is called 'afine'; did you mean 'affine'?");
  EXPECT_EQ(fault({"zzz"}), "no op is called 'zzz' | the workspace has: affine, row_softmax");
  EXPECT_EQ(fault({"affine", "ops/afine"}),
            "no such op: 'ops/afine' does not exist; did you mean 'ops/affine'?");
  EXPECT_EQ(fault({"./gone/x"}), "no such op: './gone/x' does not exist");
  EXPECT_THAT(fault({"ops/notes"}), HasSubstr("'ops/notes' is not an op: it has no dcuop.toml"));
  EXPECT_EQ(fault({"ops/affine/a.cpp"}), "'ops/affine/a.cpp' is neither an op's directory nor a dcuop.toml");
  EXPECT_THAT(fault({""}), HasSubstr("no op is called ''"));
}

TEST_F(WorkspaceTest, NamesComeFromTheManifests) {
  write_op("ops/third", "[op]\nname = \"scaled\"\n");
  EXPECT_THAT(selected({"scaled"}), ElementsAre("ops/third"));
  EXPECT_EQ(fault({"third"}), "no op is called 'third' | the workspace has: affine, row_softmax, scaled");
}

TEST_F(WorkspaceTest, SharedNamesMatterOnlyWhenAskedFor) {
  write_op("ops/third", "[op]\nname = \"affine\"\n");
  EXPECT_EQ(
      fault({"affine"}),
      "2 ops of this workspace are called 'affine': ops/affine, ops/third | name the directory instead");
  EXPECT_THAT(selected({"row_softmax"}), ElementsAre("ops/row_softmax"));
  EXPECT_THAT(selected({"ops/third"}), ElementsAre("ops/third"));
  EXPECT_THAT(selected({}), ElementsAre("ops/affine", "ops/row_softmax", "ops/third"));
}

TEST_F(WorkspaceTest, AFaultyMemberHindersNobodyElse) {
  write("ops/broken/dcuop.toml", "[op\n");
  EXPECT_THAT(selected({"affine"}), ElementsAre("ops/affine"));
  EXPECT_THAT(fault({"broken"}), HasSubstr("ops/broken/dcuop.toml:1:4: error: "));
  EXPECT_THAT(fault({}), HasSubstr("ops/broken/dcuop.toml:1:4: error: "));
}

TEST_F(WorkspaceTest, ARootCanBeAnOpToo) {
  write("dcuop.toml",
        "[workspace]\nmembers = [\"ops/affine\"]\n[op]\nname = \"top\"\n[build]\nsources = [\"t.cpp\"]\n");
  write("t.cpp");
  EXPECT_THAT(find_workspace(top())->members, ElementsAre(top(), top() / "ops/affine"));
  EXPECT_THAT(selected({}), ElementsAre("."));
  EXPECT_THAT(selected({"affine", "top"}), ElementsAre("ops/affine", "."));
}

TEST_F(WorkspaceTest, ChecksItsMembers) {
  const auto members = [&](const std::string& list) {
    write("dcuop.toml", "[workspace]\nmembers = " + list + "\n");
    return fault({});
  };
  EXPECT_EQ(members("[\"ops/affine\", \"ops/afine\"]"),
            "dcuop.toml:2:26: error: member 'ops/afine' does not exist; did you mean 'affine'?");
  EXPECT_THAT(members("[\"../x\"]"),
              HasSubstr("dcuop.toml:2:12: error: member '../x' lies outside of the workspace"));
  EXPECT_THAT(members("\"ops/*\""),
              HasSubstr("2:11: error: 'members' in [workspace] must be an array of strings"));
  EXPECT_EQ(members("[\"ops/n*\"]"),
            "the workspace . has no ops | its members are directories with a dcuop.toml");
  write("dcuop.toml", "[workspace]\n");
  EXPECT_THAT(fault({}), HasSubstr("dcuop.toml:1:1: error: [workspace] has no members"));
}

TEST_F(WorkspaceTest, SaysWhenThereIsNothing) {
  std::filesystem::remove(top() / "dcuop.toml");
  EXPECT_THAT(fault({}, "ops/notes"),
              HasSubstr("no dcuop.toml in " + (top() / "ops/notes").string() + " or above it"));
  EXPECT_THAT(fault({"affine"}), HasSubstr("no op is called 'affine' | there is no workspace here"));
  EXPECT_THAT(selected({"ops/affine"}), ElementsAre("ops/affine")) << "an op needs no workspace";
}

TEST_F(WorkspaceTest, ADirectoryCalledLikeAManifestIsNone) {
  std::filesystem::create_directories(top() / "ops/odd/dcuop.toml");
  EXPECT_THAT(selected({}), ElementsAre("ops/affine", "ops/row_softmax"));
}

TEST(OwnWorkspace, OfThisProjectReads) {
  const std::filesystem::path root = DCUOP_SOURCE_DIR;
  const std::vector<Op> ops = select_ops({}, root);
  ASSERT_FALSE(ops.empty());
  EXPECT_EQ(select_ops({"affine"}, root / "ops").at(0).directory, root / "ops/affine");
}

} // namespace
} // namespace dcuop::op
