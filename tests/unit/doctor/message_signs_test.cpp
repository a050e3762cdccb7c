// Real shapes of failures, with names of their own: what rule they mean, and which file and name they carry.
#include "../../../src/doctor/message_signs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dcuop::doctor {
namespace {

struct Shape {
  const char* line;
  const char* rule;
  const char* file;
  const char* name;
};

class Shapes : public testing::TestWithParam<Shape> {};

TEST_P(Shapes, AreRecognised) {
  const auto& shape = GetParam();
  const auto sighting = recognised(shape.line);
  ASSERT_TRUE(sighting.has_value()) << shape.line;
  EXPECT_EQ(sighting->clue.rule, shape.rule) << shape.line;
  EXPECT_EQ(sighting->clue.file.string(), shape.file) << shape.line;
  EXPECT_EQ(sighting->clue.name, shape.name) << shape.line;
}

constexpr const char* cxx11 =
    "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";

INSTANTIATE_TEST_SUITE_P(
    UndefinedSymbols, Shapes,
    testing::Values(
        Shape{"ImportError: /p/k.so: undefined symbol: _ZN3c104cuda9SetDeviceEi", "DCU216", "/p/k.so",
              "_ZN3c104cuda9SetDeviceEi"},
        Shape{"ImportError: /p q/k.cpython-311-x86_64-linux-gnu.so: undefined symbol: "
              "_ZN2at5ErrorC1ENS_14SourceLocationESs",
              "DCU210", "/p q/k.cpython-311-x86_64-linux-gnu.so", "_ZN2at5ErrorC1ENS_14SourceLocationESs"},
        Shape{"OSError: k.so: undefined symbol: THPVariableClass", "DCU212", "k.so", "THPVariableClass"},
        Shape{"ImportError: /p/k.so: undefined symbol: hipGetDevicePropertiesR0600, version hip_6.0",
              "DCU213", "/p/k.so", "hipGetDevicePropertiesR0600"},
        Shape{"k: symbol lookup error: ./k.so: undefined symbol: __hip_fatbin", "DCU214", "./k.so",
              "__hip_fatbin"},
        Shape{"ImportError('/p/k.so: undefined symbol: _PyThreadState_UncheckedGet')", "DCU215", "/p/k.so",
              "_PyThreadState_UncheckedGet"},
        Shape{"/p/k.so: undefined symbol: curandCreateGenerator", "DCU216", "/p/k.so",
              "curandCreateGenerator"},
        Shape{"ImportError: /p/k.so: undefined symbol: rocblas_sgemm", "DCU217", "/p/k.so", "rocblas_sgemm"},
        Shape{"ImportError: /p/k.so: undefined symbol: _Z6launchPfi", "DCU218", "/p/k.so", "_Z6launchPfi"},
        Shape{"ImportError: /p/k.so: undefined symbol: __cxa_call_terminate", "DCU219", "/p/k.so",
              "__cxa_call_terminate"},
        Shape{"undefined symbol: launch\t(./k.so)", "DCU218", "./k.so", "launch"},
        Shape{"Error relocating /p/k.so: launch: symbol not found", "DCU218", "/p/k.so", "launch"},
        Shape{"ImportError: /p/k.so: undefined symbol: _ZSt28__throw_bad_array_new_lengthv, version "
              "GLIBCXX_3.4.29",
              "DCU220", "/p/k.so", "GLIBCXX_3.4.29"},
        Shape{"ImportError: /p/k.so: undefined symbol: __libc_single_threaded, version GLIBC_2.32", "DCU220",
              "/p/k.so", "GLIBC_2.32"},
        Shape{
            "python: relocation error: /p/k.so: symbol __libc_start_main, version GLIBC_2.34 not defined in "
            "file libc.so.6 with link time reference",
            "DCU220", "/p/k.so", "GLIBC_2.34"},
        Shape{"python: relocation error: /p/k.so: symbol hipMalloc not defined in file libgalaxyhip.so.5 "
              "with link "
              "time reference",
              "DCU213", "/p/k.so", "hipMalloc"},
        Shape{"ImportError: /p/k.so: undefined symbol: cuda_scale", "DCU218", "/p/k.so", "cuda_scale"},
        Shape{"ImportError: /p/k.so: undefined symbol: cudaMalloc", "DCU216", "/p/k.so", "cudaMalloc"},
        Shape{"ImportError: /p/k.so: undefined symbol: _ZN4c10d12ProcessGroupD2Ev", "DCU210", "/p/k.so",
              "_ZN4c10d12ProcessGroupD2Ev"},
        Shape{
            "ImportError: /p/k.so: undefined symbol: _ZN8pybind116detail11type_casterIN2at6TensorEvE4loadENS_"
            "6handleEb",
            "DCU212", "/p/k.so", "_ZN8pybind116detail11type_casterIN2at6TensorEvE4loadENS_6handleEb"}));

TEST(VersionOfASymbol, NamesItsLibrary) {
  EXPECT_EQ(recognised("/p/k.so: undefined symbol: f, version CXXABI_1.3.13")->clue.detail, "libstdc++.so.6");
  EXPECT_EQ(recognised("/p/k.so: undefined symbol: f, version GLIBC_2.34")->clue.detail, "libc.so.6");
  // HIP's own nodes say less than the name does.
  EXPECT_EQ(recognised("/p/k.so: undefined symbol: hipFree, version hip_4.2")->clue.rule, "DCU213");
  EXPECT_EQ(
      recognised("p: relocation error: /p/k.so: symbol f, version V_1 not defined in file liba.so.2 with")
          ->clue.detail,
      "liba.so.2");
}

TEST(Options, OfAnotherCompilerAreNoFaultOfTheSource) {
  for (const auto* line : {"clang: error: unknown argument: '--use_fast_math'",
                           "clang: error: unsupported option '--generate-code=arch=compute_80,code=sm_80'",
                           "g++: error: unrecognized command-line option '--expt-relaxed-constexpr'"}) {
    const auto sighting = recognised(line);
    ASSERT_TRUE(sighting.has_value()) << line;
    EXPECT_EQ(sighting->clue.rule, "DCU707") << line;
    EXPECT_THAT(sighting->clue.fix, testing::HasSubstr("out of the flags")) << line;
  }
  EXPECT_EQ(recognised("a.hip:3:1: error: unknown type name 'x'")->clue.fix, "");
}

INSTANTIATE_TEST_SUITE_P(
    Libraries, Shapes,
    testing::Values(
        Shape{"ImportError: libc10.so: cannot open shared object file: No such file or directory", "DCU207",
              "", "libc10.so"},
        Shape{"OSError: libcudart.so.12: cannot open shared object file: No such file or directory", "DCU203",
              "", "libcudart.so.12"},
        Shape{"python: error while loading shared libraries: libamdhip64.so.5: cannot open shared object "
              "file: No such file or "
              "directory",
              "DCU201", "", "libamdhip64.so.5"},
        Shape{"ImportError: libpython3.8.so.1.0: cannot open shared object file: No such file or directory",
              "DCU208", "", "libpython3.8.so.1.0"},
        Shape{"Failed to import from k with ImportError('libgalaxyhip.so.5: cannot open shared object file: "
              "No such file or "
              "directory')",
              "DCU201", "", "libgalaxyhip.so.5"},
        Shape{"\tlibMIOpen.so.1 => not found", "DCU201", "", "libMIOpen.so.1"},
        Shape{"ImportError: /h/.cache/torch_extensions/py310_cu117/k/k.so: cannot open shared object file: "
              "No such file or "
              "directory",
              "DCU722", "/h/.cache/torch_extensions/py310_cu117/k/k.so",
              "/h/.cache/torch_extensions/py310_cu117/k/k.so"},
        Shape{"OSError: /p/k.so: cannot open shared object file: No such file or directory", "DCU101",
              "/p/k.so", "/p/k.so"},
        Shape{"OSError: /p/k.so: cannot open shared object file: Permission denied", "DCU701", "/p/k.so", ""},
        Shape{"ImportError: /c/lib/libstdc++.so.6: version 'GLIBCXX_3.4.32' not found (required by /p/k.so)",
              "DCU220", "/p/k.so", "GLIBCXX_3.4.32"},
        Shape{"python3: /lib64/libm.so.6: version 'GLIBC_2.23' not found (required by /p q/libtorch_cpu.so)",
              "DCU220", "/p q/libtorch_cpu.so", "GLIBC_2.23"}));

INSTANTIATE_TEST_SUITE_P(
    Refusals, Shapes,
    testing::Values(
        Shape{"ImportError: /p/k.so: wrong ELF class: ELFCLASS32", "DCU701", "/p/k.so", ""},
        Shape{"OSError: /p/libcufft.so.10: invalid ELF header", "DCU701", "/p/libcufft.so.10", ""},
        Shape{"ImportError: /tmp/torchinductor_u/ab/k.so: file too short", "DCU701",
              "/tmp/torchinductor_u/ab/k.so", ""},
        Shape{"ImportError: /p/k.so: failed to map segment from shared object", "DCU701", "/p/k.so", ""},
        Shape{"ImportError: libtorch_cpu.so: cannot enable executable stack as shared object requires: "
              "Invalid argument",
              "DCU701", "libtorch_cpu.so", ""},
        Shape{"OSError: /p/k.so: DT_RELR without GLIBC_ABI_DT_RELR dependency", "DCU701", "/p/k.so", ""},
        Shape{"ImportError: /p/libgomp-d22c30c5.so.1: cannot allocate memory in static TLS block", "DCU701",
              "/p/libgomp-d22c30c5.so.1", ""},
        Shape{"Inconsistency detected by ld.so: dl-lookup.c: 107: check_match: Assertion 'version->filename "
              "== NULL' failed!",
              "DCU701", "", ""},
        Shape{"ImportError: dynamic module does not define module export function (PyInit_affine)", "DCU230",
              "", "affine"},
        Shape{"ImportError: dynamic module does not define init function (initaffine)", "DCU230", "",
              "affine"},
        Shape{"ImportError: Python version mismatch: module was compiled for Python 3.8, but the interpreter "
              "version is "
              "incompatible: 3.10.6",
              "DCU715", "", "Python"},
        Shape{"RuntimeError: module compiled against API version 0x10 but this version of numpy is 0xf",
              "DCU715", "", "NumPy"},
        Shape{"RuntimeError: The detected CUDA version (11.8) mismatches the version that was used to "
              "compile PyTorch (12.1).",
              "DCU715", "", "torch"},
        Shape{"AttributeError: '_OpNamespace' '_C' object has no attribute 'silu_and_mul'", "DCU716", "",
              "_C::silu_and_mul"},
        Shape{"RuntimeError: operator torchvision::nms does not exist", "DCU716", "", "torchvision::nms"},
        Shape{"AttributeError: module 'ext' has no attribute 'mymuladd'", "DCU716", "", "ext.mymuladd"},
        Shape{"ModuleNotFoundError: No module named 'affine._C'", "DCU717", "", "affine._C"},
        Shape{"ERROR: k-1.0+das.opt1.dtk2504-cp310-cp310-manylinux_2_28_x86_64.whl is not a supported wheel "
              "on this platform.",
              "DCU719", "", "k-1.0+das.opt1.dtk2504-cp310-cp310-manylinux_2_28_x86_64.whl"},
        Shape{
            ": CommandLine Error: Option 'amdgpu-assume-external-call-stack-size' registered more than once!",
            "DCU718", "", "amdgpu-assume-external-call-stack-size"}));

INSTANTIATE_TEST_SUITE_P(
    Devices, Shapes,
    testing::Values(
        Shape{"\"hipErrorNoBinaryForGpu: Unable to find code object for all current devices!\"", "DCU702", "",
              ""},
        Shape{"RuntimeError: HIP error: invalid device function", "DCU702", "", ""},
        Shape{"hip error 98: invalid device function", "DCU702", "", ""},
        Shape{"RuntimeError: HIP error: no kernel image is available for execution on the device", "DCU702",
              "", ""},
        Shape{":1:hip_fatbin.cpp:255 : 1: Cannot find CO in the bundle /p/libk.so.1.0 for ISA: "
              "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-",
              "DCU702", "/p/libk.so.1.0", ""},
        Shape{"rocBLAS error: Cannot read /opt/rocm/lib/rocblas/library/TensileLibrary.dat: Illegal seek for "
              "GPU arch : gfx1201",
              "DCU702", "/opt/rocm/lib/rocblas/library/TensileLibrary.dat", ""},
        Shape{"RuntimeError: HIP error: hipErrorInvalidKernelFile", "DCU703", "", ""},
        Shape{"HSA 0x1010: HSA_STATUS_ERROR_INVALID_CODE_OBJECT", "DCU703", "", ""},
        Shape{"Unable to open /dev/kfd read-write: Permission denied", "DCU704", "", ""},
        Shape{"RuntimeError: No HIP GPUs are available", "DCU704", "", ""},
        Shape{"RuntimeError: HIP error: invalid device ordinal", "DCU704", "", ""},
        Shape{"AssertionError: Torch not compiled with CUDA enabled", "DCU704", "", ""},
        Shape{"Memory access fault by GPU node-2 on address (nil). Reason: Unknown.", "DCU705", "", ""},
        Shape{"HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a hardware exception.", "DCU705",
              "", ""},
        Shape{"torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB.", "DCU706", "", ""},
        Shape{"Compile with 'TORCH_USE_HIP_DSA' to enable device-side assertions.", "DCU705", "", ""},
        Shape{"Segmentation fault (core dumped)", "DCU720", "", ""}));

INSTANTIATE_TEST_SUITE_P(
    Builds, Shapes,
    testing::Values(
        Shape{"/s/a b.cpp:3:10: fatal error: torch/extension.h: No such file or directory", "DCU708", "b.cpp",
              "torch/extension.h"},
        Shape{"op.hip:1:10: fatal error: 'hip/hip_runtime.h' file not found", "DCU708", "op.hip",
              "hip/hip_runtime.h"},
        Shape{"clang-15: error: invalid target ID 'gfx936'; format is a processor name", "DCU709", "",
              "gfx936"},
        Shape{"nvcc fatal   : Unsupported gpu architecture 'compute_90'", "DCU709", "", "compute_90"},
        Shape{"CMake Error: None of the detected ROCm architectures: gfx938 is supported. Supported ROCm "
              "architectures are: gfx90a",
              "DCU709", "", "gfx938"},
        Shape{"clang: error: cannot find ROCm device library; provide its path via '--rocm-path'", "DCU710",
              "", ""},
        Shape{"/bin/sh: 1: hipcc: not found", "DCU711", "", "hipcc"},
        Shape{"bash: /opt/dtk/bin/hipcc: No such file or directory", "DCU711", "", "/opt/dtk/bin/hipcc"},
        Shape{"FileNotFoundError: [Errno 2] No such file or directory: '/usr/local/cuda/bin/nvcc'", "DCU711",
              "", "/usr/local/cuda/bin/nvcc"},
        Shape{"RuntimeError: Ninja is required to load C++ extensions", "DCU711", "", "ninja"},
        Shape{"ModuleNotFoundError: No module named 'pkg_resources'", "DCU711", "",
              "the Python module pkg_resources"},
        Shape{"OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.",
              "DCU711", "", "a toolkit (CUDA_HOME)"},
        Shape{"op.o: in function 'f()': op.cpp:(.text+0x8): undefined reference to 'launch(float*)'",
              "DCU712", "", "launch(float*)"},
        Shape{"/usr/bin/ld: cannot find -lc10_hip: No such file or directory", "DCU712", "", "-lc10_hip"},
        Shape{"ld.lld: error: undefined symbol: __hip_fatbin_1f2e", "DCU712", "", "__hip_fatbin_1f2e"},
        Shape{"c++: fatal error: Killed signal terminated program cc1plus", "DCU713", "", ""},
        Shape{"  File \"/t/torch/utils/file_baton.py\", line 49, in wait", "DCU714", "", ""},
        Shape{"OSError: [Errno 28] No space left on device", "DCU721", "", ""},
        Shape{"op.hip:14:9: error: use of undeclared identifier 'nummel'", "DCU707", "op.hip", ""},
        Shape{"hipcc: error: unknown argument", "DCU707", "", ""},
        Shape{"RuntimeError: Error building extension 'op'", "DCU707", "", ""}));

TEST(Recognised, LeavesOrdinaryLinesAlone) {
  for (const char* line : {"", " ", "step 3 loss 0.1", "  File \"/x/run.py\", line 3, in <module>",
                           "import affine", "Traceback (most recent call last):", "hip is a library",
                           "gfx906", "0 errors, 3 warnings", "libfoo.so.1 => /lib/libfoo.so.1 (0x00007f)",
                           "/lib/libstdc++.so.6: no version information available (required by k.so)",
                           "undefined symbol: ", ": undefined symbol:"}) {
    EXPECT_FALSE(recognised(line).has_value()) << line;
  }
}

TEST(Recognised, TellsCauseFromHintAndConsequence) {
  EXPECT_EQ(recognised("/p/k.so: undefined symbol: launch")->weight, Weight::cause);
  EXPECT_EQ(recognised("Bus error (core dumped)")->weight, Weight::hint);
  EXPECT_EQ(recognised("ninja: build stopped: subcommand failed.")->weight, Weight::consequence);
}

TEST(Recognised, NamesTheArchOfTheDevice) {
  EXPECT_EQ(
      recognised("Cannot find CO in the bundle /p/k.so for ISA: amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-")
          ->clue.detail,
      "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(recognised("hipErrorNoBinaryForGpu: gfx1100: none")->clue.detail, "gfx1100");
  EXPECT_EQ(recognised("hipErrorNoBinaryForGpu gfxfoo")->clue.detail, "");
}

TEST(Recognised, SurvivesEveryCutOfALine) {
  for (const std::string line :
       {std::string("ImportError: /p/k.so: undefined symbol: ") + cxx11,
        std::string("/c/libstdc++.so.6: version 'GLIBCXX_3.4.32' not found (required by /p/k.so)"),
        std::string("clang: error: invalid target ID 'gfx936'"),
        std::string("undefined symbol: f\t(./k.so)")}) {
    for (std::size_t length = 0; length <= line.size(); ++length) {
      const auto sighting = recognised(line.substr(0, length));
      EXPECT_TRUE(length < line.size() || sighting.has_value()) << line;
    }
  }
}

} // namespace
} // namespace dcuop::doctor
