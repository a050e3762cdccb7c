"""What a process looks up by name, opens by name and registers twice."""

from pathlib import Path

import trees
from workshop import Bench, Made, recipe

# C5b

BOTH_REVISIONS = """
int hipGetDeviceProperties(char* p, int d) { p[0] = 5; return d; }
int hipGetDevicePropertiesR0600(char* p, int d) { p[0] = 6; return d; }
int hipChooseDevice(int* d, const char* p) { *d = 5; return 0; }
int hipChooseDeviceR0600(int* d, const char* p) { *d = 6; return 0; }
int hipRuntimeGetVersion(int* v) { *v = 60000000; return 0; }
"""


def by_name(bench: Bench, function: str, handle: str, *options: object) -> Path:
    source = f"""
        #include <dlfcn.h>
        void* op_look_up(void) {{ return dlsym({handle}, "{function}"); }}
    """
    return bench.link("op.so", bench.object(source, "-D_GNU_SOURCE"), *options, linker="gcc")


@recipe
def properties_by_name(bench: Bench) -> Made:
    runtime = bench.library("rocm/lib/libamdhip64.so.6", BOTH_REVISIONS)
    file = by_name(bench, "hipGetDeviceProperties", 'dlopen("libamdhip64.so.6", RTLD_NOW)')
    return Made(str(file), env={"LD_LIBRARY_PATH": str(runtime.parent)})


@recipe
def chosen_device_by_name(bench: Bench) -> Made:
    runtime = bench.library("rocm/lib/libamdhip64.so.6", BOTH_REVISIONS)
    file = by_name(bench, "hipChooseDevice", "RTLD_DEFAULT", runtime, f"-Wl,-rpath,{runtime.parent}")
    return Made(str(file))


# C8


@recipe
def comgr_absent(bench: Bench) -> Made:
    return trees.kernel_on_dtk(bench)


@recipe
def comgr_is_a_pointer(bench: Bench) -> Made:
    bench.write(
        "machine/opt/dtk/dcc/comgr/lib/libamd_comgr.so.2",
        "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 52428800\n",
    )
    return trees.kernel_on_dtk(bench)


# H4

OPTION = """
#include <llvm/Support/CommandLine.h>
static llvm::cl::opt<bool> width("amdgpu-assume-external-call-stack-size", llvm::cl::desc("of a compiler"));
extern "C" int %s(void) { return width ? 1 : 2; }
"""


def with_llvm(bench: Bench, name: str, function: str, *options: object) -> Path:
    """Its own copy of LLVM, as a static link without hiding brings it: the names are everybody's."""
    llvm = Path("/usr/lib/llvm-14")
    source = bench.cxx(OPTION % function, "-fno-rtti", f"-I{llvm}/include")
    archives = [llvm / "lib/libLLVMSupport.a", llvm / "lib/libLLVMDemangle.a", "-lz", "-ltinfo"]
    return bench.link(name, source, *archives, f"-Wl,-soname,{Path(name).name},-rpath,$ORIGIN", *options)


def llvm_here() -> bool:
    return Path("/usr/lib/llvm-14/lib/libLLVMSupport.a").exists()


@recipe
def llvm_in_two_libraries(bench: Bench) -> Made:
    if not llvm_here():
        return Made("", impossible="no libLLVMSupport.a (llvm-14-dev)")
    libraries = [with_llvm(bench, f"lib{name}.so.1", f"{name}_run") for name in ("jitcc", "comgrlike")]
    return Made(str(bench.user("op.so", "jitcc_run", "comgrlike_run", options=[*libraries, "-Wl,-rpath,$ORIGIN"])))


@recipe
def llvm_in_the_file_and_a_library(bench: Bench) -> Made:
    if not llvm_here():
        return Made("", impossible="no libLLVMSupport.a (llvm-14-dev)")
    return Made(str(with_llvm(bench, "op.so", "op_run", with_llvm(bench, "libjitcc.so.1", "jitcc_run"))))


@recipe
def healthy_llvm_of_its_own_twice(bench: Bench) -> Made:
    """Both keep their LLVM to themselves: their calls were bound when they were linked."""
    if not llvm_here():
        return Made("", impossible="no libLLVMSupport.a (llvm-14-dev)")
    names = ("jitcc", "comgrlike")
    libraries = [with_llvm(bench, f"lib{name}.so.1", f"{name}_run", "-Wl,-Bsymbolic") for name in names]
    return Made(str(bench.user("op.so", "jitcc_run", "comgrlike_run", options=[*libraries, "-Wl,-rpath,$ORIGIN"])))
