// What a build for CUDA says, as dcuop takes it.

#include "../../../src/op/foreign_flags.hpp"
#include "../../../src/op/foreign_setup.hpp"
#include "../../../src/op/foreign_sources.hpp"
#include "dcuop/op/proposal.hpp"
#include "tree.hpp"

namespace dcuop::op {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Texts = std::vector<std::string>;

TEST(ForeignFlags, WhatIsNvccsIsLeftOutWithItsValue) {
  const CarriedFlags flags =
      carried_flags({"-O3", "-gencode", "arch=compute_80,code=sm_80", "--use_fast_math", "-Xcompiler",
                     "-fPIC", "--ptxas-options=-v", "-DA=1", "-t", "4", "-lineinfo", "-Wall"},
                    ForeignCompiler::nvcc);
  EXPECT_THAT(flags.kept, ElementsAre("-O3", "-DA=1", "-Wall"));
  EXPECT_THAT(flags.left_out, ElementsAre(StartsWith("-gencode arch=compute_80,code=sm_80: "),
                                          StartsWith("--use_fast_math: "), StartsWith("-Xcompiler -fPIC: "),
                                          StartsWith("--ptxas-options=-v: "), StartsWith("-t 4: "),
                                          StartsWith("-lineinfo: ")));
}

TEST(ForeignFlags, WhatOnlyBeginsLikeNvccsStays) {
  // -threads is nvcc's, -t too; -ftime-report, -Gx and --tx are not.
  EXPECT_THAT(carried_flags({"-ftemplate-depth=9", "-Xclang", "-code-like", "-gline-tables-only"},
                            ForeignCompiler::nvcc)
                  .kept,
              ElementsAre("-ftemplate-depth=9", "-Xclang", "-code-like", "-gline-tables-only"));
  EXPECT_THAT(carried_flags({"-t"}, ForeignCompiler::host).kept, ElementsAre("-t"));
}

TEST(ForeignFlags, AValueAtTheEndIsNotLookedFor) {
  EXPECT_THAT(carried_flags({"-gencode"}, ForeignCompiler::nvcc).left_out,
              ElementsAre(StartsWith("-gencode: ")));
}

TEST(ForeignFlags, TheStandardBecomesTheKey) {
  const CarriedFlags flags =
      carried_flags({"-std=c++17", "--std=gnu++20", "-std=c++11"}, ForeignCompiler::host);
  EXPECT_EQ(flags.cxx_standard, 20);
  EXPECT_THAT(flags.kept, ElementsAre("-std=c++11"));
  EXPECT_EQ(carried_flags({"-O2"}, ForeignCompiler::host).cxx_standard, std::nullopt);
}

TEST(ForeignFlags, WhatAManifestRefusesIsLeftOut) {
  const CarriedFlags flags = carried_flags(
      {"-fplugin=x.so", "-o", "a.o", "-MMD", "@flags", "-D", "X", "stray"}, ForeignCompiler::host);
  EXPECT_THAT(flags.kept, ElementsAre("-D", "X"));
  EXPECT_EQ(flags.left_out.size(), 6U);
}

TEST(ForeignFlags, LibrariesOfCudaHaveCounterparts) {
  EXPECT_EQ(why_not_linked("cublas"), "is CUDA's; HIP has hipblas");
  EXPECT_EQ(why_not_linked("cudart"), "is CUDA's; the HIP runtime takes its place");
  EXPECT_EQ(why_not_linked("m"), std::nullopt);
}

TEST(ForeignSources, CommentsAreTakenOut) {
  EXPECT_EQ(without_comments("a // b\nc /* d\n */ e"), "a \nc   e");
  EXPECT_EQ(without_comments("x = \"// no\"; // yes"), "x = \"// no\"; ");
  EXPECT_EQ(without_comments("\"a\\\"//\" b"), "\"a\\\"//\" b");
  EXPECT_EQ(without_comments("a /* open"), "a  ");
  EXPECT_EQ(without_comments("\"open \\"), "\"open \\");
}

class ForeignTest : public TreeTest {
 protected:
  [[nodiscard]] SourceSigns signs(const std::string& text) const {
    write("a.cpp", text);
    return signs_in(top(), {"a.cpp"});
  }
  [[nodiscard]] Proposal proposed(const std::string& setup = {}, const std::string& name = {}) const {
    return propose({top(), setup, "", name, {}});
  }
};

TEST_F(ForeignTest, TheSourcesTellTheKind) {
  EXPECT_EQ(signs("PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}").kind, Kind::pybind_module);
  EXPECT_EQ(signs("PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}").module_name, "");
  EXPECT_EQ(signs("PYBIND11_MODULE( fast , m) {}").module_name, "fast");
  EXPECT_EQ(signs("TORCH_LIBRARY(ns, m) {}").kind, Kind::torch_library);
  EXPECT_EQ(signs("TORCH_LIBRARY_IMPL(ns, CUDA, m) {}").evidence, "TORCH_LIBRARY_IMPL in a.cpp");
  EXPECT_EQ(signs("TORCH_LIBRARY(ns, m) {}\nPYBIND11_MODULE(x, m) {}").kind, Kind::pybind_module);
  EXPECT_EQ(signs("// PYBIND11_MODULE(x, m)\nMY_PYBIND11_MODULE(y, m)").kind, Kind::plain);
  EXPECT_EQ(signs("PyMODINIT_FUNC PyInit_x() {}").kind, Kind::pybind_module);
  EXPECT_EQ(signs("#include <torch/torch.h>\n").abi, Abi::torch);
  EXPECT_EQ(signs("int f();").abi, Abi::none);
}

TEST_F(ForeignTest, HeadersOfCudaAreNamedOnceAFile) {
  write("cuda_own.h");
  EXPECT_THAT(signs("#include <cuda_runtime.h>\n#include <cublas_v2.h>\n").cuda_includes,
              ElementsAre("a.cpp (cuda_runtime.h)"));
  EXPECT_THAT(signs("#include \"cuda_own.h\"\n#include <hip/hip_runtime.h>\n").cuda_includes, IsEmpty());
}

TEST_F(ForeignTest, CopiesAndHiddenFilesAreNoSources) {
  for (const char* const path :
       {"a.cu", "b/c.cpp", "build/d.cpp", ".git/e.cpp", "b/f.h", "third_party/g.cu"}) {
    write(path);
  }
  std::filesystem::create_directory_symlink(top() / "b", top() / "link");
  EXPECT_THAT(compilable_below(top()), ElementsAre("a.cu", "b/c.cpp"));
}

TEST_F(ForeignTest, WhatTheReaderDidNotPrintIsAProblem) {
  EXPECT_EQ(read_foreign_setup("").problem, "");
  for (const char* const text :
       {"{", "[]", "{\"extensions\": 1}", "{\"extensions\": [{}], \"assumed\": []}",
        R"({"extensions": [], "assumed": [{"line": "x", "text": ""}], "problem": null})"}) {
    EXPECT_THAT(read_foreign_setup(text).problem, StartsWith("what was read of it is not understood"))
        << text;
  }
}

TEST_F(ForeignTest, WithoutASetupTheSourcesAreProposed) {
  write("a.cu", "#include <cuda_runtime.h>\n");
  const Proposal proposal = proposed({}, "fast");
  EXPECT_EQ(proposal.refusal, "");
  EXPECT_EQ(proposal.name, "fast");
  EXPECT_THAT(proposal.manifest, HasSubstr("sources = [\"a.cu\"]\n"));
  EXPECT_THAT(proposal.manifest, HasSubstr("archs = [\"*\"]\n"));
  EXPECT_THAT(proposal.manifest, HasSubstr("# There is no setup.py.\n"));
  EXPECT_THAT(proposal.manifest, HasSubstr("a.cu (cuda_runtime.h)"));
}

TEST_F(ForeignTest, WhatHipifyMadeGoesBeforeItsOriginal) {
  write("a.cu");
  write("a.hip");
  EXPECT_THAT(proposed({}, "fast").manifest, HasSubstr("sources = [\"a.hip\"]\n"));
}

TEST_F(ForeignTest, NothingToCompileIsAnError) {
  write("README");
  EXPECT_THAT(fault_of([&] { (void)proposed(); }), HasSubstr("no source in it"));
}

constexpr const char* two = R"({"assumed": [], "problem": null, "extensions": [
  {"class": "CUDAExtension", "line": 3, "name": "pkg._A", "sources": ["a.cu", "gone.cu", "n.pyx"], "include_dirs": ["no"],
   "macros": ["X"], "undef_macros": [], "cxx": ["-O2\n"], "nvcc": [], "extra_link_args": [], "libraries": ["cublas"],
   "library_dirs": [], "unread": [{"field": "sources", "line": 4, "text": "more\n[op]"}]},
  {"class": "CppExtension", "line": 9, "name": "pkg._B", "sources": ["b.cpp"], "include_dirs": [], "macros": [],
   "undef_macros": [], "cxx": [], "nvcc": [], "extra_link_args": [], "libraries": [], "library_dirs": [], "unread": []}]})";

TEST_F(ForeignTest, OneExtensionIsProposedAndTheOthersAreNamed) {
  write("a.cu");
  write("b.cpp");
  write("n.pyx");
  const Proposal first = proposed(two);
  EXPECT_EQ(first.name, "_A");
  EXPECT_THAT(first.others, ElementsAre("pkg._B"));
  EXPECT_EQ(proposed(two, "_B").name, "_B");
  EXPECT_THAT(proposed(two, "pkg._B").manifest, HasSubstr("sources = [\"b.cpp\"]"));
  EXPECT_THAT(fault_of([&] { (void)proposed(two, "_C"); }), StartsWith("setup.py makes no extension '_C'"));
}

TEST_F(ForeignTest, WhatIsNotCarriedOverIsSaid) {
  write("a.cu");
  write("n.pyx");
  const std::string manifest = proposed(two).manifest;
  EXPECT_THAT(manifest, HasSubstr("# Not read: setup.py:4: more [op]\n"));
  EXPECT_THAT(manifest, HasSubstr("# Left out: gone.cu does not exist.\n"));
  EXPECT_THAT(manifest, HasSubstr("# Left out: n.pyx is neither"));
  EXPECT_THAT(manifest, HasSubstr("# Left out: include directory no does not exist.\n"));
  EXPECT_THAT(manifest, HasSubstr("# Left out of libraries: cublas is CUDA's"));
  EXPECT_THAT(manifest, HasSubstr("hip_flags = [\"-DX\"]\n"));
}

TEST_F(ForeignTest, WhatDcuopWouldRefuseIsToldInTheProposal) {
  write("a.cu");
  write("n.pyx");
  const Proposal proposal = proposed(two);
  EXPECT_THAT(proposal.manifest, HasSubstr("\"-O2\\u000a\""));
  EXPECT_THAT(proposal.refusal, HasSubstr("control character"));
  EXPECT_THAT(proposal.manifest, HasSubstr("# As it stands dcuop refuses this: "));
}

TEST_F(ForeignTest, AllThatIsReadOfItIsOnePythonText) {
  EXPECT_THAT(std::string(setup_reader()), HasSubstr("import ast"));
  EXPECT_THAT(std::string(setup_reader()), Not(HasSubstr(std::string(1, '\0'))));
}

} // namespace
} // namespace dcuop::op
