"""Against torch: other versions, other ABIs, not linked, not imported, not the one on the path."""

import os
import time
from pathlib import Path

import trees
from recipes_healthy import C10_DEVICE, SUFFIX, TORCH_LIBRARIES, TORCH_PYTHON
from workshop import Bench, Made, recipe, run

ALLOCATOR = "_ZN3c1015GetCPUAllocatorEv"


def wants(bench: Bench, *symbols: str, name: str = "op", libraries=tuple(TORCH_LIBRARIES)) -> Made:
    return Made(str(bench.module(name, *symbols, options=libraries)), "import")


# A1: the same function with other parameters


@recipe
def other_parameters_check(bench: Bench) -> Made:
    """The line was unsigned, and is int here."""
    source = """
        #include <string>
        namespace c10 { namespace detail { [[noreturn]] void torchCheckFail(const char*, const char*, int, const std::string&); } }
        extern "C" void op_fail(const char* why) { c10::detail::torchCheckFail("f", "op.cpp", 7, std::string(why)); }
    """
    return Made(str(bench.link("op.so", bench.cxx(source), *TORCH_LIBRARIES)))


@recipe
def other_parameters_symint(bench: Bench) -> Made:
    return wants(bench, "_ZN2at4_ops9_pad_enum4callERKNS_6TensorEN3c108ArrayRefINS5_6SymIntEEElNS5_8optionalIdEE")


@recipe
def other_parameters_hip_device(bench: Bench) -> Made:
    site = trees.hip_wheel(bench)
    options = [f"-L{site}/torch/lib", "-lc10", "-lc10_hip", f"-Wl,-rpath,{site}/torch/lib"]
    return Made(
        str(bench.module("op", "_ZN3c103hip9SetDeviceEi", options=options)), "import", env={"PYTHONPATH": str(site)}
    )


@recipe
def other_parameters_hip_check(bench: Bench) -> Made:
    site = trees.hip_wheel(bench)
    options = [f"-L{site}/torch/lib", "-lc10", "-lc10_hip", f"-Wl,-rpath,{site}/torch/lib"]
    symbol = "_ZN3c103hip28c10_hip_check_implementationEiPKcS2_ib"
    return Made(str(bench.module("module_rmsnorm", symbol, options=options)), "import", env={"PYTHONPATH": str(site)})


# A2: optional


@recipe
def optional_of_dtype(bench: Bench) -> Made:
    symbol = (
        "_ZN2at4_ops15sum_IntList_out4callERKNS_6TensorEN3c1016OptionalArrayRefIlEEbSt8optionalINS5_10ScalarTypeEERS2_"
    )
    return wants(bench, symbol)


@recipe
def optional_of_symint(bench: Bench) -> Made:
    symbol = "_ZN3c1010TensorImpl21set_sizes_and_stridesENS_8ArrayRefINS_6SymIntEEES3_St8optionalIS2_E"
    file = bench.user("op.so", symbol, options=TORCH_LIBRARIES)
    return Made(str(file))


# A3: strings


@recipe
def old_strings_compiled(bench: Bench) -> Made:
    return Made(str(bench.link("op.so", bench.cxx(C10_DEVICE, "-D_GLIBCXX_USE_CXX11_ABI=0"), *TORCH_LIBRARIES)))


@recipe
def old_strings_error(bench: Bench) -> Made:
    return wants(bench, "_ZN3c105ErrorC2ENS_14SourceLocationESs")


@recipe
def old_strings_assert(bench: Bench) -> Made:
    return wants(bench, "_ZN3c106detail23torchInternalAssertFailEPKcS2_jS2_RKSs", name="_C")


@recipe
def old_strings_schema(bench: Bench) -> Made:
    return wants(bench, "_ZN5torch3jit17parseSchemaOrNameERKSs")


# A4: gone, or not there yet


@recipe
def class_is_gone(bench: Bench) -> Made:
    return wants(bench, "_ZN2at5ErrorC1ENS_14SourceLocationESs", name="inplace_abn")


@recipe
def function_of_newer_torch(bench: Bench) -> Made:
    return wants(bench, "_ZN3c106SymInt19promote_to_negativeEv", "_ZN3c1021AutogradMetaInterfaceXD1Ev")


@recipe
def function_of_newer_hip_torch(bench: Bench) -> Made:
    site = trees.hip_wheel(bench)
    options = [f"-L{site}/torch/lib", "-lc10", "-lc10_hip", f"-Wl,-rpath,{site}/torch/lib"]
    symbol = "_ZN3c103hip28HIPCachingAllocatorConfigNewC1Ev"
    return Made(str(bench.module("_rocm_C", symbol, options=options)), "import", env={"PYTHONPATH": str(site)})


# A5, G4: torch's JIT cache

BUILD_NINJA = """ninja_required_version = 1.3
cxx = c++

cflags = -DTORCH_EXTENSION_NAME={name} -isystem {torch}/include -isystem /usr/include/python3.11 -fPIC -std=c++14
ldflags = -shared -L{torch}/lib -lc10 -ltorch_cpu -ltorch

build {name}.o: compile {name}.cpp
build {name}.so: link {name}.o

default {name}.so
"""


def entry(bench: Bench, name: str, torch: str = str(trees.TORCH)) -> Path:
    directory = bench.path(f"cache/py311_cpu/{name}/build.ninja").parent
    (directory / "build.ninja").write_text(BUILD_NINJA.format(name=name, torch=torch))
    (directory / f"{name}.o").write_bytes(b"object")
    return directory


def age(directory: Path, seconds: int = 7200) -> None:
    then = time.time() - seconds
    for file in directory.iterdir():
        os.utime(file, (then, then))


def asked_about_cache(bench: Bench, file: Path) -> Made:
    return Made(str(file), "import", env={"TORCH_EXTENSIONS_DIR": str(bench.path("cache/x").parent)}, jit_cache=True)


@recipe
def jit_entry_of_other_torch(bench: Bench) -> Made:
    directory = entry(bench, "cpu_adam", "/opt/conda/envs/old/lib/python3.11/site-packages/torch")
    file = bench.module(
        "cpu_adam", "_ZN2at5ErrorC1ENS_14SourceLocationESs", file=f"{directory}/cpu_adam.so", options=TORCH_LIBRARIES
    )
    age(directory)
    return asked_about_cache(bench, file)


@recipe
def jit_entry_that_torch_outgrew(bench: Bench) -> Made:
    directory = entry(bench, "fused")
    file = bench.module("fused", "_ZN3c1010old_entityEv", file=f"{directory}/fused.so", options=TORCH_LIBRARIES)
    age(directory)
    return asked_about_cache(bench, file)


@recipe
def jit_file_of_other_torch(bench: Bench) -> Made:
    """The same, asked about by its path."""
    directory = entry(bench, "cpu_adam", "/opt/conda/envs/old/lib/python3.11/site-packages/torch")
    symbol = "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs"
    return Made(
        str(bench.module("cpu_adam", symbol, file=f"{directory}/cpu_adam.so", options=TORCH_LIBRARIES)), "import"
    )


@recipe
def jit_library_gone(bench: Bench) -> Made:
    directory = entry(bench, "exllama_ext")
    return Made(str(directory / "exllama_ext.so"), "import")


@recipe
def jit_half_built(bench: Bench) -> Made:
    directory = entry(bench, "exllama_ext")
    age(directory)
    return asked_about_cache(bench, directory / "exllama_ext.so")


@recipe
def jit_orphan_lock(bench: Bench) -> Made:
    directory = entry(bench, "fused")
    (directory / "lock").touch()
    age(directory)
    return asked_about_cache(bench, directory / "fused.so")


@recipe
def jit_written_half(bench: Bench) -> Made:
    directory = entry(bench, "fused")
    file = bench.module("fused", file=f"{directory}/fused.so", options=TORCH_LIBRARIES)
    os.truncate(file, file.stat().st_size // 3)
    return Made(str(file), "import")


# A6: the operator's own


@recipe
def own_source_missing(bench: Bench) -> Made:
    return wants(bench, "_Z24silu_and_mul_nvfp4_quantRN2at6TensorES1_S1_S1_", name="_C")


@recipe
def own_launcher_missing(bench: Bench) -> Made:
    file = bench.link(
        "op.so",
        bench.hip("gfx906"),
        bench.object("int launch_scale(void); int op_run(void) { return launch_scale(); }"),
        "-lamdhip64",
    )
    return Made(str(file), arguments=["--arch", "gfx906"])


@recipe
def own_linkage_differs(bench: Bench) -> Made:
    declared = bench.cxx('extern "C" int scale(float*, int); int op_run(float* x) { return scale(x, 1); }')
    defined = bench.cxx("int scale(float* x, int n) { return x == nullptr ? n : 0; }")
    return Made(str(bench.link("op.so", declared, defined)))


# B1: libtorch_python


@recipe
def torch_python_not_linked(bench: Bench) -> Made:
    source = """
        extern void* THPVariableClass;
        #include <Python.h>
        static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "lltm", NULL, -1, NULL};
        PyMODINIT_FUNC PyInit_lltm(void) { return THPVariableClass ? PyModule_Create(&definition) : NULL; }
    """
    file = bench.link(f"lltm{SUFFIX}", bench.object(source, "-I/usr/include/python3.11"), *TORCH_LIBRARIES)
    return Made(str(file), "import")


@recipe
def torch_python_function_not_linked(bench: Bench) -> Made:
    return wants(bench, "_Z16THPVariable_WrapN2at10TensorBaseE")


@recipe
def torch_cpu_not_linked(bench: Bench) -> Made:
    symbol = "_ZN2at4_ops12pad_sequence4callEN3c108ArrayRefINS_6TensorEEEbd"
    return wants(bench, symbol, libraries=("-L/usr/lib/x86_64-linux-gnu", "-l:libc10.so.1.13"))


# B2: after torch only


@recipe
def runpath_lost_module(bench: Bench) -> Made:
    site = trees.wheel(bench)
    options = [f"-L{site}/torch/lib", "-lc10", "-ltorch_cpu", f"-Wl,-rpath,{site}/torch/lib"]
    file = bench.module("custom_rasterizer_kernel", ALLOCATOR, options=options)
    run("patchelf", "--remove-rpath", file)
    return Made(str(file), "import", env={"PYTHONPATH": str(site)})


@recipe
def runpath_lost_library(bench: Bench) -> Made:
    site = trees.wheel(bench)
    file = bench.user("libdetector.so", ALLOCATOR, options=[f"-L{site}/torch/lib", "-lc10", "-ltorch"])
    return Made(str(file), env={"PYTHONPATH": str(site)})


@recipe
def runpath_lost_own_library(bench: Bench) -> Made:
    library = bench.library("pkg/libop_core.so.1")
    file = bench.user("pkg/op.so", "answer", options=[library, "-Wl,-rpath,/build/op/lib"])
    return Made(str(file))


# B3: no HIP in torch


@recipe
def torch_without_hip(bench: Bench) -> Made:
    stub = bench.stub("libc10_hip.so", "_ZN3c103hip20getCurrentHIPStreamEa")
    return wants(bench, "_ZN3c103hip20getCurrentHIPStreamEa", libraries=(*TORCH_PYTHON, stub))


@recipe
def torch_without_hip_wheel(bench: Bench) -> Made:
    site = trees.wheel(bench)
    stubs = [bench.stub("libc10_hip.so", "_ZN3c103hip20getCurrentHIPStreamEa"), bench.stub("libtorch_hip.so")]
    options = [f"-L{site}/torch/lib", "-lc10", *stubs, f"-Wl,-rpath,{site}/torch/lib"]
    return Made(
        str(bench.user("op.so", "_ZN3c103hip20getCurrentHIPStreamEa", options=options)), env={"PYTHONPATH": str(site)}
    )


# B4: another libtorch on the path


@recipe
def other_libtorch_python_first(bench: Bench) -> Made:
    body = 'int w(void) __asm__("PyThread_tss_alloc_v2"); int THPVariable_InitModule(void) { return w(); }'
    other = bench.library("libtorch/lib/libtorch_python.so.1.13", body)
    file = bench.module("op", "_Z16THPVariable_WrapN2at10TensorBaseE", options=TORCH_PYTHON)
    return Made(str(file), "import", env={"LD_LIBRARY_PATH": str(other.parent)})


@recipe
def other_libc10_first(bench: Bench) -> Made:
    other = bench.library("libtorch/lib/libc10.so.1.13", "int c10_of_old(void) { return 1; }")
    file = bench.user("op.so", ALLOCATOR, options=TORCH_LIBRARIES)
    return Made(str(file), env={"LD_LIBRARY_PATH": str(other.parent)})


# two faults


@recipe
def two_missing_library_and_strings(bench: Bench) -> Made:
    stub = bench.stub("libopcore.so.4", "opcore_run")
    return wants(
        bench,
        "opcore_run",
        "_ZN3c106detail23torchInternalAssertFailEPKcS2_jS2_RKSs",
        libraries=(*TORCH_LIBRARIES, stub),
    )


@recipe
def two_cuda_and_other_torch(bench: Bench) -> Made:
    stub = bench.stub("libcudart.so.12", "cudaMalloc")
    return wants(bench, "cudaMalloc", "_ZN3c106SymInt19promote_to_negativeEv", libraries=(*TORCH_LIBRARIES, stub))


@recipe
def two_own_source_and_stack(bench: Bench) -> Made:
    return Made(str(bench.user("op.so", "_Z12launch_scalePfi", options=["-Wl,-z,execstack"])))
