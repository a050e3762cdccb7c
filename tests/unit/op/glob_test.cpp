#include <chrono>

#include "op/tree.hpp"

namespace dcuop::op {
namespace {

using ::testing::ElementsAre;

class GlobTest : public TreeTest {
 protected:
  [[nodiscard]] std::vector<std::string> sources(const std::string& pattern) const {
    write("dcuop.toml", "[op]\nname = \"x\"\n[build]\nsources = [\"" + pattern + "\"]\n");
    std::vector<std::string> found;
    for (const Source& source : read_op(top() / "dcuop.toml").sources) {
      found.push_back(source.path.string());
    }
    return found;
  }
};

TEST_F(GlobTest, AnyDepthTwiceIsAnyDepth) {
  write("a.cpp");
  write("d/b.cpp");
  write("d/e/c.cpp");
  EXPECT_THAT(sources("**/*.cpp"), ElementsAre("a.cpp", "d/b.cpp", "d/e/c.cpp"));
  EXPECT_THAT(sources("**/**/*.cpp"), ElementsAre("a.cpp", "d/b.cpp", "d/e/c.cpp"));
  EXPECT_THAT(sources("**/e/**/*.cpp"), ElementsAre("d/e/c.cpp"));
  EXPECT_THAT(sources("**/d/**/**/*.cpp"), ElementsAre("d/b.cpp", "d/e/c.cpp"));
}

TEST_F(GlobTest, ManyOfThemAreNoSlower) {
  std::filesystem::path deep;
  for (int level = 0; level < 100; ++level) {
    deep /= "d";
  }
  write(deep / "a.cpp");
  const auto start = std::chrono::steady_clock::now();
  std::string pattern;
  for (int part = 0; part < 20; ++part) {
    pattern += "**/d/";
  }
  EXPECT_THAT(sources(pattern + "**/*.cpp"), ElementsAre((deep / "a.cpp").string()));
  // Each by itself multiplied the paths by their depth: 100^20 / 20! of them.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST_F(GlobTest, LinksInACircleDoNotMultiply) {
  write("a/x.cpp");
  for (const char* name : {"b", "c", "d"}) {
    std::filesystem::create_directory_symlink("..", top() / "a" / (std::string("up-") + name));
    std::filesystem::create_directory_symlink(".", top() / "a" / name);
  }
  std::string pattern;
  for (int part = 0; part < 30; ++part) {
    pattern += "*/";
  }
  // By the real path where there is one: whatever way round, it is one directory.
  EXPECT_THAT(sources("*/*.cpp"), ElementsAre("a/x.cpp"));
  EXPECT_LE(sources(pattern + "*.cpp").size(), 1U);
}

} // namespace
} // namespace dcuop::op
