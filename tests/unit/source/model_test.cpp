#include "dcuop/source/model.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcuop/source/paths.hpp"
#include "dcuop/source/variance.hpp"
#include "dcuop/support/temporary_directory.hpp"

namespace dcuop::source {
namespace {

class ModelTest : public testing::Test {
 protected:
  Model read(const std::map<std::string, std::string>& files) {
    Model::Request request;
    for (const auto& [name, text] : files) {
      std::ofstream(directory_.path() / name) << text;
      if (!name.ends_with(".h")) {
        request.files.push_back(directory_.path() / name);
      }
    }
    return Model::read(request);
  }
  static const Function& only(const Model& model, std::string_view name) {
    const auto all = model.named(name);
    EXPECT_EQ(all.size(), 1U) << name;
    return *all.at(0);
  }

  TemporaryDirectory directory_{Environment::of_this_process()};
};

TEST_F(ModelTest, KnowsFunctionsTheirParametersAndCalls) {
  const Model model = read(
      {{"a.hip", "namespace n { struct S { int f(const float* x, int n = 3) { return g<2>(x, 1); } }; }\n"
                 "__global__ void k(float* y) { y[0] = 1; }\n"
                 "void l(float* y, void* s) { k<<<1, 2, 0, s>>>(y); }\n"}});
  const Function& f = only(model, "f");
  EXPECT_EQ(f.scope, "n::S");
  ASSERT_EQ(f.parameters.size(), 2U);
  EXPECT_EQ(f.parameters[0].type, "const float*");
  EXPECT_TRUE(f.parameters[1].default_value);
  ASSERT_EQ(f.calls.size(), 1U);
  EXPECT_EQ(f.calls[0].name, "g");
  EXPECT_EQ(f.calls[0].template_arguments.size(), 1U);
  EXPECT_TRUE(only(model, "k").has_mark("__global__"));
  const Function& launcher = only(model, "l");
  EXPECT_FALSE(launcher.has_mark("__global__"));
  ASSERT_EQ(launcher.calls.size(), 1U);
  EXPECT_EQ(launcher.calls[0].launch.size(), 4U);
  EXPECT_EQ(launcher.calls[0].arguments.size(), 1U);
  EXPECT_EQ(model.callees(launcher.calls[0]).size(), 1U);
  EXPECT_EQ(model.files()[0]->place(launcher.calls[0].at()).line, 3U);
}

TEST_F(ModelTest, LeavesOutWhatIsNestedTooDeepAndSaysSo) {
  std::string deep = "int ";
  deep.append(100000, '*').append("x;\nvoid f() {}\nint y = ");
  for (int index = 0; index < 100000; ++index) {
    deep += "1+";
  }
  const Model model = read({{"a.hip", deep + "1;\nvoid g() {}\n"}});
  EXPECT_EQ(model.functions().size(), 2U);
  EXPECT_EQ(model.files()[0]->not_understood.size(), 2U);
}

TEST_F(ModelTest, ReadsTensOfThousandsOfFunctions) { // of a generated file
  std::string text;
  for (int index = 0; index < 20000; ++index) {
    text += "void f" + std::to_string(index) + "() {}\n";
  }
  EXPECT_EQ(read({{"a.hip", text}}).functions().size(), 20000U);
}

TEST_F(ModelTest, ReadsHeadersThatAreNamedInQuotes) {
  const Model model = read({{"a.cpp", "#include \"b.h\"\n#include <c.h>\nint x;"},
                            {"b.h", "enum { one = 1, two, five = two + 3 };"}});
  ASSERT_EQ(model.files().size(), 2U);
  EXPECT_TRUE(model.files()[1]->is_included);
}

TEST_F(ModelTest, FoldsConstants) {
  const Model model =
      read({{"a.cpp",
             "enum { one = 1, two, five = two + 3 };\n#define MODE 0x2\nconstexpr int big = 1 << 4 | MODE;\n"
             "const int ambiguous = 1;\nvoid f() { const int ambiguous = 2; g(big, five, ambiguous, "
             "-(int)one, 7 / (two - 2)); }"}});
  const auto& call = only(model, "f").calls.at(0);
  EXPECT_EQ(model.fold(call.arguments[0]), 18);
  EXPECT_EQ(model.fold(call.arguments[1]), 5);
  EXPECT_EQ(model.fold(call.arguments[2]), std::nullopt);
  EXPECT_EQ(model.fold(call.arguments[3]), -1);
  EXPECT_EQ(model.fold(call.arguments[4]), std::nullopt);
}

TEST_F(ModelTest, ParsesTheBodiesOfMacros) {
  const Model model =
      read({{"a.cpp", "#define CHECK_ALL(x) \\\n  do { TORCH_CHECK(x.is_cuda()); \\\n  "
                      "TORCH_CHECK(x.is_contiguous()); } while (0)\nvoid f(T x) { CHECK_ALL(x); }"}});
  const Function& macro = only(model, "CHECK_ALL");
  EXPECT_TRUE(macro.is_macro);
  std::vector<std::string> names;
  for (const auto& call : macro.calls) {
    names.push_back(call.name);
  }
  EXPECT_THAT(names, testing::ElementsAre("TORCH_CHECK", "is_cuda", "TORCH_CHECK", "is_contiguous"));
  EXPECT_EQ(macro.file->place(macro.calls[2].at()).line, 3U);
}

TEST_F(ModelTest, KnowsDeclaredTypes) {
  const Model model = read(
      {{"a.h", "class C { GlobalTensor<float> x_; void f(); };"},
       {"a.cpp",
        "#include \"a.h\"\nint y;\nvoid C::f() { LocalTensor<half> t = q(); float* p[3]; x_.f(t, p, y); }"}});
  const Function& f = only(model, "f");
  EXPECT_EQ(model.type_of("x_", f), "GlobalTensor<float>");
  EXPECT_EQ(model.type_of("t", f), "LocalTensor<half>");
  EXPECT_EQ(model.type_of("y", f), "int");
  EXPECT_EQ(model.type_of("z", f), "");
}

TEST_F(ModelTest, OneFunctionOfSeveralConfigurationsIsOne) {
  const Model model =
      read({{"a.cpp", "void f() {}\n#ifdef A\nvoid g() { a(); }\n#else\nvoid g() { b(); }\n#endif\n"}});
  EXPECT_EQ(model.named("f").size(), 1U);
  EXPECT_EQ(model.named("f")[0]->variants.size(), 2U);
  EXPECT_EQ(model.named("g").size(), 2U);
}

TEST_F(ModelTest, SaysWhatItDidNotUnderstand) {
  const Model model =
      read({{"a.cpp", "void f() { int = = 3 ) ( ; }\nvoid g() {}\n"}, {"b.cpp", std::string("a\0b", 3)}});
  EXPECT_FALSE(model.files()[0]->not_understood.empty());
  EXPECT_GT(model.files()[0]->damage(), 0.0);
  EXPECT_EQ(model.files()[1]->fault, "it is no text");
}

struct Counter {
  static constexpr int unknown = -1;
  std::vector<int> exits;
  std::vector<std::size_t> guards;
  void visit(Node node, int& state, const Guards&) {
    node.each([&](Node one) { state += one.is("call_expression") && state != unknown ? 1 : 0; });
  }
  static int joined(int a, int b) { return a == b ? a : unknown; }
  void leaves(Node, int state, const Guards& all) {
    exits.push_back(state);
    guards.push_back(all.size());
  }
};

std::vector<int> counted(const Function& function) {
  Counter counter;
  PathWalk<int, Counter>(counter).run(function.body, 0);
  return counter.exits;
}

TEST_F(ModelTest, WalksEveryPath) {
  const Model model = read(
      {{"a.cpp", "void a() { if (x) { f(); } else { f(); } f(); }\n"
                 "void b() { if (x) { return; } f(); }\n"
                 "void c() { for (;;) { f(); } }\n"
                 "void d() { while (true) { if (x) { break; } if (y) continue; } f(); }\n"
                 "void e() { switch (x) { case 1: f(); break; case 2: f(); default: g; } }\n"
                 "void h() { switch (x) { case 1: f(); break; default: f(); } do { f(); } while (0); }\n"}});
  EXPECT_THAT(counted(only(model, "a")), testing::ElementsAre(2));
  EXPECT_THAT(counted(only(model, "b")), testing::ElementsAre(0, 1));
  EXPECT_THAT(counted(only(model, "c")), testing::ElementsAre(Counter::unknown));
  EXPECT_THAT(counted(only(model, "d")), testing::ElementsAre(1));
  EXPECT_THAT(counted(only(model, "e")), testing::ElementsAre(Counter::unknown));
  EXPECT_THAT(counted(only(model, "h")), testing::ElementsAre(2));
}

TEST_F(ModelTest, KnowsWhatDiffersAmongThreadsAndBlocks) {
  const Model model = read(
      {{"a.hip",
        "__global__ void k(int n) { int i = blockIdx.x * 4 + threadIdx.x; int j = blockIdx.x; int m = n;\n"
        "  __shared__ int s; s = i; int t = s; g(i, j, m, t); }"}});
  const Function& k = only(model, "k");
  const VarianceTable table(k, hip_seeds());
  const auto& arguments = k.calls.back().arguments;
  EXPECT_TRUE(table.of(arguments[0]).thread && table.of(arguments[0]).block);
  EXPECT_TRUE(!table.of(arguments[1]).thread && table.of(arguments[1]).block);
  EXPECT_FALSE(table.of(arguments[2]).any());
  EXPECT_FALSE(table.of(arguments[3]).any());
}

/// The guards of each call, as text: "!(x)" for one that does not hold, "~" before one at which some left.
struct GuardReader {
  std::map<std::string, std::string> guards;
  void visit(Node node, bool&, const Guards& around) {
    each_evaluated(node, around, [&](Node one, const Guards& inner) {
      std::string& text = guards[one.is("call_expression") ? last_name(one.child("function")) : ""];
      text.clear();
      for (const Guard& guard : inner) {
        text += (guard.left == Guard::Left::nothing ? "" : "~") + std::string(guard.taken ? "" : "!") +
                std::string(guard.condition.text()) + " ";
      }
    });
  }
  static bool joined(bool a, bool) { return a; }
  void leaves(Node, bool, const Guards&) {}
};

TEST_F(ModelTest, KnowsWhoLeftBeforeAndWhatIsEvaluated) {
  const Model model =
      read({{"a.cpp", "void a() { if (x) { if (y) return; } f(); }\n"
                      "void b() { if (x) goto end; f(); end: g(); }\n"
                      "void c() { for (;z;) { if (x) break; f(); } g(); }\n"
                      "void d() { x ? f() : g(); z = y && h(); }\n"
                      "void e() { if (x) { return; } else { f(); } auto l = [] { g(); }; }\n"}});
  const auto guards = [&](const char* name) {
    GuardReader reader;
    PathWalk<bool, GuardReader>(reader).run(only(model, name).body, false);
    reader.guards.erase("");
    return reader.guards;
  };
  using Texts = std::map<std::string, std::string>;
  EXPECT_EQ(guards("a"), (Texts{{"f", "~!(x) ~!(y) "}}));
  EXPECT_EQ(guards("b"), (Texts{{"f", "~!(x) "}, {"g", ""}}));
  EXPECT_EQ(guards("c"), (Texts{{"f", "z ~!(x) "}, {"g", ""}}));
  EXPECT_EQ(guards("d"), (Texts{{"f", "x "}, {"g", "!x "}, {"h", "y "}}));
  EXPECT_EQ(guards("e"), (Texts{{"f", "!(x) "}}));
}

TEST_F(ModelTest, KnowsWhatACalledVariableHolds) {
  const Model model =
      read({{"a.cpp", "void w() {}\ntemplate <class F> void run(F f) { f(); }\n"
                      "struct S { void operator()() {} };\n"
                      "void k() { auto l = [] { g(); }; l(); auto p = &w; p(); S s; s(); run(l); }\n"
                      "void other() { l(); }\n"}});
  const auto called = [&](const char* in, const char* name) {
    std::vector<std::string> names;
    for (const Call& call : only(model, in).calls) {
      for (const Function* callee :
           call.name == name ? model.callees(call) : std::vector<const Function*>()) {
        names.push_back(callee->name);
      }
    }
    return names;
  };
  EXPECT_THAT(called("k", "l"), testing::ElementsAre("l"));
  EXPECT_THAT(called("k", "p"), testing::ElementsAre("w"));
  EXPECT_THAT(called("k", "s"), testing::ElementsAre("operator()"));
  EXPECT_THAT(called("run", "f"), testing::ElementsAre("l"));
  EXPECT_THAT(called("other", "l"), testing::IsEmpty());
  EXPECT_EQ(model.lambdas().size(), 1U);
}

TEST_F(ModelTest, VarianceGoesThroughCallsMembersAndMacros) {
  const Model model = read(
      {{"a.hip",
        "#define LANE (threadIdx.x % 64)\n#define WIDTH (blockDim.x % 64)\n"
        "struct C { int l, n; __device__ C(int m) : l(threadIdx.x), n(m) {}\n"
        "  __device__ int lane() { return l; } __device__ int size() { return n; } };\n"
        "__device__ int block() { return blockIdx.x; }\n__device__ void row(int& r) { r = threadIdx.y; }\n"
        "__device__ bool first(int i) { if (threadIdx.x == i) return true; return false; }\n"
        "__device__ int same(int i) { return i; }\n"
        "__global__ void k(C c, int m) { int r; row(r);\n"
        "  g(LANE, WIDTH, c.lane(), c.size(), block(), r, first(m), same(m), same(LANE)); }\n"}});
  const ModelVariance all(model, hip_seeds());
  const Function& k = only(model, "k");
  std::string text;
  for (const Call& call : k.calls) {
    for (const Node argument : call.name == "g" ? call.arguments : std::vector<Node>()) {
      const Variance variance = all.of(k).of(argument);
      text += variance.thread ? "t" : variance.block ? "b" : "-";
    }
  }
  EXPECT_EQ(text, "t-t-btt-t");
}

TEST_F(ModelTest, VarianceStaysInAFunctionWhereANamespaceHasTheSameName) {
  const Model model =
      read({{"a.hip", "namespace n { int i;\n"
                      "__global__ void writes() { int i = threadIdx.x; g(i); }\n"
                      "__global__ void counts(int m) { for (int i = 0; i < m; ++i) { g(i); } }}\n"}});
  const ModelVariance all(model, hip_seeds());
  const auto variance = [&](const char* name) {
    const Function& function = only(model, name);
    return all.of(function).of(function.calls.at(0).arguments.at(0)).thread;
  };
  EXPECT_TRUE(variance("writes"));
  EXPECT_FALSE(variance("counts"));
}

} // namespace
} // namespace dcuop::source
