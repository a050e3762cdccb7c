#include "dcuop/op/manifest.hpp"

#include <set>

#include "op/tree.hpp"

namespace dcuop::op {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

class ManifestTest : public TreeTest {
 protected:
  /// The fault of ops/affine/dcuop.toml with this content, beside a.cpp and k.hip.
  std::string fault(const std::string& content) const {
    write("ops/affine/a.cpp");
    write("ops/affine/k.hip");
    const std::filesystem::path path = write("ops/affine/dcuop.toml", content);
    return fault_of([&] { static_cast<void>(read_op(path)); });
  }
  std::string fault_in_build(const std::string& line) const {
    return fault("[build]\nsources = [\"a.cpp\"]\n" + line + "\n");
  }
};

TEST_F(ManifestTest, ReadsEveryKey) {
  for (const char* name : {"b.cpp", "k.hip", "old.cu", "plain.c", "x.cc", "y.cxx"}) {
    write(std::filesystem::path("ops/affine") / name);
  }
  write("ops/affine/inc/op.h");
  const Op op = read_op(write("ops/affine/dcuop.toml", R"([op]
name = "scaled"
kind = "torch-library"
abi = "torch-python"
[build]
sources = ["b.cpp", "k.hip", "old.cu", "plain.c", "x.cc", "y.cxx"]
include_dirs = ["inc", "/opt/absent/include"]
cxx_standard = 20
cxx_flags = ["-O2", "-DNAME=\"a b\""]
hip_flags = ["-ffast-math"]
link_flags = ["-Wl,-Bsymbolic"]
libraries = ["numa", ":libfoo.so.1"]
archs = ["gfx906", "gfx936:sramecc+:xnack-"]
host_compiler = "toolchain"
allow_cpu_torch = true
[build.arch_flags]
"gfx936:sramecc+:xnack-" = ["-DWIDE"]
)"));
  EXPECT_EQ(op.name, "scaled");
  EXPECT_EQ(op.directory, top() / "ops/affine");
  EXPECT_EQ(op.manifest, top() / "ops/affine/dcuop.toml");
  EXPECT_EQ(op.workspace_root, op.directory);
  EXPECT_EQ(op.kind, Kind::torch_library);
  EXPECT_EQ(op.abi, Abi::torch_python);
  EXPECT_EQ(op.cxx_standard, 20);
  std::vector<std::string> sources;
  for (const Source& source : op.sources) {
    sources.push_back(source.path.string() + " " + to_string(source.language));
  }
  EXPECT_THAT(sources,
              ElementsAre("b.cpp cxx", "k.hip hip", "old.cu hip", "plain.c c", "x.cc cxx", "y.cxx cxx"));
  EXPECT_THAT(op.include_dirs, ElementsAre(top() / "ops/affine/inc", "/opt/absent/include"));
  EXPECT_THAT(op.cxx_flags, ElementsAre("-O2", "-DNAME=\"a b\""));
  EXPECT_THAT(op.hip_flags, ElementsAre("-ffast-math"));
  EXPECT_THAT(op.link_flags, ElementsAre("-Wl,-Bsymbolic"));
  EXPECT_THAT(op.libraries, ElementsAre("numa", ":libfoo.so.1"));
  EXPECT_THAT(op.archs, ElementsAre("gfx906", "gfx936:sramecc+:xnack-"));
  EXPECT_THAT(op.arch_flags, ElementsAre(Pair("gfx936:sramecc+:xnack-", ElementsAre("-DWIDE"))));
  EXPECT_EQ(op.host_compiler, HostCompiler::toolchain);
  EXPECT_TRUE(op.allow_cpu_torch);
  EXPECT_TRUE(op.has_hip());
}

TEST_F(ManifestTest, HasDefaults) {
  const Op op = read_op(write_op("add_mul"));
  EXPECT_EQ(op.name, "add_mul");
  EXPECT_EQ(op.kind, Kind::pybind_module);
  EXPECT_EQ(op.abi, Abi::torch_python);
  EXPECT_EQ(op.cxx_standard, 17);
  EXPECT_EQ(op.host_compiler, HostCompiler::system);
  EXPECT_FALSE(op.allow_cpu_torch);
  EXPECT_FALSE(op.has_hip());
  EXPECT_TRUE(op.archs.empty());
}

TEST_F(ManifestTest, TakesTheAbiFromTheKind) {
  EXPECT_EQ(read_op(write_op("a", "[op]\nkind = \"plain\"\n")).abi, Abi::none);
  EXPECT_EQ(read_op(write_op("b", "[op]\nkind = \"torch-library\"\n")).abi, Abi::torch);
  EXPECT_EQ(read_op(write_op("c", "[op]\nkind = \"plain\"\nabi = \"torch\"\n")).abi, Abi::torch);
}

TEST_F(ManifestTest, AcceptsSpacesAndUnicodeInPaths) {
  write("算子 库/核 函数.hip");
  const Op op =
      read_op(write("算子 库/dcuop.toml", "\xef\xbb\xbf[op]\r\nname = \"n\"\r\n[build]\r\n"
                                          "sources = [\"核 函数.hip\"]\r\narchs = [\"gfx906\"]\r\n"));
  EXPECT_EQ(op.directory, top() / "算子 库");
  EXPECT_EQ(op.sources.at(0).path, "核 函数.hip");
}

TEST_F(ManifestTest, NamesUnknownKeysWithTheNearest) {
  EXPECT_EQ(fault("[op]\nname = \"affine\"\n\n[build]\nsources = [\"a.cpp\"]\n\nhip_flag = [\"-O3\"]\n"),
            "ops/affine/dcuop.toml:7:1: error: unknown key 'hip_flag' in [build]; did you mean 'hip_flags'?");
  EXPECT_EQ(fault_in_build("kind = \"plain\""),
            "ops/affine/dcuop.toml:3:1: error: unknown key 'kind' in [build]; it belongs in [op]");
  EXPECT_EQ(fault_in_build("  frobnicate = 1"),
            "ops/affine/dcuop.toml:3:3: error: unknown key 'frobnicate' in [build] | [build] has: sources, "
            "include_dirs, cxx_standard, cxx_flags, hip_flags, link_flags, libraries, archs, arch_flags, "
            "host_compiler, allow_cpu_torch");
}

TEST_F(ManifestTest, NamesUnknownTablesWithTheNearest) {
  EXPECT_EQ(fault("[biuld]\nsources = [\"a.cpp\"]\n"),
            "ops/affine/dcuop.toml:1:2: error: unknown table [biuld]; did you mean [build]?");
  EXPECT_EQ(
      fault("name = \"x\"\n"),
      "ops/affine/dcuop.toml:1:1: error: unknown key 'name' outside of any table; 'name' belongs in [op]");
  EXPECT_EQ(fault("[verification]\n"),
            "ops/affine/dcuop.toml:1:2: error: unknown table [verification] | the tables are [op], [build], "
            "[backend], [verify], [workspace], [defaults]");
  EXPECT_EQ(fault("op = \"x\"\n"),
            "ops/affine/dcuop.toml:1:6: error: 'op' must be a table, not a string | write "
            "[op] on a line of its own");
  EXPECT_THAT(fault("[defaults]\ncxx_standard = 17\n"),
              StartsWith("ops/affine/dcuop.toml:1:2: error: [defaults] without [workspace]"));
}

TEST_F(ManifestTest, ReportsTheFirstFaultOfTheFile) {
  EXPECT_THAT(fault("[op]\nzzz = 1\naaa = 2\n"),
              StartsWith("ops/affine/dcuop.toml:2:1: error: unknown key 'zzz'"));
  EXPECT_THAT(fault("[build]\nsources = 1\n[op]\nname = 2\n"),
              HasSubstr("4:8: error: 'name' in [op] must be"));
}

TEST_F(ManifestTest, ReportsSyntaxWithItsPlace) {
  EXPECT_EQ(
      fault("[build]\nsources = [\"a.cpp\"\n"),
      "ops/affine/dcuop.toml:2:20: error: while parsing array: encountered end-of-file | it must be TOML: "
      "https://toml.io");
  EXPECT_THAT(fault("[op]\nname = \"x\"\nname = \"y\"\n"), StartsWith("ops/affine/dcuop.toml:3:"));
  EXPECT_THAT(fault("[op]\nname = \"\xff\"\n"), StartsWith("ops/affine/dcuop.toml:2:"));
}

TEST_F(ManifestTest, ReportsWrongTypes) {
  const std::string at = "ops/affine/dcuop.toml:3:";
  EXPECT_EQ(fault("[op]\nname = 7\n"),
            "ops/affine/dcuop.toml:2:8: error: 'name' in [op] must be a string, not an "
            "integer");
  EXPECT_EQ(fault_in_build("cxx_standard = \"17\""),
            at + "16: error: 'cxx_standard' in [build] must be an integer, not a string");
  EXPECT_EQ(fault_in_build("cxx_flags = \"-O3\""),
            at + "13: error: 'cxx_flags' in [build] must be an array of strings, not a string");
  EXPECT_EQ(fault_in_build("archs = [\"gfx906\", 906]"),
            at + "20: error: an element of 'archs' in [build] must be a string, not an integer");
  EXPECT_EQ(fault_in_build("allow_cpu_torch = 1"),
            at + "19: error: 'allow_cpu_torch' in [build] must be true or false, not an integer");
  EXPECT_THAT(fault_in_build("arch_flags = [\"-O3\"]"),
              StartsWith(at + "14: error: 'arch_flags' in [build] must be a table, not an array"));
  EXPECT_EQ(fault_in_build("cxx_standard = 17.0"),
            at + "16: error: 'cxx_standard' in [build] must be an integer, not a floating-point number");
  EXPECT_EQ(fault_in_build("cxx_standard = 1979-05-27"),
            at + "16: error: 'cxx_standard' in [build] must be an integer, not a date or time");
}

TEST_F(ManifestTest, ReportsValuesOutOfTheirChoices) {
  EXPECT_EQ(fault("[op]\nkind = \"pybnd\"\n"), "ops/affine/dcuop.toml:2:8: error: 'kind' in [op] must be one "
                                               "of pybind, torch-library, plain, executable, not "
                                               "'pybnd'; did you mean 'pybind'?");
  EXPECT_THAT(fault("[op]\nabi = \"cuda\"\n"),
              HasSubstr("must be one of torch-python, torch, none, not 'cuda'"));
  EXPECT_THAT(fault_in_build("host_compiler = \"clang\""), HasSubstr("must be one of system, toolchain"));
  for (const char* standard : {"11", "13", "15", "27", "-17", "4294967313"}) {
    EXPECT_THAT(fault_in_build(std::string("cxx_standard = ") + standard),
                HasSubstr("3:16: error: 'cxx_standard' in [build] must be one of 14, 17, 20, 23, 26, not"));
  }
  EXPECT_THAT(fault("[op]\nname = \"my-op\"\n"),
              HasSubstr("2:8: error: 'name' in [op] must be an identifier"));
  EXPECT_THAT(fault("[op]\nname = \"\"\n"), HasSubstr("2:8: error: 'name' in [op] must not be empty"));
  EXPECT_THAT(fault_in_build("cxx_flags = [\"-DA\\u0000B\"]"),
              HasSubstr("3:14: error: an element of 'cxx_flags'"));
}

TEST_F(ManifestTest, NeedsANameThatIsAnIdentifier) {
  EXPECT_EQ(
      fault_of([&] { static_cast<void>(read_op(write_op("my-op"))); }),
      "my-op/dcuop.toml:1:1: error: the op has no name, and its directory's, 'my-op', is not an identifier | "
      "add to [op]: name = \"...\" (letters, digits and _, no digit first)");
  EXPECT_EQ(read_op(write_op("my-op", "[op]\nname = \"my_op\"\n")).name, "my_op");
}

TEST_F(ManifestTest, ChecksArchs) {
  EXPECT_THAT(
      fault_in_build("archs = [\"gfx906\", \"gfx90a:xnack-:sramecc+\"]"),
      StartsWith("ops/affine/dcuop.toml:3:20: error: 'gfx90a:xnack-:sramecc+' in 'archs' in [build] is not a "
                 "target id | "));
  EXPECT_THAT(fault_in_build("archs = [\"gfx906\", \"gfx906\"]"),
              HasSubstr("3:20: error: 'gfx906' stands twice"));
  EXPECT_THAT(fault("[build]\nsources = [\"a.cpp\", \"k.hip\"]\n"),
              StartsWith("ops/affine/dcuop.toml:2:11: error: the op has HIP sources but names no archs"));
}

TEST_F(ManifestTest, ChecksArchFlags) {
  const std::string archs = "archs = [\"gfx906\"]\n[build.arch_flags]\n";
  EXPECT_EQ(fault_in_build(archs + "gfx936 = [\"-DX\"]"),
            "ops/affine/dcuop.toml:5:1: error: flags for 'gfx936', which is not among the archs of this op | "
            "its archs "
            "are: gfx906");
  EXPECT_THAT(fault_in_build(archs + "fast = [\"-DX\"]"),
              HasSubstr("5:1: error: 'fast' in 'arch_flags' in [build] is"));
  EXPECT_THAT(fault_in_build(archs + "gfx906 = \"-DX\""),
              HasSubstr("5:10: error: 'gfx906' in [build.arch_flags] must be an array of strings"));
  EXPECT_THAT(fault_in_build(archs + "gfx906 = [\"-Bx\"]"),
              HasSubstr("5:11: error: '-Bx' in 'gfx906' in [build.arch_flags] chooses the compiler's parts"));
}

TEST_F(ManifestTest, ChecksLibrariesAndIncludeDirectories) {
  EXPECT_THAT(fault_in_build("libraries = [\"m\", \"-lnuma\"]"),
              HasSubstr("3:19: error: '-lnuma' in 'libraries'"));
  EXPECT_THAT(fault_in_build("libraries = [\"/usr/lib/libm.so\"]"),
              HasSubstr("is not the name of a library"));
  write("ops/affine/include/op.h");
  EXPECT_EQ(fault_in_build("include_dirs = [\"includ\"]"),
            "ops/affine/dcuop.toml:3:17: error: include directory 'includ' does not exist; did you mean "
            "'include'?");
  EXPECT_THAT(fault_in_build("include_dirs = [\"a.cpp\"]"),
              HasSubstr("include directory 'a.cpp' is no directory"));
}

TEST_F(ManifestTest, CannotReadWhatIsNotThere) {
  EXPECT_THAT(fault_of([&] { static_cast<void>(read_op(top() / "none/dcuop.toml")); }),
              StartsWith("cannot read none/dcuop.toml | "));
}

TEST_F(ManifestTest, ShowsPathsOutsideTheWorkingDirectoryWhole) {
  write("elsewhere/x");
  const std::filesystem::path path = write("ops/affine/dcuop.toml", "[op]\nnam = \"x\"\n");
  std::filesystem::current_path(top() / "elsewhere");
  EXPECT_EQ(fault_of([&] { static_cast<void>(read_op(path)); }),
            path.string() + ":2:1: error: unknown key 'nam' in [op]; did you mean 'name'?");
}

TEST_F(ManifestTest, AWorkspaceRootIsNoOp) {
  EXPECT_EQ(fault_of([&] { static_cast<void>(read_op(write("dcuop.toml", "[workspace]\nmembers = []\n"))); }),
            "dcuop.toml:1:1: error: this opens a workspace and describes no op | name one of its members");
}

// Defaults
// ---------------------------------------------------------------------------------------------------

TEST_F(ManifestTest, InheritsWhatItDoesNotSet) {
  write("include/shared.h");
  write("dcuop.toml", "[workspace]\nmembers = [\"ops/*\"]\n[defaults]\ninclude_dirs = [\"include\"]\n"
                      "cxx_standard = 20\ncxx_flags = [\"-O3\", \"-g\"]\nhip_flags = [\"-O1\"]\n"
                      "archs = [\"gfx906\", \"gfx936\"]\nhost_compiler = \"toolchain\"\n"
                      "[defaults.arch_flags]\ngfx906 = [\"-DOLD\"]\ngfx936 = [\"-DNEW\"]\n");
  const Op inherits = read_op(write_op("ops/one"));
  EXPECT_EQ(inherits.workspace_root, top());
  EXPECT_THAT(inherits.include_dirs, ElementsAre(top() / "include"));
  EXPECT_EQ(inherits.cxx_standard, 20);
  EXPECT_THAT(inherits.cxx_flags, ElementsAre("-O3", "-g"));
  EXPECT_THAT(inherits.archs, ElementsAre("gfx906", "gfx936"));
  EXPECT_EQ(inherits.host_compiler, HostCompiler::toolchain);
  EXPECT_THAT(inherits.arch_flags,
              ElementsAre(Pair("gfx906", ElementsAre("-DOLD")), Pair("gfx936", ElementsAre("-DNEW"))));

  const Op sets = read_op(write_op("ops/two", "cxx_flags = []\narchs = [\"gfx936\"]\ncxx_standard = 14\n"));
  EXPECT_TRUE(sets.cxx_flags.empty());
  EXPECT_THAT(sets.hip_flags, ElementsAre("-O1"));
  EXPECT_EQ(sets.cxx_standard, 14);
  EXPECT_THAT(sets.archs, ElementsAre("gfx936"));
  EXPECT_THAT(sets.arch_flags, ElementsAre(Pair("gfx936", ElementsAre("-DNEW"))))
      << "gfx906 is not this op's";
}

TEST_F(ManifestTest, DefaultsMayNotNameSources) {
  write("dcuop.toml", "[workspace]\nmembers = [\"ops/*\"]\n[defaults]\nsources = [\"a.cpp\"]\n");
  EXPECT_EQ(fault_of([&] { static_cast<void>(read_op(write_op("ops/one"))); }),
            "dcuop.toml:4:1: error: unknown key 'sources' in [defaults]; it belongs in [build]");
}

TEST_F(ManifestTest, FaultsOfDefaultsAreTheRoots) {
  write("dcuop.toml",
        "[workspace]\nmembers = [\"ops/*\"]\n[defaults]\nhip_flags = [\"-O3\", \"-fplugin=x.so\"]\n");
  EXPECT_THAT(fault_of([&] { static_cast<void>(read_op(write_op("ops/one", "hip_flags = []\n"))); }),
              StartsWith("dcuop.toml:4:21: error: '-fplugin=x.so' in 'hip_flags' in [defaults] loads code"));
}

// Backends
// ---------------------------------------------------------------------------------------------------

class BackendTest : public ManifestTest {
 protected:
  std::filesystem::path manifest(const std::string& more, const std::string& build = {}) const {
    for (const char* name : {"a.cpp", "b.cpp", "k.hip", "k.cu"}) {
      write(std::filesystem::path("ops/affine") / name);
    }
    write("ops/affine/inc/op.h");
    return write("ops/affine/dcuop.toml",
                 "[build]\n" + (build.empty() ? "sources = [\"a.cpp\", \"k.hip\"]\n" : build) +
                     "archs = [\"gfx906\"]\ncxx_flags = [\"-O2\"]\nhip_flags = [\"-ffast-math\"]\n"
                     "libraries = [\"m\"]\nlink_flags = [\"-Wl,--as-needed\"]\ncxx_standard = 20\n"
                     "host_compiler = \"toolchain\"\nallow_cpu_torch = true\n[build.arch_flags]\n"
                     "gfx906 = [\"-DOLD\"]\n" +
                     more);
  }
  std::string fault_for(Backend backend, const std::string& more, const std::string& build = {}) const {
    const std::filesystem::path path = manifest(more, build);
    return fault_of([&] { static_cast<void>(read_op(path, backend)); });
  }
  static std::vector<std::string> sources_of(const Op& op) {
    std::vector<std::string> names;
    for (const Source& source : op.sources) {
      names.push_back(source.path.string() + " " + to_string(source.language));
    }
    return names;
  }
};

constexpr const char* host_table = "[backend.host]\nsources = [\"a.cpp\", \"b.cpp\"]\n";
constexpr const char* cuda_table = "[backend.cuda]\nsources = [\"a.cpp\", \"k.cu\"]\narchs = [\"sm_90\"]\n";

TEST_F(BackendTest, AnOpIsForHipUnlessAskedOtherwise) {
  const std::filesystem::path path = manifest(std::string(host_table) + cuda_table);
  const Op op = read_op(path);
  EXPECT_EQ(op.backend, Backend::hip);
  EXPECT_THAT(op.backends, ElementsAre(Backend::hip, Backend::host, Backend::cuda));
  EXPECT_THAT(backends_of(path), ElementsAre(Backend::hip, Backend::host, Backend::cuda));
  EXPECT_THAT(sources_of(op), ElementsAre("a.cpp cxx", "k.hip hip"));
  EXPECT_THAT(op.archs, ElementsAre("gfx906"));
  EXPECT_THAT(read_op(write_op("ops/plain")).backends, ElementsAre(Backend::hip));
}

TEST_F(BackendTest, AnOpWithoutSourcesInBuildIsNotForHip) {
  const std::filesystem::path path =
      manifest("[backend.cuda]\nsources = [\"a.cpp\"]\n", "include_dirs = [\"inc\"]\n");
  EXPECT_THAT(backends_of(path), ElementsAre(Backend::cuda));
  EXPECT_THAT(
      fault_of([&] { static_cast<void>(read_op(path, Backend::hip)); }),
      HasSubstr("the op has no sources in [build]; it is built for cuda | add them, or choose another"));
  EXPECT_THAT(backends_of(manifest("", "include_dirs = [\"inc\"]\n")), ElementsAre(Backend::hip))
      << "which is missing its sources";
}

TEST_F(BackendTest, TakesFromBuildWhatItsTableDoesNotSet) {
  const Op op = read_op(manifest(host_table), Backend::host);
  EXPECT_EQ(op.backend, Backend::host);
  EXPECT_THAT(sources_of(op), ElementsAre("a.cpp cxx", "b.cpp cxx"));
  EXPECT_THAT(op.cxx_flags, ElementsAre("-O2"));
  EXPECT_THAT(op.libraries, ElementsAre("m"));
  EXPECT_THAT(op.link_flags, ElementsAre("-Wl,--as-needed"));
  EXPECT_EQ(op.cxx_standard, 20);
  EXPECT_TRUE(op.allow_cpu_torch);
  EXPECT_TRUE(op.archs.empty());
  EXPECT_TRUE(op.hip_flags.empty());
  EXPECT_TRUE(op.arch_flags.empty());
  EXPECT_EQ(op.host_compiler, HostCompiler::system) << "a machine without HIP has no toolchain of HIP";
  EXPECT_FALSE(op.has_device_code());
}

TEST_F(BackendTest, WhatItsTableSetsReplacesTheOther) {
  const Op host = read_op(manifest(std::string(host_table) +
                                   "include_dirs = [\"inc\"]\ncxx_flags = [\"-DHOST\"]\nlink_flags = []\n"
                                   "libraries = [\"numa\"]\nhost_compiler = \"toolchain\"\n"),
                          Backend::host);
  EXPECT_THAT(host.include_dirs, ElementsAre(top() / "ops/affine/inc"));
  EXPECT_THAT(host.cxx_flags, ElementsAre("-DHOST"));
  EXPECT_TRUE(host.link_flags.empty());
  EXPECT_THAT(host.libraries, ElementsAre("numa"));
  EXPECT_EQ(host.host_compiler, HostCompiler::toolchain);
  const Op cuda =
      read_op(manifest(std::string(cuda_table) + "cuda_flags = [\"-lineinfo\"]\n"), Backend::cuda);
  EXPECT_THAT(sources_of(cuda), ElementsAre("a.cpp cxx", "k.cu cuda"));
  EXPECT_THAT(cuda.cuda_flags, ElementsAre("-lineinfo"));
  EXPECT_THAT(cuda.archs, ElementsAre("sm_90"));
  EXPECT_TRUE(cuda.has_cuda());
  EXPECT_FALSE(cuda.has_hip());
}

TEST_F(BackendTest, OneSourceCanBeHipAndCuda) {
  const std::filesystem::path path =
      manifest("[backend.cuda]\narchs = [\"sm_90a\"]\n", "sources = [\"a.cpp\", \"k.cu\"]\n");
  EXPECT_THAT(sources_of(read_op(path)), ElementsAre("a.cpp cxx", "k.cu hip"));
  EXPECT_THAT(sources_of(read_op(path, Backend::cuda)), ElementsAre("a.cpp cxx", "k.cu cuda"));
}

TEST_F(BackendTest, DeviceCodeIsNoPartOfAHostBuild) {
  EXPECT_EQ(fault_for(Backend::host, "[backend.host]\n"),
            "ops/affine/dcuop.toml:2:21: error: source 'k.hip' is device code, and the op is to be built for "
            "host | "
            "name the sources of that build in [backend.host]: sources = [\"binding.cpp\", \"op_host.cpp\"]");
  EXPECT_THAT(fault_for(Backend::host, "[backend.host]\nsources = [\"a.cpp\", \"k.cu\"]\n"),
              StartsWith("ops/affine/dcuop.toml:14:21: error: source 'k.cu' is device code"));
  EXPECT_THAT(
      fault_for(Backend::cuda, "[backend.cuda]\narchs = [\"sm_90\"]\n"),
      StartsWith(
          "ops/affine/dcuop.toml:2:21: error: source 'k.hip' is HIP, and the op is to be built for cuda"));
  EXPECT_EQ(fault_for(Backend::host, "[backend.host]\narchs = [\"gfx906\"]\n"),
            "ops/affine/dcuop.toml:14:1: error: unknown key 'archs' in [backend.host]; a host build has no "
            "device code");
}

TEST_F(BackendTest, NamesTheBackendsThatThereAre) {
  EXPECT_EQ(fault_for(Backend::cuda, host_table),
            "ops/affine/dcuop.toml:1:1: error: the op has no [backend.cuda]; it is built for hip, host | say "
            "there what "
            "differs from [build], or choose another with --backend or DCUOP_BACKEND");
  EXPECT_EQ(
      fault_for(Backend::hip, "[backend.musa]\n"),
      "ops/affine/dcuop.toml:13:10: error: 'musa' in [backend] is no backend that dcuop builds for | write "
      "[backend.host] or [backend.cuda]");
  EXPECT_EQ(fault_for(Backend::hip, "[backend.hip]\n"),
            "ops/affine/dcuop.toml:13:10: error: there is no [backend.hip]: [build] is the HIP build");
  EXPECT_THAT(
      fault_for(Backend::hip, "[backend]\nhost = 1\n"),
      StartsWith("ops/affine/dcuop.toml:14:8: error: 'host' in [backend] must be a table, not an integer"));
  EXPECT_EQ(
      fault_for(Backend::hip, "[backend.host]\nhip_flags = []\n"),
      "ops/affine/dcuop.toml:14:1: error: unknown key 'hip_flags' in [backend.host]; it belongs in [build]");
  EXPECT_EQ(fault_for(Backend::hip, "[backend.cuda]\ncuda_flag = []\n"),
            "ops/affine/dcuop.toml:14:1: error: unknown key 'cuda_flag' in [backend.cuda]; did you mean "
            "'cuda_flags'?");
  EXPECT_EQ(
      fault_in_build("cuda_flags = []"),
      "ops/affine/dcuop.toml:3:1: error: unknown key 'cuda_flags' in [build]; it belongs in [backend.cuda]");
}

TEST_F(BackendTest, CudaArchsAreNvccs) {
  EXPECT_EQ(
      fault_for(Backend::cuda, "[backend.cuda]\nsources = [\"k.cu\"]\n"),
      "ops/affine/dcuop.toml:14:11: error: the op has CUDA sources but names no archs for them | add to "
      "[backend.cuda] what it supports: archs = [\"sm_90\"]");
  EXPECT_THAT(
      fault_for(Backend::cuda, "[backend.cuda]\nsources = [\"k.cu\"]\narchs = [\"gfx906\"]\n"),
      StartsWith(
          "ops/affine/dcuop.toml:15:10: error: 'gfx906' in 'archs' in [backend.cuda] is no arch of nvcc"));
  for (const char* arch : {"sm_90", "sm_90a", "sm_100f", "compute_75", "compute_120"}) {
    EXPECT_TRUE(is_cuda_arch(arch)) << arch;
  }
  for (const char* arch :
       {"", "sm_", "sm_9", "sm_1000", "sm_09", "sm_90x", "sm_90aa", "SM_90", "90", "native", "sm90"}) {
    EXPECT_FALSE(is_cuda_arch(arch)) << arch;
  }
}

// The documentation
// ------------------------------------------------------------------------------------------

TEST_F(ManifestTest, TheExampleShowsEveryKeyAndParses) {
  const std::filesystem::path example = std::filesystem::path(DCUOP_SOURCE_DIR) / "dcuop.toml.example";
  const std::filesystem::path copy = write("dcuop.toml", "");
  std::filesystem::copy_file(example, copy, std::filesystem::copy_options::overwrite_existing);
  write("binding.cpp");
  write("kernels/affine.hip");
  write("kernels/affine.cu");
  write("affine_host.cpp");
  write("include/op.h");
  write_op("ops/other");
  const Op op = read_op(copy);
  EXPECT_EQ(op.name, "affine");
  EXPECT_EQ(op.sources.size(), 2U);
  EXPECT_TRUE(op.has_hip());
  EXPECT_EQ(op.arch_flags.size(), 2U);
  const Workspace workspace = find_workspace(top()).value();
  EXPECT_THAT(workspace.members, ElementsAre(top(), top() / "ops/other"));
  EXPECT_EQ(read_op(top() / "ops/other/dcuop.toml").arch_flags.size(), 1U);
  EXPECT_FALSE(read_op(copy, Backend::host).has_device_code());
  EXPECT_TRUE(read_op(copy, Backend::cuda).has_cuda());

  std::ifstream file(example);
  std::set<std::string> shown;
  std::string section;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('[')) {
      section = line.substr(1, line.find(']') - 1);
      std::string dotted = section;
      dotted.replace(std::min(dotted.find('.'), dotted.size()), 1, "/");
      shown.insert(dotted);
    } else if (const std::size_t end = line.find(" = "); end != std::string::npos && !line.starts_with('#')) {
      shown.insert(section + "/" + line.substr(0, end));
    }
  }
  for (const KeyInfo& key : manifest_keys()) {
    const bool of_backend = key.section == "backend";
    EXPECT_TRUE(shown.contains((of_backend ? "backend.cuda/" : key.section + "/") + key.name)) << key.name;
    EXPECT_TRUE(!of_backend || key.cuda_only || shown.contains("backend.host/" + key.name)) << key.name;
    EXPECT_TRUE(!key.in_defaults || shown.contains("defaults/" + key.name)) << "defaults/" << key.name;
    EXPECT_TRUE(key.meaning.ends_with('.')) << key.name;
  }
}

} // namespace
} // namespace dcuop::op
