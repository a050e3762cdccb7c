#include "op/tree.hpp"

namespace dcuop::op {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SourcesTest : public TreeTest {
 protected:
  SourcesTest() { write("ops/dcuop.toml", "[workspace]\nmembers = [\"*\"]\n"); }

  [[nodiscard]] std::filesystem::path manifest(const std::string& sources) const {
    return write("ops/affine/dcuop.toml", "[build]\narchs = [\"gfx906\"]\nsources = [" + sources + "]\n");
  }
  [[nodiscard]] std::vector<std::string> paths(const std::string& sources) const {
    std::vector<std::string> result;
    for (const Source& source : read_op(manifest(sources)).sources) {
      result.push_back(source.path.generic_string());
    }
    return result;
  }
  [[nodiscard]] std::string fault(const std::string& sources) const {
    const std::filesystem::path path = manifest(sources);
    return fault_of([&] { static_cast<void>(read_op(path)); });
  }
};

TEST_F(SourcesTest, KeepsTheOrderAndSortsWhatAPatternFinds) {
  for (const char* name :
       {"z.cpp", "k/b.hip", "k/a.hip", "k/deep/c.hip", "k/note.txt", "k/k.h", "k/.hidden.hip"}) {
    write(std::filesystem::path("ops/affine") / name);
  }
  EXPECT_THAT(paths(R"("z.cpp", "k/*.hip")"), ElementsAre("z.cpp", "k/a.hip", "k/b.hip"));
  EXPECT_THAT(paths(R"("k/*", "z.cpp")"), ElementsAre("k/a.hip", "k/b.hip", "z.cpp"));
  EXPECT_THAT(paths(R"("**/*.hip")"), ElementsAre("k/a.hip", "k/b.hip", "k/deep/c.hip"));
  EXPECT_THAT(paths(R"("k/[b-z].hip")"), ElementsAre("k/b.hip"));
  EXPECT_THAT(paths(R"("?.cpp")"), ElementsAre("z.cpp"));
  EXPECT_THAT(paths(R"("k/.h*.hip")"), ElementsAre("k/.hidden.hip"));
}

TEST_F(SourcesTest, AnyDepthDoesNotFollowSymbolicLinks) {
  write("ops/affine/k/a.hip");
  std::filesystem::create_directory_symlink(top() / "ops/affine", top() / "ops/affine/k/back");
  EXPECT_THAT(paths(R"("**/*.hip")"), ElementsAre("k/a.hip"));
}

TEST_F(SourcesTest, AFileMayBeCalledLikeAPattern) {
  write("ops/affine/a[1].cpp");
  write("ops/affine/a1.cpp");
  EXPECT_THAT(paths(R"("a[1].cpp")"), ElementsAre("a[1].cpp"));
}

TEST_F(SourcesTest, TakesFilesOfTheWorkspaceButNoneOutside) {
  write("ops/common/c.cpp");
  write("outside.cpp");
  EXPECT_THAT(paths(R"("./x/../../common/c.cpp")"), ElementsAre("../common/c.cpp"));
  EXPECT_THAT(fault(R"("../../outside.cpp")"),
              HasSubstr("ops/affine/dcuop.toml:3:12: error: source '../../outside.cpp' lies outside ops"));
  EXPECT_THAT(fault(R"("../../*.cpp")"), HasSubstr("3:12: error: source '../../*.cpp' lies outside ops"));
  // Refused before it is looked for: it would be searched for on the whole disk, and found nowhere.
  EXPECT_THAT(fault(R"("../../../../**/none-is-called-so.cpp")"), HasSubstr("lies outside ops"));
  const std::string absolute = (top() / "ops/common/c.cpp").string();
  EXPECT_THAT(fault("\"" + absolute + "\""),
              HasSubstr("3:12: error: source '" + absolute + "' is an absolute path"));
}

TEST_F(SourcesTest, MissingOnesAreNamedWithTheNearest) {
  write("ops/affine/binding.cpp");
  write("ops/affine/op_kernel.hip");
  EXPECT_EQ(fault(R"("binding.cpp", "op_kernal.hip")"),
            "ops/affine/dcuop.toml:3:27: error: source 'op_kernal.hip' does not exist; did you mean "
            "'op_kernel.hip'?");
  EXPECT_EQ(fault(R"("src/a.cpp")"),
            "ops/affine/dcuop.toml:3:12: error: source 'src/a.cpp' does not exist | there is "
            "no directory ops/affine/src");
  EXPECT_EQ(fault(R"("zzzzzzzzz.cpp")"),
            "ops/affine/dcuop.toml:3:12: error: source 'zzzzzzzzz.cpp' does not exist | "
            "there are: binding.cpp, op_kernel.hip");
  EXPECT_THAT(fault(R"("*.cu")"), HasSubstr("3:12: error: no source file matches '*.cu'"));
}

TEST_F(SourcesTest, RefusesWhatIsNoSource) {
  write("ops/affine/op.h");
  write("ops/affine/k/a.hip");
  EXPECT_THAT(fault(R"("op.h")"),
              HasSubstr("3:12: error: source 'op.h' has an extension that names no language"));
  EXPECT_THAT(fault(R"("k")"), HasSubstr("3:12: error: source 'k' is no file | name its files"));
  EXPECT_THAT(fault(R"("")"), HasSubstr("3:12: error: an element of 'sources' in [build] must not be empty"));
  EXPECT_THAT(fault(""), HasSubstr("3:11: error: the op has no sources"));
}

TEST_F(SourcesTest, RefusesTheSameFileTwice) {
  write("ops/affine/a.cpp");
  write("ops/affine/b.cpp");
  EXPECT_THAT(fault(R"("a.cpp", "b.cpp", "./b.cpp")"),
              HasSubstr("3:30: error: source 'b.cpp' is named twice"));
  EXPECT_THAT(fault(R"("b.cpp", "*.cpp")"), HasSubstr("3:21: error: source 'b.cpp' is named twice"));
}

TEST_F(SourcesTest, ADanglingLinkIsAMissingSource) {
  write("ops/affine/b.cpp");
  std::filesystem::create_symlink("gone.cpp", top() / "ops/affine/a.cpp");
  EXPECT_THAT(fault(R"("a.cpp")"), HasSubstr("3:12: error: source 'a.cpp' does not exist"));
}

} // namespace
} // namespace dcuop::op
