#include <gmock/gmock.h>

#include "clinic.hpp"

namespace dcuop::doctor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SymbolChecks : public Clinic {
 protected:
  /// A Python module `name` with `body` besides.
  std::filesystem::path module(const std::string& name, const std::string& body,
                               std::vector<std::string> options = {}) {
    const auto stem = name.substr(0, name.find('.'));
    return build(name,
                 body +
                     "\nextern \"C\" int PyModule_Create2(void*, int);\n"
                     "extern \"C\" void* PyInit_" +
                     stem + "() { PyModule_Create2(nullptr, 1013); return nullptr; }\n",
                 std::move(options), true);
  }
  static std::string library(const std::string& name) { return "/usr/lib/x86_64-linux-gnu/" + name; }
  static bool there(const std::string& path) { return std::filesystem::exists(path); }
};

TEST_F(SymbolChecks, FindNothingInTorchsOwnModule) {
  if (!has_torch()) {
    GTEST_SKIP() << "no torch here";
  }
  for (const char* name : {"_C", "_C_flatbuffer"}) {
    const auto report = examine(facts().torch->package / (name + facts().python->ext_suffix));
    EXPECT_THAT(errors_of(report), IsEmpty()) << name << ": " << report.headline;
    EXPECT_EQ(report.verdict, Verdict::loads);
  }
}

TEST_F(SymbolChecks, FindNothingInNumpysModules) {
  const std::filesystem::path numpy = "/usr/lib/python3/dist-packages/numpy";
  if (!there(numpy)) {
    GTEST_SKIP() << "no numpy here";
  }
  int examined = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(numpy)) {
    if (entry.path().extension() == ".so") {
      ++examined;
      const auto report = examine(entry.path());
      EXPECT_THAT(errors_of(report), IsEmpty()) << entry.path() << report.headline;
    }
  }
  EXPECT_GT(examined, 5);
}

TEST_F(SymbolChecks, FindNothingInAModuleThatUsesPythonItself) {
  const auto report = examine(
      module("fine.so", "extern \"C\" void* PyExc_ValueError; void* p() { return PyExc_ValueError; }"));
  EXPECT_THAT(errors_of(report), IsEmpty()) << report.headline;
}

TEST_F(SymbolChecks, NameTheOwnSourceThatIsMissing) {
  const auto report = examine(
      module("own.so", "namespace op { void launch(float*, int); void f() { launch(nullptr, 1); } }"));
  EXPECT_THAT(errors_of(report), ElementsAre("DCU218"));
  EXPECT_EQ(report.findings.front().cause, "undefined symbol op::launch(float*, int)");
  EXPECT_EQ(report.headline, "does not load: a source of its own is missing from it.");
}

TEST_F(SymbolChecks, SayHowDeclarationAndDefinitionDiffer) {
  const auto parameters =
      examine(module("parameters.so", "void launch(float*, long) {}\n"
                                      "namespace n { void f() { void launch(float*, int); } }\n"
                                      "void launch(float*, int); void g() { launch(nullptr, 1); }"));
  EXPECT_THAT(evidence_of(parameters, "DCU218"), HasSubstr("the file defines launch(float*, long)"));
  const auto linkage =
      examine(module("linkage.so", "extern \"C\" void launch(float*) {}\n"
                                   "namespace other { }\n"
                                   "void launch(int*, int); void g() { launch(nullptr, 1); }"));
  EXPECT_THAT(evidence_of(linkage, "DCU218"), HasSubstr("with C linkage"));
}

TEST_F(SymbolChecks, GroupManySymbolsOfOneCause) {
  std::string body;
  for (int i = 0; i < 9; ++i) {
    const auto name = "part" + std::to_string(i);
    body += "void " + name + "(); void use_" + name + "() { " + name + "(); }\n";
  }
  const auto report = examine(module("many.so", body));
  ASSERT_THAT(errors_of(report), ElementsAre("DCU218"));
  EXPECT_THAT(report.findings.front().cause, HasSubstr(" and 8 others"));
  EXPECT_THAT(evidence_of(report, "DCU218"), HasSubstr("also: 5 more symbols"));
}

TEST_F(SymbolChecks, NameTheOtherStringAbi) {
  if (!has_torch()) {
    GTEST_SKIP() << "no torch here";
  }
  const auto report =
      examine(module("abi.so",
                     "#include <string>\n"
                     "namespace c10 { struct SourceLocation { const char *a, *b; unsigned c; };\n"
                     "struct Error { Error(SourceLocation, std::string); }; }\n"
                     "void f() { c10::Error error({}, \"\"); }",
                     {"-D_GLIBCXX_USE_CXX11_ABI=0", library("libc10.so.1.13")}));
  ASSERT_THAT(errors_of(report), ElementsAre("DCU211")) << report.headline;
  EXPECT_THAT(report.findings.front().cause,
              HasSubstr("c10::Error::Error(c10::SourceLocation, std::string)"));
  EXPECT_THAT(evidence_of(report, "DCU211"), HasSubstr("libc10.so"));
  EXPECT_THAT(evidence_of(report, "DCU211"), HasSubstr("torch with 1"));
}

TEST_F(SymbolChecks, NameAnotherTorchAndWhatThisOneOffers) {
  if (!has_torch()) {
    GTEST_SKIP() << "no torch here";
  }
  const auto report =
      examine(module("skew.so",
                     "namespace c10 { enum class DeviceType : char {}; void* GetAllocator(const long&);\n"
                     "void never_was_there(int); }\n"
                     "void f() { c10::GetAllocator(1); c10::never_was_there(2); }",
                     {library("libc10.so.1.13")}));
  ASSERT_THAT(errors_of(report), ElementsAre("DCU210")) << report.headline;
  EXPECT_EQ(report.headline, "does not load: it was built for another PyTorch.");
  const auto evidence = evidence_of(report, "DCU210");
  EXPECT_THAT(evidence, HasSubstr("of torch " + facts().torch->summary() +
                                  " has c10::GetAllocator(c10::DeviceType const&)"));
  EXPECT_THAT(evidence, HasSubstr("also: c10::never_was_there(int)"));
}

TEST_F(SymbolChecks, NameTheLibraryOfTorchThatIsNotLinked) {
  if (!has_torch()) {
    GTEST_SKIP() << "no torch here";
  }
  const auto report = examine(
      module("unlinked.so", "extern \"C\" void* THPVariableClass; void* f() { return THPVariableClass; }"));
  ASSERT_THAT(errors_of(report), ElementsAre("DCU212")) << report.headline;
  EXPECT_THAT(report.headline, HasSubstr("it is not linked to libtorch_python.so"));
  EXPECT_THAT(find(report, "DCU212")->fix, HasSubstr("-ltorch_python"));
}

TEST_F(SymbolChecks, CallACudaBuildByItsName) {
  const auto calls = examine(module(
      "calls.so",
      "extern \"C\" int cudaMalloc(void**, unsigned long); int f() { return cudaMalloc(nullptr, 1); }"));
  EXPECT_THAT(errors_of(calls), ElementsAre("DCU216"));
  build("libcudart.so.12", "int cudaMalloc(void) { return 0; }", {"-Wl,-soname,libcudart.so.12"});
  const auto linked =
      module("linked.so",
             "extern \"C\" int cudaMalloc(void**, unsigned long); int f() { return cudaMalloc(nullptr, 1); }",
             {(directory_ / "libcudart.so.12").string()});
  std::filesystem::remove(directory_ / "libcudart.so.12");
  const auto report = examine(linked);
  EXPECT_THAT(errors_of(report), ElementsAre("DCU203")) << "cudaMalloc is a consequence of the library";
  EXPECT_EQ(report.headline, "does not load: it is a CUDA build.");
}

TEST_F(SymbolChecks, NameTheDeviceLinkThatIsMissing) {
  const auto report = examine(
      module("rdc.so", "extern \"C\" char __hip_fatbin_1a2b; char* f() { return &__hip_fatbin_1a2b; }"));
  EXPECT_THAT(errors_of(report), ElementsAre("DCU214"));
}

TEST_F(SymbolChecks, NameAnotherPython) {
  const auto report = examine(
      module("snake.so", "extern \"C\" void* PyNever_WasThere(); void* f() { return PyNever_WasThere(); }"));
  ASSERT_THAT(errors_of(report), ElementsAre("DCU215"));
  EXPECT_THAT(evidence_of(report, "DCU215"), HasSubstr("is Python " + facts().python->version));
}

TEST_F(SymbolChecks, NameTheHipFunctionThatTheRuntimeLacks) {
  if (!there(library("libamdhip64.so.5"))) {
    GTEST_SKIP() << "no HIP runtime here";
  }
  const std::string body = "extern \"C\" int hipGetDevicePropertiesR0600(void*, int); int f() { return "
                           "hipGetDevicePropertiesR0600(nullptr, 0); }";
  const auto linked = examine(module("hip.so", body, {"-Wl,--no-as-needed", library("libamdhip64.so.5")}));
  ASSERT_THAT(errors_of(linked), ElementsAre("DCU213")) << linked.headline;
  EXPECT_THAT(evidence_of(linked, "DCU213"), HasSubstr("has hipGetDeviceProperties\n"));
  const auto unlinked = examine(module("nohip.so", body));
  EXPECT_THAT(errors_of(unlinked), ElementsAre("DCU217"));
  EXPECT_THAT(find(unlinked, "DCU217")->fix, HasSubstr("-lamdhip64"));
}

TEST_F(SymbolChecks, KeepTwoIndependentCausesApart) {
  build("libcudart.so.12", "int cudaMalloc(void) { return 0; }", {"-Wl,-soname,libcudart.so.12"});
  const auto file = module(
      "two.so", "extern \"C\" int cudaMalloc(); void own(int); int f() { own(1); return cudaMalloc(); }",
      {(directory_ / "libcudart.so.12").string()});
  std::filesystem::remove(directory_ / "libcudart.so.12");
  EXPECT_THAT(errors_of(examine(file)), ElementsAre("DCU203", "DCU218"));
}

TEST_F(SymbolChecks, WantTheInitFunctionOfTheName) {
  const auto renamed = module("before.so", "");
  std::filesystem::rename(renamed, directory_ / "after.so");
  const auto report = examine(directory_ / "after.so");
  ASSERT_THAT(errors_of(report), ElementsAre("DCU231"));
  EXPECT_EQ(report.headline, "does not load: it was built as module before, not after.");

  const auto plain = build("plain" + facts().python->ext_suffix, "void initplain(void) {}");
  const auto python2 = examine(plain);
  ASSERT_THAT(errors_of(python2), ElementsAre("DCU230"));
  EXPECT_THAT(evidence_of(python2, "DCU230"), HasSubstr("Python 2"));
  const auto lib = module("libafter.so", "");
  std::filesystem::rename(lib, directory_ / "libother.so");
  EXPECT_THAT(errors_of(examine(directory_ / "libother.so")), IsEmpty()) << "nobody imports lib*.so";
  Question library_question;
  library_question.file = plain;
  library_question.use = Use::library;
  EXPECT_THAT(errors_of(diagnose(library_question, facts(), machine())), IsEmpty());
}

TEST_F(SymbolChecks, SayThatANameIsTaggedForAnotherPython) {
  const auto other = module("tagged.cpython-32-x86_64-linux-gnu.so", "");
  const auto report = examine(other);
  EXPECT_THAT(errors_of(report), IsEmpty());
  const auto* const finding = find(report, "DCU233");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->cause, "Python " + facts().python->version + " imports tagged from names that end in " +
                                facts().python->ext_suffix +
                                ", .abi3.so or .so, not in .cpython-32-x86_64-linux-gnu.so");
  for (const std::string& suffix :
       {facts().python->ext_suffix, std::string(".abi3.so"), std::string(".so")}) {
    EXPECT_EQ(find(examine(module("tagged" + suffix, "")), "DCU233"), nullptr) << suffix;
  }
}

} // namespace
} // namespace dcuop::doctor
