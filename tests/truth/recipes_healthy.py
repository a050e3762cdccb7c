"""Files that load and launch: none of them may get an error."""

import trees
from workshop import SECOND_KERNEL, Bench, Made, calls, recipe, run

PYBIND = """
#include <torch/extension.h>
at::Tensor twice(const at::Tensor& x) { TORCH_CHECK(x.dim() < 9, "too many"); return x + x; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("twice", &twice); }
"""
TORCH_LIBRARY = """
#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <torch/library.h>
namespace { at::Tensor twice(const at::Tensor& x) { return at::add(x, x); } }
TORCH_LIBRARY(truth_ops, m) { m.def("twice(Tensor x) -> Tensor", &twice); }
"""
PLAIN_PYBIND = """
#include <pybind11/pybind11.h>
PYBIND11_MODULE(plain, m) { m.def("one", [] { return 1; }); }
"""
TORCH_LIBRARIES = ["-L/usr/lib/x86_64-linux-gnu", "-l:libc10.so.1.13", "-l:libtorch_cpu.so.1.13"]
TORCH_PYTHON = [*TORCH_LIBRARIES, "-l:libtorch_python.so.1.13"]
SUFFIX = ".cpython-311-x86_64-linux-gnu.so"
CONTAINERS = """
#include <condition_variable>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
std::mutex m; std::condition_variable c; std::map<std::string, int> counts;
extern "C" int wait_for(int n) {
  std::unique_lock<std::mutex> lock(m);
  if (n > 0) { c.wait(lock); }
  std::ostringstream text; text << n; counts[text.str()]++;
  if (n < 0) { throw std::runtime_error(text.str()); }
  return counts[text.str()];
}
"""
C10_DEVICE = """
#include <string>
namespace c10 { struct Device { Device(const std::string& text); int fields; }; }
extern "C" int device(const char* text) { c10::Device d{std::string(text)}; return d.fields; }
"""


def torch_object(bench: Bench, name: str = "twice"):
    return bench.cxx(
        PYBIND,
        f"-DTORCH_EXTENSION_NAME={name}",
        "-std=c++17",
        "-O0",
        "-isystem",
        "/usr/include/python3.11",
        "-isystem",
        "/usr/include/torch/csrc/api/include",
    )


@recipe
def healthy_torch_extension(bench: Bench) -> Made:
    return Made(str(bench.link(f"twice{SUFFIX}", torch_object(bench), *TORCH_PYTHON)), "import")


@recipe
def healthy_torch_extension_with_kernel(bench: Bench) -> Made:
    file = bench.link(f"twice{SUFFIX}", torch_object(bench), bench.hip("gfx906"), *TORCH_PYTHON, "-lamdhip64")
    return Made(str(file), "import", arguments=["--arch", "gfx906:sramecc+:xnack-"])


@recipe
def healthy_torch_library(bench: Bench) -> Made:
    return Made(str(bench.link("libtruth_ops.so", bench.cxx(TORCH_LIBRARY, "-std=c++17", "-O0"), *TORCH_LIBRARIES)))


@recipe
def healthy_torch_library_stripped(bench: Bench) -> Made:
    file = bench.link("libtruth_ops.so", bench.cxx(TORCH_LIBRARY, "-std=c++17", "-O0"), *TORCH_LIBRARIES)
    run("strip", "--strip-all", file)
    return Made(str(file))


@recipe
def healthy_pybind11(bench: Bench) -> Made:
    source = bench.cxx(PLAIN_PYBIND, "-std=c++17", "-O0", "-isystem", "/usr/include/python3.11")
    return Made(str(bench.link(f"plain{SUFFIX}", source)), "import")


@recipe
def healthy_c_module(bench: Bench) -> Made:
    return Made(str(bench.module("counter")), "import")


@recipe
def healthy_abi3_module(bench: Bench) -> Made:
    return Made(str(bench.module("stable", file="stable.abi3.so")), "import")


@recipe
def healthy_plain_library(bench: Bench) -> Made:
    return Made(str(bench.library("libplain.so")))


@recipe
def healthy_c10_by_hand(bench: Bench) -> Made:
    return Made(str(bench.link("device.so", bench.cxx(C10_DEVICE), *TORCH_LIBRARIES)))


@recipe
def healthy_kernel_gfx906(bench: Bench) -> Made:
    return Made(str(bench.link("fill.so", bench.hip("gfx906"), "-lamdhip64")), arguments=["--arch", "gfx906"])


@recipe
def healthy_kernel_three_archs(bench: Bench) -> Made:
    file = bench.link("fill.so", bench.hip("gfx906", "gfx90a", "gfx1030"), "-lamdhip64")
    return Made(str(file), arguments=["--rocminfo", trees.rocminfo(bench, "gfx90a:sramecc+:xnack-", "gfx1030")])


@recipe
def healthy_kernel_two_units_stripped(bench: Bench) -> Made:
    file = bench.link("fill.so", bench.hip("gfx906", "gfx90a"), bench.hip("gfx906", source=SECOND_KERNEL), "-lamdhip64")
    run("strip", "--strip-all", file)
    return Made(str(file), arguments=["--arch", "gfx906:sramecc+:xnack+"])


@recipe
def healthy_kernel_on_a_saved_machine(bench: Bench) -> Made:
    file = bench.link("fill.so", bench.hip("gfx906"), "-lamdhip64")
    return Made(str(file), arguments=["--root", trees.machine(bench, {}, 90006)])


@recipe
def healthy_origin(bench: Bench) -> Made:
    library = bench.library("lib/libhelper.so.3")
    return Made(
        str(bench.user("pkg/op.so", "answer", options=[library, "-Wl,--enable-new-dtags,-rpath,$ORIGIN/../lib"]))
    )


@recipe
def healthy_origin_inherited(bench: Bench) -> Made:
    """DT_RPATH serves the libraries of libraries, DT_RUNPATH would not."""
    inner = bench.library("lib/libinner.so.1", "int inner(void) { return 7; }")
    outer = bench.user("lib/libouter.so.1", "inner", options=[inner, "-Wl,-soname,libouter.so.1"])
    options = [outer, f"-Wl,-rpath-link,{inner.parent}", "-Wl,--disable-new-dtags,-rpath,$ORIGIN/lib"]
    return Made(str(bench.user("op.so", options=options)))


@recipe
def healthy_long_rpath(bench: Bench) -> Made:
    library = bench.library("far/away/libhelper.so")
    places = ":".join([f"/nowhere/at/all/{i}/lib" for i in range(400)] + ["$ORIGIN/far/away"])
    return Made(str(bench.user("op.so", "answer", options=[library, f"-Wl,-rpath,{places}"])))


@recipe
def healthy_lib_token(bench: Bench) -> Made:
    library = bench.library("tree/lib/x86_64-linux-gnu/libhelper.so")
    return Made(str(bench.user("op.so", "answer", options=[library, "-Wl,-rpath,$ORIGIN/tree/$LIB"])))


@recipe
def healthy_symlinked_install(bench: Bench) -> Made:
    """$ORIGIN is where the link stands, not where it leads."""
    library = bench.library("pkg/libs/libhelper.so")
    bench.user("store/op-1.0.so", "answer", options=[library, "-Wl,-rpath,$ORIGIN/libs"])
    bench.path("pkg/op.so").symlink_to("../store/op-1.0.so")
    return Made(str(bench.path("pkg/op.so")))


@recipe
def healthy_library_path(bench: Bench) -> Made:
    library = bench.library("elsewhere/libhelper.so.2")
    return Made(str(bench.user("op.so", "answer", options=[library])), env={"LD_LIBRARY_PATH": str(library.parent)})


@recipe
def healthy_absolute_needed(bench: Bench) -> Made:
    library = bench.library("elsewhere/libhelper.so", soname="-")
    return Made(str(bench.user("op.so", "answer", options=[library])))


@recipe
def healthy_odd_path(bench: Bench) -> Made:
    library = bench.library("a b/größe/libhelper.so")
    return Made(str(bench.user("a b/größe/op.so", "answer", options=[library, "-Wl,-rpath,$ORIGIN"])))


@recipe
def healthy_after_torch(bench: Bench) -> Made:
    """As torch's setuptools leave it: torch's libraries by name alone, found because torch has loaded them."""
    site = trees.wheel(bench)
    file = bench.module("late", "_ZN3c1015GetCPUAllocatorEv", options=[f"-L{site}/torch/lib", "-lc10"])
    return Made(str(file), "import", env={"PYTHONPATH": str(site)})


@recipe
def healthy_wheel_with_runpath(bench: Bench) -> Made:
    site = trees.wheel(bench)
    options = [f"-L{site}/torch/lib", "-lc10", "-ltorch_cpu", f"-Wl,-rpath,{site}/torch/lib"]
    return Made(str(bench.user("op.so", "_ZN3c1015GetCPUAllocatorEv", options=options)), env={"PYTHONPATH": str(site)})


@recipe
def healthy_static_libstdcxx(bench: Bench) -> Made:
    return Made(str(bench.link("op.so", bench.cxx(CONTAINERS), "-static-libstdc++", "-static-libgcc")))


@recipe
def healthy_cxx(bench: Bench) -> Made:
    return Made(str(bench.link("op.so", bench.cxx(CONTAINERS), "-Wl,-z,now")))


@recipe
def healthy_bsymbolic(bench: Bench) -> Made:
    return Made(str(bench.link("op.so", bench.cxx(CONTAINERS), "-Wl,-Bsymbolic", "-Wl,-z,nodelete")))


@recipe
def healthy_version_script(bench: Bench) -> Made:
    script = bench.write("op.map", "OP_1 { global: wait_for; local: *; };\n")
    return Made(str(bench.link("op.so", bench.cxx(CONTAINERS), f"-Wl,--version-script,{script}")))


@recipe
def healthy_compressed_sections(bench: Bench) -> Made:
    return Made(str(bench.link("op.so", bench.cxx(CONTAINERS, "-g"), "-Wl,--compress-debug-sections=zlib")))


@recipe
def healthy_sysv_hash(bench: Bench) -> Made:
    return Made(str(bench.link("op.so", bench.cxx(CONTAINERS), "-Wl,--hash-style=sysv")))


@recipe
def healthy_both_hashes(bench: Bench) -> Made:
    return Made(
        str(bench.link("op.so", bench.hip("gfx90a"), "-lamdhip64", "-Wl,--hash-style=both")),
        arguments=["--arch", "gfx90a:xnack+"],
    )


@recipe
def healthy_relr(bench: Bench) -> Made:
    inputs = [bench.hip("gfx906"), bench.cxx(CONTAINERS), "-lamdhip64", "-B/usr/lib/llvm-19/bin", "-fuse-ld=lld"]
    return Made(str(bench.link("op.so", *inputs, "-Wl,-z,pack-relative-relocs")), arguments=["--arch", "gfx906"])


@recipe
def healthy_lld(bench: Bench) -> Made:
    inputs = [bench.hip("gfx906", "gfx90a"), "-lamdhip64", "-B/usr/lib/llvm-15/bin", "-fuse-ld=lld"]
    return Made(str(bench.link("op.so", *inputs)), arguments=["--arch", "gfx90a"])


@recipe
def healthy_no_section_headers(bench: Bench) -> Made:
    file = bench.link("op.so", bench.hip("gfx906"), "-lamdhip64")
    run("llvm-objcopy-15", "--strip-sections", file)
    return Made(str(file), arguments=["--arch", "gfx906"])


@recipe
def healthy_weak_undefined(bench: Bench) -> Made:
    source = "__attribute__((weak)) int maybe_there(void); int op_run(void) { return maybe_there ? maybe_there() : 0; }"
    return Made(str(bench.library("op.so", source)))


@recipe
def healthy_small_tls(bench: Bench) -> Made:
    source = "__thread int counter; int op_run(void) { return ++counter; }"
    return Made(str(bench.library("op.so", source, "-Wl,-z,relro")))


@recipe
def healthy_ifunc(bench: Bench) -> Made:
    source = (
        "static int one(void) { return 1; } static int (*pick(void))(void) { return one; }\n"
        'int op_run(void) __attribute__((ifunc("pick")));'
    )
    return Made(str(bench.library("op.so", source)))


@recipe
def healthy_openmp(bench: Bench) -> Made:
    source = "int op_run(int n) { int s = 0;\n#pragma omp parallel for reduction(+:s)\nfor (int i = 0; i < n; i++) s += i; return s; }"
    return Made(str(bench.link("op.so", bench.object(source, "-fopenmp"), *TORCH_LIBRARIES, "-fopenmp")))


@recipe
def healthy_two_names_of_one_library(bench: Bench) -> Made:
    """libamdhip64.so and libamdhip64.so.5 are links to one file, which is loaded once."""
    library = bench.path("lib/libroctx64.so.4")
    bench.library(
        "lib/libroctx64.so.4.1", "int roctxMark(void) { return 0; } int roctxRange(void) { return 1; }", soname="-"
    )
    library.symlink_to("libroctx64.so.4.1")
    bench.path("lib/libroctx64.so").symlink_to("libroctx64.so.4.1")
    file = bench.user("op.so", "roctxMark", options=["-Llib", "-l:libroctx64.so.4", "-Wl,-rpath,$ORIGIN/lib"])
    run("patchelf", "--add-needed", "libroctx64.so", file)
    return Made(str(file))


@recipe
def healthy_two_llvm(bench: Bench) -> Made:
    """Two LLVMs in a process: their symbols have versions, so that each keeps to its own."""
    options = ["-L/usr/lib/x86_64-linux-gnu", "-l:libLLVM-15.so.1", "-l:libLLVM-14.so.1"]
    return Made(str(bench.link("op.so", bench.object(calls([])), *options, linker="gcc")))


@recipe
def healthy_runtime_without_version_definitions(bench: Bench) -> Made:
    """The loader takes such a library, with a warning, as long as it has a version table at all."""
    other = trees.hip_runtime(bench, "dtk/libamdhip64.so.5")
    file = bench.link("fill.so", bench.hip("gfx906"), "-lamdhip64")
    return Made(str(file), arguments=["--arch", "gfx906"], env={"LD_LIBRARY_PATH": str(other.parent)})


@recipe
def healthy_dtk(bench: Bench) -> Made:
    """libgalaxyhip from a DTK tree that LD_LIBRARY_PATH leads into."""
    bench.library("machine/opt/dtk/dcc/comgr/lib/libamd_comgr.so.2", "int amd_comgr_get_version(void) { return 2; }")
    return trees.kernel_on_dtk(bench)
