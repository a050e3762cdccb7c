"""What no file shows: a command that really fails here, and what it says.

The doctor is given the output (`dcuop doctor --message`), as people paste it.
"""

import os
import zipfile
from pathlib import Path

from recipes_healthy import SUFFIX, TORCH_LIBRARIES, TORCH_LIBRARY
from workshop import PYTHON, Bench, Made, recipe

DIST_PACKAGES = Path("/usr/lib/python3/dist-packages")
EMPTY_PYBIND = """
#include <pybind11/pybind11.h>
static int mymuladd(int a, int b, int c) { return a * b + c; }
PYBIND11_MODULE(extension_cpp, m) { (void)&mymuladd; }
"""


def python(*lines: str) -> list:
    return [PYTHON, "-c", "\n".join(lines)]


# C9


def wheel(bench: Bench, tag: str) -> Path:
    name = f"fused_ops-1.0-{tag}.whl"
    with zipfile.ZipFile(bench.path(name), "w") as file:
        info = "fused_ops-1.0.dist-info"
        file.writestr("fused_ops/__init__.py", "")
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: fused-ops\nVersion: 1.0\n")
        file.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n")
        file.writestr(f"{info}/RECORD", "")
    return bench.path(name)


def install(bench: Bench, tag: str) -> Made:
    target = bench.path("site")
    command = [PYTHON, "-m", "pip", "install", "--no-index", "--no-deps", "--target", str(target)]
    return Made("", command=[*command, str(wheel(bench, tag))])


@recipe
def wheel_for_newer_glibc(bench: Bench) -> Made:
    return install(bench, "cp311-cp311-manylinux_2_99_x86_64")


@recipe
def wheel_for_other_python(bench: Bench) -> Made:
    return install(bench, "cp38-cp38-manylinux2014_x86_64")


# F2


@recipe
def function_not_bound(bench: Bench) -> Made:
    source = bench.cxx(EMPTY_PYBIND, "-std=c++17", "-O0", "-isystem", "/usr/include/python3.11")
    file = bench.link(f"extension_cpp{SUFFIX}", source)
    path = f"sys.path.insert(0, {str(file.parent)!r})"
    return Made("", command=python("import sys", path, "import extension_cpp", "extension_cpp.mymuladd(1, 2, 3)"))


@recipe
def function_under_another_name(bench: Bench) -> Made:
    """The module has `run`; the caller's version of it had `run_fused`."""
    file = bench.module("fused")
    path = f"sys.path.insert(0, {str(file.parent)!r})"
    return Made("", command=python("import sys", path, "import fused", "print(fused.run_fused())"))


# I9


def torch_op(bench: Bench, call: str) -> Made:
    file = bench.link("libtruth_ops.so", bench.cxx(TORCH_LIBRARY, "-std=c++17", "-O0"), *TORCH_LIBRARIES)
    return Made("", command=python("import torch", f"torch.ops.load_library({str(file)!r})", call))


@recipe
def operator_not_in_this_build(bench: Bench) -> Made:
    return torch_op(bench, "print(torch.ops.truth_ops.cutlass_scaled_mm_supports_fp8(94))")


@recipe
def operators_of_another_library(bench: Bench) -> Made:
    return torch_op(bench, "print(torch.ops._C.silu_and_mul(torch.zeros(2)))")


# I10


@recipe
def jit_without_ninja(bench: Bench) -> Made:
    lines = [
        "from torch.utils.cpp_extension import load_inline",
        "load_inline('add_one', 'int add_one(int x) { return x + 1; }', functions=['add_one'])",
    ]
    tools = bench.path("bin/c++").parent
    for tool in ("c++", "g++", "gcc", "cc"):
        (tools / tool).symlink_to(f"/usr/bin/{tool}")
    environment = {"PATH": str(tools), "TORCH_EXTENSIONS_DIR": str(bench.path("cache/x").parent)}
    return Made("", command=python(*lines), env=environment)


@recipe
def jit_without_setuptools(bench: Bench) -> Made:
    """An environment with torch and what it imports, and without setuptools."""
    site = bench.path("site/x").parent
    for entry in DIST_PACKAGES.iterdir():
        if not entry.name.startswith(("setuptools", "pkg_resources", "_distutils_hack", "distutils")):
            os.symlink(entry, site / entry.name)
    # -S keeps /usr/lib/python3/dist-packages itself off the path.
    command = [PYTHON, "-S", "-c", "from torch.utils.cpp_extension import load_inline"]
    return Made("", command=command, env={"PYTHONPATH": str(site)})
