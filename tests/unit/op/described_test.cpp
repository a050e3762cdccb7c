#include "dcuop/op/described.hpp"

#include <nlohmann/json.hpp>

#include "op/tree.hpp"

namespace dcuop::op {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DescribedTest : public TreeTest {
 protected:
  [[nodiscard]] json described() const {
    return {{"label", "train.py:3"},
            {"directory", top().string()},
            {"op", {{"name", "ext"}, {"kind", "pybind"}}},
            {"build", {{"sources", {"src/a.cpp"}}, {"cxx_flags", {"-O1"}}, {"allow_cpu_torch", true}}}};
  }
  static std::filesystem::path no_files(const InlineFiles&) { return "/nonexistent"; }
  static std::string fault(const json& ops) {
    return fault_of([&] { static_cast<void>(read_described(ops, no_files)); });
  }
};

TEST_F(DescribedTest, IsAnOpOfItsDirectory) {
  write("src/a.cpp");
  write("dcuop.toml", "[workspace]\nmembers = []\n[defaults]\ncxx_flags = [\"-O3\"]\n");
  const std::vector<Op> ops = read_described(json::array({described()}), no_files);
  ASSERT_EQ(ops.size(), 1U);
  EXPECT_EQ(ops[0].name, "ext");
  EXPECT_EQ(ops[0].directory, top());
  EXPECT_EQ(ops[0].workspace_root, top());
  EXPECT_EQ(ops[0].manifest, "train.py:3");
  EXPECT_EQ(ops[0].sources[0].path, "src/a.cpp");
  EXPECT_THAT(ops[0].cxx_flags, ElementsAre("-O1")); // no workspace's defaults
  EXPECT_TRUE(ops[0].allow_cpu_torch);
}

TEST_F(DescribedTest, DescribesItselfAgain) {
  json with_files = described();
  with_files.erase("directory");
  with_files["files"] = {{"src/a.cpp", "int x;"}};
  InlineFiles placed;
  const std::vector<Op> ops = read_described(json::array({with_files}), [&](const InlineFiles& files) {
    placed = files;
    write("src/a.cpp", files.at("src/a.cpp"));
    return top();
  });
  EXPECT_EQ(placed, (InlineFiles{{"src/a.cpp", "int x;"}}));
  const json again = json::parse(ops[0].description);
  EXPECT_EQ(again["directory"], top().string());
  EXPECT_FALSE(again.contains("files"));
  EXPECT_EQ(read_described(json::array({again}), no_files)[0].description, ops[0].description);
}

TEST_F(DescribedTest, AnOpsDirectoryIsReadFromItsManifest) {
  write("a.cpp");
  write("dcuop.toml", "[op]\nname = \"own\"\n[build]\nsources = [\"a.cpp\"]\n");
  const Op op = read_described(json::array({{{"manifest", top().string()}}}), no_files)[0];
  EXPECT_EQ(op.name, "own");
  EXPECT_EQ(op.description, "");
  const json both = {{"manifest", top().string()}, {"build", {{"archs", {"gfx906"}}}}};
  EXPECT_THAT(fault(json::array({both})), HasSubstr("are in the dcuop.toml of"));
}

TEST_F(DescribedTest, AManifestsOpIsReadForTheBackendThatIsAskedFor) {
  write("a.cpp");
  write("dcuop.toml", "[op]\nname = \"own\"\n[build]\nsources = [\"a.cpp\"]\n[backend.host]\n");
  const json plain = {{"manifest", top().string()}};
  EXPECT_EQ(read_described(json::array({plain}), no_files)[0].backend, Backend::hip);
  EXPECT_EQ(read_described(json::array({plain}), no_files, Backend::host)[0].backend, Backend::host);
  json asks = plain;
  asks["backend"] = "host";
  EXPECT_EQ(read_described(json::array({asks}), no_files)[0].backend, Backend::host);
  asks["backend"] = "hip";
  EXPECT_EQ(read_described(json::array({asks}), no_files, Backend::host)[0].backend, Backend::hip);
  asks["backend"] = "musa";
  EXPECT_THAT(fault(json::array({asks})), HasSubstr("\"backend\" must be hip, host or cuda"));
}

TEST_F(DescribedTest, WhatHasNoManifestHasOneBuild) {
  write("src/a.cpp");
  EXPECT_EQ(read_described(json::array({described()}), no_files, Backend::host)[0].backend, Backend::hip);
  json asks = described();
  asks["backend"] = "host";
  EXPECT_THAT(fault(json::array({asks})), HasSubstr("\"backend\" is for a \"manifest\""));
}

TEST_F(DescribedTest, ComplaintsNameTheLabel) {
  write("src/a.cpp");
  json wrong = described();
  wrong["build"]["cxx_standard"] = 15;
  EXPECT_THAT(fault(json::array({wrong})),
              HasSubstr("train.py:3: error: 'cxx_standard' in [build] must be one of 14, 17, 20, 23, 26"));
  wrong = described();
  wrong["op"]["name"] = nullptr;
  EXPECT_THAT(fault(json::array({wrong})), HasSubstr("train.py:3: error: 'name' in [op] must be a string"));
  wrong = described();
  wrong["build"]["cxx_flags"] = {"-B/opt/tools"};
  EXPECT_THAT(fault(json::array({wrong})), HasSubstr("chooses the compiler's parts"));
  EXPECT_THAT(fault(json::array({described(), json::object({{"manifest", "x"}})})),
              HasSubstr("described op 2: error:"));
}

TEST(AnyArchTest, IsWhateverTheCompilerKnows) {
  Op op;
  op.archs = {"gfx906"};
  EXPECT_TRUE(op.supports("gfx906:xnack-"));
  EXPECT_FALSE(op.supports("gfx936"));
  EXPECT_FALSE(op.supports_any_arch());
  op.archs = {any_arch};
  EXPECT_TRUE(op.supports("gfx936:sramecc+"));
}

} // namespace
} // namespace dcuop::op
