"""Device code: for other devices, of other versions, damaged. There is no GPU here: launching is judged by construction."""

import struct

import trees
from recipes_healthy import SUFFIX
from workshop import (
    SECOND_KERNEL,
    Bench,
    Made,
    calls,
    ccob,
    code_objects,
    elf_sections,
    fatbin_of,
    patch,
    recipe,
    replace_bytes,
    run,
    with_fatbin,
)

RUNTIME = "-lamdhip64"


def fill(bench: Bench, *archs: str, arguments=(), name: str = "fill.so", **made) -> Made:
    return Made(str(bench.link(name, bench.hip(*archs), RUNTIME)), arguments=list(arguments), **made)


# I1


@recipe
def neighbour_of_the_arch(bench: Bench) -> Made:
    """There is no compatibility from gfx1030 to gfx1031."""
    return fill(bench, "gfx1030", arguments=["--arch", "gfx1031"])


@recipe
def other_arch_by_rocminfo(bench: Bench) -> Made:
    return fill(bench, "gfx906", "gfx90a", arguments=["--rocminfo", trees.rocminfo(bench, "gfx936:sramecc+:xnack-")])


@recipe
def other_arch_by_sysfs(bench: Bench) -> Made:
    return fill(bench, "gfx906", arguments=["--root", trees.machine(bench, {}, 110000)])


@recipe
def one_of_two_devices(bench: Bench) -> Made:
    return fill(bench, "gfx906", arguments=["--rocminfo", trees.rocminfo(bench, "gfx906:sramecc+:xnack-", "gfx1030")])


@recipe
def xnack_differs(bench: Bench) -> Made:
    return fill(bench, "gfx90a:xnack-", arguments=["--arch", "gfx90a:sramecc+:xnack+"])


@recipe
def sramecc_differs(bench: Bench) -> Made:
    return fill(bench, "gfx90a:sramecc+:xnack-", arguments=["--arch", "gfx90a:sramecc-:xnack-"])


@recipe
def one_unit_without_the_arch(bench: Bench) -> Made:
    file = bench.link("fill.so", bench.hip("gfx906", "gfx90a"), bench.hip("gfx906", source=SECOND_KERNEL), RUNTIME)
    return Made(str(file), arguments=["--arch", "gfx90a"])


@recipe
def other_arch_stripped(bench: Bench) -> Made:
    made = fill(bench, "gfx906", arguments=["--arch", "gfx928"])
    run("llvm-objcopy-15", "--strip-sections", made.file)
    return made


@recipe
def device_code_removed(bench: Bench) -> Made:
    source = bench.hip("gfx906", flags=["--cuda-host-only"])
    blob = bench.write("empty", bytes(4096))
    target = bench.path("host.o")
    run("objcopy", "--add-section", f".hip_fatbin={blob}", source, target)
    file = bench.link(
        "fill.so", target, RUNTIME, bench.object('__attribute__((visibility("hidden"))) char __hip_fatbin[4096];')
    )
    return Made(str(file), arguments=["--arch", "gfx906"])


# I2


@recipe
def library_without_the_arch(bench: Bench) -> Made:
    library = bench.link("lib/libMIOpen.so.1", bench.hip("gfx906"), RUNTIME, "-Wl,-soname,libMIOpen.so.1")
    file = bench.link("op.so", bench.hip("gfx90a", source=SECOND_KERNEL), library, RUNTIME, "-Wl,-rpath,$ORIGIN/lib")
    return Made(str(file), arguments=["--arch", "gfx90a"])


@recipe
def host_file_with_a_library_without_the_arch(bench: Bench) -> Made:
    """The module itself has no device code: all of it is in its library."""
    library = bench.link("lib/libop_kernels.so", bench.hip("gfx906"), RUNTIME, "-Wl,-soname,libop_kernels.so")
    file = bench.module("op", "launch", options=[library, "-Wl,-rpath,$ORIGIN/lib"])
    return Made(str(file), "import", arguments=["--rocminfo", trees.rocminfo(bench, "gfx90a:sramecc+:xnack-")])


# I3


@recipe
def override_left_set(bench: Bench) -> Made:
    made = fill(bench, "gfx90a", arguments=["--root", trees.machine(bench, {}, 90010)])
    made.env["HSA_OVERRIDE_GFX_VERSION"] = "10.3.0"
    return made


@recipe
def override_of_a_neighbour(bench: Bench) -> Made:
    """gfx906 code on a gfx928: the runtime accepts it, nobody knows what it does."""
    made = fill(bench, "gfx906", arguments=["--root", trees.dcu(bench, 90208)])
    made.env["HSA_OVERRIDE_GFX_VERSION"] = "9.0.6"
    return made


@recipe
def override_that_is_none(bench: Bench) -> Made:
    made = fill(bench, "gfx90a", arguments=["--root", trees.machine(bench, {}, 90010)])
    made.env["HSA_OVERRIDE_GFX_VERSION"] = "gfx90a"
    return made


# I4: what rocBLAS opens by name


def rocblas(bench: Bench, files, version: int, arch: str) -> Made:
    library = bench.library("machine/opt/rocm/lib/librocblas.so.4", "int rocblas_create(void) { return 0; }")
    bench.write("machine/opt/rocm/.info/version", "6.2.1\n")
    file = bench.link("op.so", bench.hip(arch), bench.object(calls(["rocblas_create"])), library, RUNTIME)
    content = {f"opt/rocm/lib/rocblas/library/{name}": "x" for name in files}
    return Made(
        str(file),
        arguments=["--root", trees.machine(bench, content, version)],
        env={"LD_LIBRARY_PATH": str(library.parent)},
    )


@recipe
def rocblas_without_the_arch(bench: Bench) -> Made:
    names = ["TensileLibrary_lazy_gfx906.dat", "TensileLibrary_lazy_gfx90a.dat", "Kernels.so-000-gfx906.hsaco"]
    return rocblas(bench, names, 100300, "gfx1030")


@recipe
def rocblas_without_any_file(bench: Bench) -> Made:
    return rocblas(bench, ["TensileLibrary_gfx1030.dat"], 90006, "gfx906")


# I5


@recipe
def rdc_without_device_link(bench: Bench) -> Made:
    return Made(
        str(bench.link("op.so", bench.hip("gfx906", flags=["-fgpu-rdc"]), RUNTIME)), arguments=["--arch", "gfx906"]
    )


@recipe
def rdc_of_a_newer_clang(bench: Bench) -> Made:
    source = bench.object("extern char __hip_fatbin_4f2a1c77; char* op_run(void) { return &__hip_fatbin_4f2a1c77; }")
    return Made(str(bench.link(f"op{SUFFIX}", source, RUNTIME)))


# I6


def compressed(bench: Bench, version: int) -> Made:
    source = bench.hip("gfx906")
    packed = ccob(fatbin_of(source).rstrip(b"\0") + bytes(64), version)
    return Made(str(bench.link("fill.so", with_fatbin(bench, source, packed), RUNTIME)), arguments=["--arch", "gfx906"])


@recipe
def compressed_version_2(bench: Bench) -> Made:
    return compressed(bench, 2)


@recipe
def compressed_version_3(bench: Bench) -> Made:
    return compressed(bench, 3)


# I7, I8


@recipe
def code_object_without_metadata(bench: Bench) -> Made:
    """The metadata note is of no kind that a runtime looks for."""
    made = fill(bench, "gfx906", arguments=["--arch", "gfx906"])
    replace_bytes(bench.path("fill.so"), b"AMDGPU\0", b"XMDGPU\0", ".hip_fatbin")
    return made


@recipe
def code_object_damaged(bench: Bench) -> Made:
    made = fill(bench, "gfx906", arguments=["--arch", "gfx906"])
    file = bench.path("fill.so")
    for offset in code_objects(file):
        patch(file, offset + 32, struct.pack("<Q", 1 << 40))  # the program headers lie nowhere
    return made


@recipe
def code_object_zeroed(bench: Bench) -> Made:
    made = fill(bench, "gfx906", "gfx90a", arguments=["--arch", "gfx90a"])
    file = bench.path("fill.so")
    for offset in code_objects(file):
        patch(file, offset, bytes(4096))
    return made


@recipe
def bundle_damaged(bench: Bench) -> Made:
    made = fill(bench, "gfx906", arguments=["--arch", "gfx906"])
    file = bench.path("fill.so")
    offset = elf_sections(file.read_bytes())[".hip_fatbin"][0]
    patch(file, offset + 24, struct.pack("<Q", 1 << 33))  # so many entries
    return made


@recipe
def code_object_version_6(bench: Bench) -> Made:
    """HIP 5.2 knows code objects up to V5: https://llvm.org/docs/AMDGPUUsage.html#elf-code-object"""
    made = fill(bench, "gfx906", arguments=["--arch", "gfx906"])
    file = bench.path("fill.so")
    for offset in code_objects(file):
        patch(file, offset + 8, b"\x04")
    return made


@recipe
def code_object_version_unknown(bench: Bench) -> Made:
    made = fill(bench, "gfx906", arguments=["--arch", "gfx906"])
    file = bench.path("fill.so")
    for offset in code_objects(file):
        patch(file, offset + 8, b"\x2a")
    return made
