// Packages made of small shared objects that the system's compiler links here: what is read of a torch is its
// version.py, its ELF headers and symbols, one string, and which headers there are.

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcuop/probe/torch.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "probe/fake_machine.hpp"

namespace dcuop::probe {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Ne;
using testing::write;

constexpr const char* new_abi_symbol =
    "_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
constexpr const char* old_abi_symbol = "_ZN3c105ErrorC1ENS_14SourceLocationESs";

class TorchTest : public testing::MachineTest {
 protected:
  fs::path site = directory.path() / "site";
  fs::path package = site / "torch";
  Python python;

  void SetUp() override {
    MachineTest::SetUp();
    if (!Environment::of_this_process().find_program("cc")) {
      GTEST_SKIP() << "no cc to link libraries with";
    }
    fs::create_directories(directory.path() / "empty");
    python.search_path = {directory.path() / "empty", site};
  }

  /// A shared object that defines `symbol` and holds `text`.
  void link_library(const fs::path& path, const std::string& symbol, const std::string& text = "",
                    const std::string& build_id = "sha1") {
    fs::create_directories(path.parent_path());
    const fs::path source = directory.path() / "library.c";
    write(source, "int f(void) __asm__(\"" + symbol +
                      "\"); int f(void) { return 1; }\nconst char text[] = \"" + text + "\";\n");
    SystemProcessRunner processes;
    Command command;
    command.argv = {"cc",
                    "-shared",
                    "-fPIC",
                    "-nostdlib",
                    "-Wl,--build-id=" + build_id,
                    "-Wl,-soname=" + path.filename().string(),
                    source.string(),
                    "-o",
                    path.string()};
    command.environment = Environment::of_this_process();
    const ProcessResult result = processes.run(command);
    ASSERT_TRUE(result.ok()) << result.diagnostics;
  }

  void add_torch(const std::string& version_py = "__version__ = '2.1.0'\ncuda = None\nhip = None\n") {
    write(package / "__init__.py", "");
    write(package / "version.py", version_py);
    link_library(package / "lib/libc10.so", new_abi_symbol);
    link_library(package / "lib/libtorch_cpu.so", "cpu_symbol");
    link_library(package / "lib/libtorch.so", "torch_symbol");
    link_library(package / "lib/libtorch_python.so", "python_symbol",
                 "__pybind11_internals_v4_gcc_libstdcpp_cxxabi1017__");
  }

  Torch found() {
    std::optional<Torch> torch = find_torch(machine(), python);
    EXPECT_TRUE(torch);
    return torch.value_or(Torch{});
  }
  Error error() {
    try {
      static_cast<void>(find_torch(machine(), python));
    } catch (const Error& caught) {
      return caught;
    }
    ADD_FAILURE() << "no error";
    return {ExitCode::ok, ""};
  }
};

TEST_F(TorchTest, NoTorchIsNone) {
  EXPECT_EQ(find_torch(machine(), python), std::nullopt);
  fs::create_directories(directory.path() / "empty/torch"); // a namespace package is no torch
  EXPECT_EQ(find_torch(machine(), python), std::nullopt);
}

TEST_F(TorchTest, ReadsAPackage) {
  add_torch();
  write(package / "include/ATen/ATen.h", "");
  write(package / "include/torch/csrc/api/include/torch/all.h", "");
  write(package / "include/pybind11/pybind11.h", "");
  const Torch torch = found();
  EXPECT_EQ(torch.package, package);
  EXPECT_EQ(torch.version, "2.1.0");
  EXPECT_TRUE(torch.is_cpu_only());
  EXPECT_EQ(torch.summary(), "2.1.0 cpu");
  EXPECT_EQ(torch.cxx11_abi, true);
  EXPECT_EQ(torch.library_dir, fs::canonical(package / "lib"));
  const fs::path lib = fs::canonical(package / "lib");
  EXPECT_THAT(torch.libraries, ElementsAre(lib / "libc10.so", lib / "libtorch_cpu.so", lib / "libtorch.so",
                                           lib / "libtorch_python.so"));
  EXPECT_THAT(torch.include_dirs,
              ElementsAre(package / "include", package / "include/torch/csrc/api/include"));
  EXPECT_THAT(torch.pybind11_include_dirs, IsEmpty());
  EXPECT_EQ(torch.pybind11_compiler, "_gcc");
  EXPECT_EQ(torch.pybind11_stdlib, "_libstdcpp");
  EXPECT_EQ(torch.pybind11_build_abi, "_cxxabi1017");
}

TEST_F(TorchTest, KnowsTheCxxStandardOfTheHeaders) {
  add_torch();
  EXPECT_EQ(found().cxx_standard, 0);
  const auto header = [](const std::string& condition) {
    return "#pragma once\n\n#if " + condition +
           "\n#error later compiler\n#endif\n#include <ATen/Context.h>\n";
  };
  const std::vector<std::pair<std::string, int>> conditions = {
      {"!defined(_MSC_VER) && __cplusplus < 201402L", 14},
      {"!defined(_MSC_VER) && __cplusplus < 201703L", 17},
      {"(defined(_MSVC_LANG) && _MSVC_LANG < 202002L) || \\\n  (!defined(_MSVC_LANG) && __cplusplus < "
       "202002L)",
       20},
      {"__cplusplus < 202302L", 23},
      {"__cplusplus < 2", 0},
      {"__cplusplus", 0}};
  for (const auto& [condition, standard] : conditions) {
    write(package / "include/ATen/ATen.h", header(condition));
    EXPECT_EQ(found().cxx_standard, standard) << condition;
  }
}

TEST_F(TorchTest, ReadsAnnotatedVersionsAndDtkTags) {
  add_torch();
  link_library(package / "lib/libtorch_hip.so", "hip_symbol");
  link_library(package / "lib/libc10_hip.so", "c10_hip_symbol");
  write(package / "version.py", "from typing import Optional\n\n__all__ = ['__version__', 'hip']\n"
                                "__version__ = \"2.4.1+das.opt2.dtk2504\"\ndebug = False\n"
                                "cuda: Optional[str] = None\ngit_version = 'abc123'\n"
                                "hip: Optional[str] = '6.1.25065-a8'  # as built\n");
  const Torch torch = found();
  EXPECT_EQ(torch.hip, "6.1.25065-a8");
  EXPECT_EQ(torch.cuda, "");
  EXPECT_EQ(torch.git_version, "abc123");
  EXPECT_EQ(torch.dtk, "25.04");
  EXPECT_TRUE(torch.is_hip());
  EXPECT_EQ(torch.summary(), "2.4.1+das.opt2.dtk2504 hip 6.1");
  EXPECT_THAT(torch.libraries, Contains(fs::canonical(package / "lib/libtorch_hip.so")));
  EXPECT_EQ(torch.libraries[1].filename(), "libc10_hip.so");
}

TEST_F(TorchTest, KnowsEveryShapeOfTheDtkTag) {
  add_torch();
  const std::vector<std::pair<std::string, std::string>> tags = {
      {"2.1.0+das1.0+git00661e0.abi0.dtk2404", "24.04"},
      {"1.13.1+git7d2dd01.abi0.dtk2310", "23.10"},
      {"2.1.0+das.opt1.dtk24043", "24.04.3"},
      {"2.10.0+das.opt1.dtk2604.202604011200.g0a1b2c3", "26.04"},
      {"2.9.0+das.dtk2604", "26.04"},
      {"2.1.0", ""},
      {"2.1.0+cu121", ""},
      {"2.1.0+xdtk2504", ""},
      {"2.1.0+das.dtk25", ""},
      {"2.1.0+das.dtk250412", ""}};
  for (const auto& [version, dtk] : tags) {
    write(package / "version.py", "__version__ = '" + version + "'\nhip = None\n");
    EXPECT_EQ(found().dtk, dtk) << version;
  }
}

TEST_F(TorchTest, TellsTheStringAbiFromLibc10) {
  add_torch();
  link_library(package / "lib/libc10.so", old_abi_symbol);
  EXPECT_EQ(found().cxx11_abi, false);
  link_library(package / "lib/libc10.so", "_ZN3c105other3SsSEv");
  EXPECT_EQ(found().cxx11_abi, std::nullopt);
}

TEST_F(TorchTest, TellsPybind11sAbiInBothShapes) {
  add_torch();
  const auto with = [&](const std::string& text) {
    link_library(package / "lib/libtorch_python.so", "python_symbol", text);
    return found();
  };
  Torch torch = with("__pybind11_internals_v11_system_libstdcpp_gxx_abi_1xxx_use_cxx11_abi_1__");
  EXPECT_EQ(torch.pybind11_compiler, "_system");
  EXPECT_EQ(torch.pybind11_stdlib, "");
  EXPECT_EQ(torch.pybind11_build_abi, "_libstdcpp_gxx_abi_1xxx_use_cxx11_abi_1");
  torch = with("__pybind11_internals_v5_clang_libcpp_cxxabi1002__");
  EXPECT_EQ(torch.pybind11_compiler, "_clang");
  EXPECT_EQ(torch.pybind11_stdlib, "_libcpp");
  EXPECT_EQ(torch.pybind11_build_abi, "_cxxabi1002");
  for (const char* unknown :
       {"__pybind11_internals_v4", "__pybind11_internals_v_gcc_libstdcpp_cxxabi1017__",
        "__pybind11_internals_v4_tcc_libstdcpp_x__", "__pybind11_internals_v4_gcc%s__"}) {
    EXPECT_EQ(with(unknown).pybind11_compiler, "") << unknown;
  }
}

TEST_F(TorchTest, FindsThePybind11NameAcrossBlocksAndInTheExtensionModule) {
  add_torch();
  link_library(package / "lib/libtorch_python.so", "python_symbol");
  const std::string name = "__pybind11_internals_v4_gcc_libstdcpp_cxxabi1018__";
  std::string content(std::size_t{1} << 20U, 'x');
  content.replace(content.size() - 20, 20, name.substr(0, 20));
  write(package / "_C.cpython-311-x86_64-linux-gnu.so",
        content + name.substr(20) + std::string(1, '\0') + "tail");
  EXPECT_EQ(found().pybind11_build_abi, "_cxxabi1018");
}

TEST_F(TorchTest, IdentityIsThatOfTheLibraries) {
  add_torch();
  const Digest first = found().identity;
  write(package / "version.py", "__version__ = '2.1.1'\n");
  EXPECT_EQ(found().identity, first) << "the version text identifies nothing";
  link_library(package / "lib/libtorch.so", "another_symbol");
  const Digest second = found().identity;
  EXPECT_THAT(second, Ne(first));

  link_library(package / "lib/libtorch.so", "another_symbol", "a", "none");
  const Digest without_build_id = found().identity;
  link_library(package / "lib/libtorch.so", "another_symbol", "b", "none");
  EXPECT_THAT(found().identity, Ne(without_build_id)) << "the second library's content";
}

TEST_F(TorchTest, DebiansHeadersAreOnTheDefaultPath) {
  add_torch();
  write(root / "usr/include/ATen/ATen.h", "");
  write(root / "usr/include/torch/csrc/api/include/torch/all.h", "");
  const fs::path pip = site / "pybind11/include";
  write(pip / "pybind11/pybind11.h", "");
  Torch torch = found();
  EXPECT_THAT(torch.include_dirs, ElementsAre(root / "usr/include/torch/csrc/api/include"));
  EXPECT_THAT(torch.pybind11_include_dirs, ElementsAre(pip));
  write(root / "usr/include/pybind11/pybind11.h", "");
  torch = found();
  EXPECT_THAT(torch.pybind11_include_dirs, IsEmpty());
}

TEST_F(TorchTest, WithoutHeadersThereAreNoIncludeDirs) {
  add_torch();
  EXPECT_THAT(found().include_dirs, IsEmpty());
  write(package / "include/ATen/ATen.h", "");
  EXPECT_THAT(found().include_dirs, ElementsAre(package / "include")) << "seen when they appear";
}

TEST_F(TorchTest, IncompletePackagesAreErrors) {
  add_torch();
  fs::remove(package / "lib/libtorch_python.so");
  Error caught = error();
  EXPECT_EQ(caught.code, ExitCode::environment);
  EXPECT_THAT(caught.what(),
              HasSubstr(package.string() + " is incomplete: lib/libtorch_python.so is missing"));
  fs::remove(package / "lib/libc10.so");
  fs::create_symlink("/does/not/exist", package / "lib/libc10.so");
  EXPECT_THAT(error().what(), HasSubstr("lib/libc10.so, lib/libtorch_python.so are missing"));

  fs::remove(package / "lib/libc10.so");
  add_torch();
  fs::resize_file(package / "lib/libtorch_cpu.so", 700);
  EXPECT_EQ(error().code, ExitCode::environment);
  write(package / "lib/libtorch_cpu.so", "version https://git-lfs.github.com/spec/v1\n");
  EXPECT_THAT(error().what(), HasSubstr("libtorch_cpu.so"));

  add_torch("__version__ = '2.4.1'\nhip = '6.1'\n");
  EXPECT_THAT(error().what(), HasSubstr("lib/libtorch_hip.so is missing"));
  write(package / "version.py", "");
  EXPECT_THAT(error().what(), HasSubstr("says no __version__"));
  fs::remove(package / "version.py");
  EXPECT_THAT(error().what(), HasSubstr("version.py is missing"));
}

TEST_F(TorchTest, FollowsAnEditableInstall) {
  add_torch();
  const fs::path checkout = directory.path() / "checkout/torch";
  fs::create_directories(checkout.parent_path());
  fs::rename(package, checkout);
  write(site / "__editable___torch_2_1_0_finder.py",
        "MAPPING: dict[str, str] = {'functorch': '/x', 'torch': '" + checkout.string() + "'}\n");
  EXPECT_EQ(found().package, checkout);
}

TEST_F(TorchTest, IsRememberedUntilALibraryChanges) {
  const fs::path libm = "/lib/x86_64-linux-gnu/libm.so.6";
  const fs::path libc = "/lib/x86_64-linux-gnu/libc.so.6";
  if (!identity_of(libm) || !identity_of(libc)) {
    GTEST_SKIP() << "no libraries that have rested";
  }
  add_torch();
  const auto memos_written = [&] { return list_directory(directory.path() / "memos").size(); };
  found();
  EXPECT_EQ(memos_written(), 0U) << "libraries that changed just now are read each time";
  for (const char* name : {"libc10.so", "libtorch_cpu.so", "libtorch.so", "libtorch_python.so"}) {
    fs::remove(package / "lib" / name);
    fs::create_symlink(libm, package / "lib" / name);
  }
  const Digest before = found().identity;
  EXPECT_EQ(found().identity, before);
  EXPECT_EQ(memos_written(), 1U);

  write(package / "version.py", "__version__ = '2.2.0'\n");
  EXPECT_EQ(found().version, "2.2.0");
  EXPECT_EQ(found().identity, before);
  fs::remove(package / "lib/libtorch.so");
  fs::create_symlink(libc, package / "lib/libtorch.so");
  EXPECT_THAT(found().identity, Ne(before));
  EXPECT_EQ(memos_written(), 2U);
}

class RealTorchTest : public testing::MachineTest {};

TEST_F(RealTorchTest, DebiansTorchIsRead) {
  const fs::path package = "/usr/lib/python3/dist-packages/torch";
  const auto version = read_file(package / "version.py");
  if (!version || version->find("'1.13.0a0'") == std::string::npos ||
      !identity_of("/usr/include/ATen/ATen.h") || !identity_of("/usr/include/pybind11/pybind11.h")) {
    GTEST_SKIP() << "no python3-torch 1.13.1 with libtorch-dev and pybind11-dev";
  }
  root = "/";
  Python python;
  python.search_path = {"/usr/lib/python3.11", "/usr/lib/python3/dist-packages"};
  const std::optional<Torch> there = find_torch(machine(), python);
  ASSERT_TRUE(there);
  const Torch torch = there.value_or(Torch{});
  EXPECT_EQ(torch.version, "1.13.0a0");
  EXPECT_EQ(torch.git_version, "Unknown");
  EXPECT_TRUE(torch.is_cpu_only());
  EXPECT_EQ(torch.summary(), "1.13.0a0 cpu");
  EXPECT_EQ(torch.dtk, "");
  EXPECT_EQ(torch.cxx11_abi, true);
  EXPECT_EQ(torch.library_dir, "/usr/lib/x86_64-linux-gnu");
  ASSERT_EQ(torch.libraries.size(), 4U);
  EXPECT_EQ(torch.libraries[0], "/usr/lib/x86_64-linux-gnu/libc10.so.1.13.0");
  EXPECT_EQ(torch.libraries[3], "/usr/lib/x86_64-linux-gnu/libtorch_python.so.1.13.0");
  EXPECT_EQ(torch.pybind11_compiler, "_gcc");
  EXPECT_EQ(torch.pybind11_stdlib, "_libstdcpp");
  EXPECT_EQ(torch.pybind11_build_abi, "_cxxabi1017");
  EXPECT_THAT(torch.include_dirs,
              ElementsAre(package / "include", package / "include/torch/csrc/api/include"));
  EXPECT_THAT(torch.pybind11_include_dirs, IsEmpty());
}

} // namespace
} // namespace dcuop::probe
