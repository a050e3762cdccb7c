"""Libraries of the GPU toolkits and of the system: absent, elsewhere, of another version, twice."""

import os
import shutil
from pathlib import Path

import trees
from recipes_healthy import CONTAINERS, SUFFIX, TORCH_LIBRARIES
from workshop import SYSTEM_LIBRARIES, Bench, Made, recipe, rename_version

# C1: absent, or of another major version


def needs(bench: Bench, soname: str, function: str, name: str = "op.so") -> Made:
    return Made(str(bench.user(name, function, options=[bench.stub(soname, function)])))


@recipe
def hip_of_major_6(bench: Bench) -> Made:
    file = bench.link("fill.so", bench.hip("gfx906"), bench.stub("libamdhip64.so.6", *trees.HIP_ENTRIES, node="hip_4.2"))
    return Made(str(file), arguments=["--arch", "gfx906"])


@recipe
def hipblas_absent(bench: Bench) -> Made:
    return needs(bench, "libhipblas.so.1", "hipblasCreate")


@recipe
def hiprtc_without_version(bench: Bench) -> Made:
    return needs(bench, "libhiprtc.so", "hiprtcCreateProgram")


@recipe
def hcc_era(bench: Bench) -> Made:
    return needs(bench, "libhip_hcc.so.3", "hipMalloc")


# C2: in site-packages


@recipe
def library_in_rocm_sdk_wheel(bench: Bench) -> Made:
    library = bench.library(
        "site/_rocm_sdk_libraries_gfx1151/lib/libMIOpen.so.1", "int miopenCreate(void) { return 0; }"
    )
    bench.write("site/_rocm_sdk_libraries_gfx1151/__init__.py")
    file = bench.user("op.so", "miopenCreate", options=[library])
    return Made(str(file), env={"PYTHONPATH": str(bench.directory / "site")})


@recipe
def library_in_torch_lib(bench: Bench) -> Made:
    site = trees.hip_wheel(bench)
    file = bench.user("op.so", "hipblasWheelOnly", options=[f"-L{site}/torch/lib", "-l:libhipblas.so.2"])
    return Made(str(file), env={"PYTHONPATH": str(site)})


# C3: of a library


@recipe
def second_level_absent(bench: Bench) -> Made:
    fmt = bench.stub("libfmt.so.12", "fmt_print")
    middle = bench.user(
        "lib/librocprofiler-register.so.0", "fmt_print", options=[fmt, "-Wl,-soname,librocprofiler-register.so.0"]
    )
    file = bench.user("op.so", options=[middle, "-Wl,--allow-shlib-undefined,-rpath,$ORIGIN/lib"])
    return Made(str(file))


@recipe
def third_level_absent(bench: Bench) -> Made:
    """Each library is found by the RUNPATH of the one above it."""
    last = bench.stub("libdrm_amdgpu.so.9", "amdgpu_query")
    third = bench.user("c/librocm_smi64.so.5", "amdgpu_query", options=[last, "-Wl,-soname,librocm_smi64.so.5"])
    second = bench.user(
        "b/libmiddle.so.1", options=[third, "-Wl,--allow-shlib-undefined,-rpath,$ORIGIN/../c,-soname,libmiddle.so.1"]
    )
    options = [second, f"-Wl,--allow-shlib-undefined,-rpath-link,{third.parent},-rpath,$ORIGIN/b"]
    return Made(str(bench.module("op", options=options)), "import")


# C4: in a toolkit that the loader does not search


@recipe
def amd_smi_off_the_path(bench: Bench) -> Made:
    library = bench.library("machine/opt/rocm-7.0.0/lib/libamd_smi.so.26", "int amdsmi_init(void) { return 0; }")
    bench.write("machine/opt/rocm-7.0.0/.info/version", "7.0.0\n")
    bench.path("machine/opt/rocm").symlink_to("/opt/rocm-7.0.0")
    file = bench.user("op.so", "amdsmi_init", options=[library])
    return Made(str(file), arguments=["--root", trees.machine(bench, {}, 90010)])


@recipe
def rocblas_off_the_path(bench: Bench) -> Made:
    library = bench.library("machine/opt/rocm/lib/librocblas.so.4", "int rocblas_create(void) { return 0; }")
    bench.write("machine/opt/rocm/.info/version", "6.2.1\n")
    file = bench.module("op", "rocblas_create", options=[library])
    return Made(str(file), "import", arguments=["--root", trees.machine(bench, {}, 90010)])


# C5: newer than the runtime


@recipe
def hip_6_function(bench: Bench) -> Made:
    """The name alone, as a file has it that was linked to a library without versions."""
    file = bench.user("flash_attn_2_cuda.so", "hipGetDevicePropertiesR0600", options=["-l:libamdhip64.so.5"])
    return Made(str(file))


@recipe
def hip_6_symbol_version(bench: Bench) -> Made:
    stub = bench.stub("libamdhip64.so.5", "hipGetDevicePropertiesR0600", node="hip_6.0")
    return Made(str(bench.user("op.so", "hipGetDevicePropertiesR0600", options=[stub])))


# C6: DTK


def kernel_on_dtk(bench: Bench) -> Path:
    """Linked to a DTK whose directory has its version in its name, as it is installed."""
    runtime = trees.dtk(bench, "machine/opt/dtk-25.04")
    bench.path("machine/opt/dtk").symlink_to("/opt/dtk-25.04")
    bench.write("machine/opt/dtk-25.04/lib/libunwind.so.8", "x")
    return bench.link("fill.so", bench.hip("gfx906"), runtime)


@recipe
def dtk_not_sourced(bench: Bench) -> Made:
    return Made(str(kernel_on_dtk(bench)), arguments=["--root", trees.dcu(bench, 90006)])


@recipe
def dtk_without_hip_lib(bench: Bench) -> Made:
    return Made(
        str(kernel_on_dtk(bench)),
        arguments=["--root", trees.dcu(bench, 90006)],
        env={"ROCM_PATH": "/opt/dtk", "LD_LIBRARY_PATH": "/opt/dtk/lib:/opt/dtk/lib64"},
    )


@recipe
def amd_wheel_on_dtk(bench: Bench) -> Made:
    """Linked to libgalaxyhip on a machine that has ROCm's runtime alone."""
    stub = bench.stub("libgalaxyhip.so.5", *trees.HIP_ENTRIES)
    return Made(str(bench.link("fill.so", bench.hip("gfx906"), stub)))


# C7, H1, H3: two copies of a runtime


def twice(bench: Bench, first: str, second: str, functions=("one", "two")) -> Made:
    """The file needs two copies of one library, under two SONAMEs, from two directories."""
    a = bench.library(f"a/{first}", f"int {functions[0]}(void) {{ return 1; }}")
    b = bench.library(f"b/{second}", f"int {functions[1]}(void) {{ return 2; }}")
    return Made(str(bench.user("op.so", *functions, options=[a, b, "-Wl,-rpath,$ORIGIN/a:$ORIGIN/b"])))


@recipe
def rocm_smi_of_toolkit_and_driver(bench: Bench) -> Made:
    return twice(bench, "librocm_smi64.so.2", "librocm_smi64.so", ("rsmi_init", "rsmi_shut_down"))


@recipe
def rocm_smi_through_a_library(bench: Bench) -> Made:
    inner = bench.library("hyhal/lib/librocm_smi64.so.2", "int rsmi_a(void) { return 1; }")
    outer = bench.user(
        "lib/libmonitor.so.1", "rsmi_a", options=[inner, "-Wl,-soname,libmonitor.so.1,-rpath,$ORIGIN/../hyhal/lib"]
    )
    direct = bench.library("dtk/lib/librocm_smi64.so.5", "int rsmi_b(void) { return 2; }")
    options = [direct, outer, f"-Wl,-rpath-link,{inner.parent},-rpath,$ORIGIN/dtk/lib:$ORIGIN/lib"]
    return Made(str(bench.user("op.so", "rsmi_b", options=options)))


@recipe
def hip_runtime_twice(bench: Bench) -> Made:
    own = bench.library("lib/libamdhip64.so.6", "int hipOther(void) { return 1; }")
    return Made(str(bench.user("op.so", "hipOther", options=[own, "-l:libamdhip64.so.5", "-Wl,-rpath,$ORIGIN/lib"])))


@recipe
def hip_runtime_of_torch_and_of_the_system(bench: Bench) -> Made:
    site = trees.hip_wheel(bench)
    options = [f"-L{site}/torch/lib", "-l:libamdhip64.so", "-l:libamdhip64.so.5", f"-Wl,-rpath,{site}/torch/lib"]
    return Made(str(bench.user("op.so", "hipWheelOnly", options=options)), env={"PYTHONPATH": str(site)})


@recipe
def amd_smi_twice(bench: Bench) -> Made:
    return twice(bench, "libamd_smi.so.26", "libamd_smi.so", ("amdsmi_init", "amdsmi_shut_down"))


@recipe
def amd_smi_through_a_library(bench: Bench) -> Made:
    inner = bench.library("torch/lib/libamd_smi.so", "int amdsmi_a(void) { return 1; }")
    outer = bench.user(
        "lib/libmonitor.so.1", "amdsmi_a", options=[inner, "-Wl,-soname,libmonitor.so.1,-rpath,$ORIGIN/../torch/lib"]
    )
    direct = bench.library("rocm/lib/libamd_smi.so.26", "int amdsmi_b(void) { return 2; }")
    options = [direct, outer, f"-Wl,-rpath-link,{inner.parent},-rpath,$ORIGIN/rocm/lib:$ORIGIN/lib"]
    return Made(str(bench.user("op.so", "amdsmi_b", options=options)))


@recipe
def hsa_runtime_twice(bench: Bench) -> Made:
    """libamdhip64 brings the system's libhsa-runtime64.so.1."""
    own = bench.library("lib/libhsa-runtime64.so", "int hsa_other(void) { return 1; }")
    return Made(str(bench.user("op.so", "hsa_other", options=[own, "-l:libamdhip64.so.5", "-Wl,-rpath,$ORIGIN/lib"])))


# H2: LD_LIBRARY_PATH before RUNPATH


@recipe
def library_path_before_runpath(bench: Bench) -> Made:
    own = bench.library("pkg/libhipblas.so.2", "int hipblasNew(void) { return 1; }")
    other = bench.library("rocm/lib/libhipblas.so.2", "int hipblasOld(void) { return 1; }")
    file = bench.user("pkg/op.so", "hipblasNew", options=[own, "-Wl,--enable-new-dtags,-rpath,$ORIGIN"])
    return Made(str(file), env={"LD_LIBRARY_PATH": str(other.parent)})


@recipe
def library_path_before_runpath_versions(bench: Bench) -> Made:
    script = bench.write("new.map", "ROCBLAS_4 { global: rocblas_create; };\nROCBLAS_5 { global: rocblas_gemm; };\n")
    old = bench.write("old.map", "ROCBLAS_4 { global: *; };\n")
    body = "int rocblas_create(void) { return 1; }\n"
    own = bench.library(
        "pkg/librocblas.so.4", body + "int rocblas_gemm(void) { return 1; }", f"-Wl,--version-script,{script}"
    )
    other = bench.library("rocm/lib/librocblas.so.4", body, f"-Wl,--version-script,{old}")
    file = bench.user("pkg/op.so", "rocblas_gemm", options=[own, "-Wl,--enable-new-dtags,-rpath,$ORIGIN"])
    return Made(str(file), env={"LD_LIBRARY_PATH": str(other.parent)})


@recipe
def runtime_without_versions(bench: Bench) -> Made:
    """A library without symbol versions under AMD's name: the loader ends the process."""
    other = trees.hip_runtime(bench, "dtk/libamdhip64.so.5", "-nostdlib")
    return Made(
        str(bench.link("fill.so", bench.hip("gfx906"), "-lamdhip64")), env={"LD_LIBRARY_PATH": str(other.parent)}
    )


# D1: CUDA


def cuda(bench: Bench, soname: str, function: str, **made) -> Made:
    return Made(str(bench.user("op.so", function, options=[bench.stub(soname, function)])), **made)


@recipe
def cuda_torch_half(bench: Bench) -> Made:
    site = trees.hip_wheel(bench)
    stub = bench.stub("libtorch_cuda.so", "_ZN2at4cuda21getCurrentCUDAStreamEa")
    options = [f"-L{site}/torch/lib", "-lc10", stub]
    return Made(
        str(bench.user("libtorchaudio.so", "_ZN2at4cuda21getCurrentCUDAStreamEa", options=options)),
        env={"PYTHONPATH": str(site)},
    )


@recipe
def cuda_runtime(bench: Bench) -> Made:
    return cuda(bench, "libcudart.so.12", "cudaMalloc")


@recipe
def cuda_driver(bench: Bench) -> Made:
    return cuda(bench, "libcuda.so.1", "cuInit")


@recipe
def cuda_with_fatbin(bench: Bench) -> Made:
    source = '__attribute__((section(".nv_fatbin"))) const char image[64] = {0x50, (char)0xed, 0x55, (char)0xba, 1};\n'
    stub = bench.stub("libcudart.so.11.0", "cudaLaunchKernel")
    return Made(
        str(bench.module("_C", "cudaLaunchKernel", file="_C.abi3.so", options=[bench.object(source), stub])), "import"
    )


@recipe
def cuda_symbols_alone(bench: Bench) -> Made:
    return Made(str(bench.user("op.so", "_ZN3c104cuda9SetDeviceEi", options=TORCH_LIBRARIES)))


@recipe
def cuda_function_alone(bench: Bench) -> Made:
    return Made(str(bench.module("cpu_adam", "curandCreateGenerator")), "import")


@recipe
def cuda_device_code_alone(bench: Bench) -> Made:
    """Statically linked to CUDA's runtime: it loads."""
    source = '__attribute__((section(".nv_fatbin"))) const char image[64] = {0x50, (char)0xed, 0x55, (char)0xba, 1};\n'
    return Made(str(bench.link("op.so", bench.object(source), linker="gcc")), arguments=["--arch", "gfx906"])


# E: libstdc++ and glibc

NEWEST = "GLIBCXX_3.4.30"


def newer_than_here(
    bench: Bench, name: str = "op.so", wanted: str = "GLIBCXX_3.4.32", instead_of: str = NEWEST, *inputs
):
    file = bench.link(name, bench.cxx(CONTAINERS), *inputs)
    rename_version(file, instead_of, wanted)
    return file


def libstdcxx(bench: Bench, name: str, newest: str):
    """This machine's libstdc++, with another newest version."""
    target = bench.path(name)
    shutil.copy(os.path.realpath(SYSTEM_LIBRARIES / "libstdc++.so.6"), target)
    rename_version(target, NEWEST, newest)
    return target


def conda(bench: Bench) -> str:
    bench.write("env/conda-meta/history", "")
    return str(bench.directory / "env")


@recipe
def libstdcxx_without_its_link(bench: Bench) -> Made:
    libstdcxx(bench, "env/lib/libstdc++.so.6.0.34", "GLIBCXX_3.4.34")
    file = newer_than_here(bench, wanted="GLIBCXX_3.4.34")
    return Made(str(file), env={"CONDA_PREFIX": conda(bench), "LD_LIBRARY_PATH": conda(bench) + "/lib"})


@recipe
def libstdcxx_with_a_dangling_link(bench: Bench) -> Made:
    libstdcxx(bench, "env/lib/libstdc++.so.6.0.33", "GLIBCXX_3.4.33")
    bench.path("env/lib/libstdc++.so.6").symlink_to("libstdc++.so.6.0.32")
    file = newer_than_here(bench, wanted="GLIBCXX_3.4.33")
    return Made(str(file), env={"CONDA_PREFIX": conda(bench), "LD_LIBRARY_PATH": conda(bench) + "/lib"})


@recipe
def jit_built_with_gcc_13(bench: Bench) -> Made:
    return Made(str(newer_than_here(bench, "_slangtorch_square.so")))


@recipe
def module_built_with_gcc_14(bench: Bench) -> Made:
    module = bench.module("fused", "wait_for", options=[bench.cxx(CONTAINERS), "-lstdc++"])
    rename_version(module, NEWEST, "GLIBCXX_3.4.33")
    return Made(str(module), "import")


@recipe
def newer_cxxabi(bench: Bench) -> Made:
    file = bench.link("op.so", bench.cxx(CONTAINERS))
    rename_version(
        file,
        "CXXABI_1.3.9" if b"CXXABI_1.3.9" in file.read_bytes() else "CXXABI_1.3",
        "CXXABI_2.9.9" if b"CXXABI_1.3.9" in file.read_bytes() else "CXXABI_9.9",
    )
    return Made(str(file))


@recipe
def older_libstdcxx_of_conda(bench: Bench) -> Made:
    libstdcxx(bench, "env/lib/libstdc++.so.6", "GLIBCXX_3.4.0x")
    file = bench.link("op.so", bench.cxx(CONTAINERS))
    return Made(str(file), env={"CONDA_PREFIX": conda(bench), "LD_LIBRARY_PATH": conda(bench) + "/lib"})


@recipe
def own_libstdcxx_comes_second(bench: Bench) -> Made:
    libstdcxx(bench, "lib/libstdc++.so.6", "GLIBCXX_3.4.32")
    module = bench.module(
        "_tokenizer", "wait_for", options=[bench.cxx(CONTAINERS), "-lstdc++", "-Wl,-rpath,$ORIGIN/lib"]
    )
    rename_version(module, NEWEST, "GLIBCXX_3.4.32")
    return Made(str(module), "import")


@recipe
def own_libstdcxx_comes_second_library(bench: Bench) -> Made:
    libstdcxx(bench, "env/lib/libstdc++.so.6", "GLIBCXX_3.4.33")
    conda(bench)
    file = newer_than_here(bench, "op.so", "GLIBCXX_3.4.33", NEWEST, f"-Wl,-rpath,{bench.directory}/env/lib")
    return Made(str(file))


@recipe
def library_wants_newer_libstdcxx(bench: Bench) -> Made:
    middle = newer_than_here(bench, "lib/libLLVM-99.so.1", "GLIBCXX_3.4.32", NEWEST, "-Wl,-soname,libLLVM-99.so.1")
    return Made(str(bench.user("op.so", options=[middle, "-Wl,--allow-shlib-undefined,-rpath,$ORIGIN/lib"])))


@recipe
def system_library_wants_newer_libstdcxx(bench: Bench) -> Made:
    libstdcxx(bench, "env/lib/libstdc++.so.6", "GLIBCXX_3.4.0x")
    file = bench.link("op.so", bench.object("int op_run(void) { return 1; }"), "-l:libLLVM-15.so.1", linker="gcc")
    return Made(str(file), env={"CONDA_PREFIX": conda(bench), "LD_LIBRARY_PATH": conda(bench) + "/lib"})


@recipe
def newer_glibc(bench: Bench) -> Made:
    file = bench.library(
        "op.so", '#include <math.h>\n#include <stdio.h>\ndouble op_run(double x) { puts(""); return pow(x, x); }', "-lm"
    )
    rename_version(file, "GLIBC_2.29", "GLIBC_2.38")
    return Made(str(file))


@recipe
def newer_glibc_of_torch_module(bench: Bench) -> Made:
    source = bench.object(
        "#include <pthread.h>\nint wait_for(int n) { return pthread_setaffinity_np(pthread_self(), n, 0); }",
        "-D_GNU_SOURCE",
    )
    file = bench.module("op", "wait_for", options=[source, *TORCH_LIBRARIES])
    text = file.read_bytes()
    old = next(node for node in ("GLIBC_2.34", "GLIBC_2.32") if node.encode() + b"\0" in text)
    rename_version(file, old, "GLIBC_2.41")
    return Made(str(file), "import")


@recipe
def two_libstdcxx_and_missing_library(bench: Bench) -> Made:
    stub = bench.stub("libopcore.so.4", "opcore_run")
    file = newer_than_here(
        bench,
        "op.so",
        "GLIBCXX_3.4.32",
        NEWEST,
        bench.object("int opcore_run(void); int op_run(void) { return opcore_run(); }"),
        stub,
    )
    return Made(str(file))


# F: Python


@recipe
def no_init_function(bench: Bench) -> Made:
    source = bench.object(
        "#include <Python.h>\nPyObject* op_run(void) { return PyLong_FromLong(1); }", "-I/usr/include/python3.11"
    )
    return Made(str(bench.link(f"_C{SUFFIX}", source)), "import")


@recipe
def python_2_init_function(bench: Bench) -> Made:
    source = bench.object(
        '#include <Python.h>\nvoid initwarp_rnnt(void) { PyImport_ImportModule("sys"); }', "-I/usr/include/python3.11"
    )
    return Made(str(bench.link("warp_rnnt.so", source)), "import")


@recipe
def init_function_hidden(bench: Bench) -> Made:
    script = bench.write("hide.map", "{ global: op_run; local: *; };\n")
    return Made(str(bench.module("_elf", options=[f"-Wl,--version-script,{script}"])), "import")


@recipe
def renamed_file(bench: Bench) -> Made:
    return Made(str(bench.module("chat", file=f"chat_vision{SUFFIX}")), "import")


@recipe
def newer_python(bench: Bench) -> Made:
    return Made(str(bench.module("op", "PyDict_GetItemRef", "PyLong_AsInt")), "import")


@recipe
def python_2_functions(bench: Bench) -> Made:
    return Made(str(bench.module("op", "PyString_FromString", "PyInt_FromLong")), "import")


@recipe
def private_function_of_other_python(bench: Bench) -> Made:
    return Made(str(bench.module("op", "_PyThreadState_UncheckedGetOld", "_PyUnicode_Ready_Old")), "import")


@recipe
def linked_to_other_libpython(bench: Bench) -> Made:
    stub = bench.stub("libpython3.8.so.1.0", "Py_DebuggingModeOf38")
    return Made(str(bench.module("op", options=[stub])), "import")


@recipe
def two_renamed_and_other_arch(bench: Bench) -> Made:
    file = bench.module("chat", file=f"talk{SUFFIX}", options=[bench.hip("gfx906"), "-lamdhip64"])
    return Made(str(file), "import", arguments=["--arch", "gfx1030"])


@recipe
def two_hip_major_and_other_arch(bench: Bench) -> Made:
    file = bench.link("fill.so", bench.hip("gfx906"), bench.stub("libamdhip64.so.6", *trees.HIP_ENTRIES, node="hip_4.2"))
    return Made(str(file), arguments=["--arch", "gfx90a"])


# X1


@recipe
def relr_without_its_version(bench: Bench) -> Made:
    """lld up to 15 packs relative relocations, and does not ask for the version by which glibc says that it knows them."""
    inputs = [bench.cxx(CONTAINERS), "-B/usr/lib/llvm-15/bin", "-fuse-ld=lld"]
    return Made(str(bench.link("op.so", *inputs, "-Wl,--pack-dyn-relocs=relr")))


@recipe
def relr_in_a_library(bench: Bench) -> Made:
    inputs = [bench.cxx(CONTAINERS), "-B/usr/lib/llvm-15/bin", "-fuse-ld=lld", "-Wl,--pack-dyn-relocs=relr"]
    library = bench.link("libwait.so.2", *inputs, "-Wl,-soname,libwait.so.2")
    return Made(str(bench.user("op.so", "wait_for", options=[library, "-Wl,-rpath,$ORIGIN"])))


# X2


def for_android(bench: Bench, form: str) -> Made:
    inputs = [bench.cxx(CONTAINERS), "-B/usr/lib/llvm-15/bin", "-fuse-ld=lld"]
    return Made(str(bench.link("op.so", *inputs, f"-Wl,--pack-dyn-relocs={form}")))


@recipe
def android_relr(bench: Bench) -> Made:
    return for_android(bench, "relr,--use-android-relr-tags")


@recipe
def android_rela(bench: Bench) -> Made:
    return for_android(bench, "android")
