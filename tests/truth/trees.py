"""Larger things that cases share: a torch laid out as its wheels are, DTK trees, saved machines and rocminfo outputs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Dict, List

from workshop import Bench, Made, digest, replace_bytes, run, tools

TORCH = Path("/usr/lib/python3/dist-packages/torch")
WHEEL_LIBRARIES = ["libc10", "libshm", "libtorch", "libtorch_cpu", "libtorch_global_deps", "libtorch_python"]
HIP_VERSION_PY = """__version__ = '1.13.1+rocm5.2'
debug = False
cuda = None
git_version = 'Unknown'
hip = '5.2.21153-02187ecf'
"""


def wheel(bench: Bench) -> Path:
    """site-packages with torch as pip lays it out: its libraries in torch/lib, and nowhere else.

    Debian's lie on the loader's default path, where a file finds them without torch.
    """
    return bench.workshop.kept("-site", digest("wheel", Path(__file__).read_text("utf-8"), tools()), _lay_out)


def _lay_out(site: Path) -> None:
    torch = site / "torch"
    site.mkdir(parents=True)
    run("cp", "-rs", TORCH, torch)
    for library in (torch / "lib").iterdir():
        library.unlink()
    renames: List[str] = []
    for name in WHEEL_LIBRARIES:
        renames += ["--replace-needed", f"{name}.so.1.13", soname(name)]
    for name in WHEEL_LIBRARIES:
        target = torch / "lib" / f"{name}.so"
        shutil.copy(os.path.realpath(TORCH / "lib" / f"{name}.so"), target)
        rename(target, soname(name), renames, "$ORIGIN")
        (torch / "lib" / soname(name)).symlink_to(target.name)
    for module in torch.glob("_C*.so"):
        real = Path(os.path.realpath(module))
        module.unlink()
        shutil.copy(real, module)
        rename(module, "", renames, "$ORIGIN/lib")


def soname(name: str) -> str:
    """One that is nowhere on the loader's default path: libtorch-dev puts a libc10.so there."""
    return f"{name}.so.9"


def rename(file: Path, its_soname: str, renames: List[str], rpath: str) -> None:
    """One change a run: patchelf 0.14 mixes up its strings when it is asked for all of them at once."""
    if its_soname:
        run("patchelf", "--set-soname", its_soname, file)
    run("patchelf", *renames, file)
    run("patchelf", "--set-rpath", rpath, file)


def hip_wheel(bench: Bench) -> Path:
    """The same, saying that it is for HIP, with the small libraries that only a HIP torch has."""
    key = digest("hip wheel", Path(__file__).read_text("utf-8"), tools())
    plain = wheel(bench)

    def lay_out(site: Path) -> None:
        site.mkdir(parents=True)
        run("cp", "-rs", plain / "torch", site / "torch")
        # The loader takes $ORIGIN from where a link stands, torch from where its __init__.py does: both are here.
        (site / "torch" / "version.py").unlink()
        (site / "torch" / "version.py").write_text(HIP_VERSION_PY)
        libraries = site / "torch" / "lib"
        for name, functions in HIP_HALF.items():
            body = "".join(
                f'int s{i}(void) __asm__("{symbol}"); int s{i}(void) {{ return {i}; }}\n'
                for i, symbol in enumerate(functions)
            )
            source = site / f"{name}.c"
            source.write_text(body)
            run("gcc", "-shared", "-fPIC", source, f"-Wl,-soname,{name}", "-o", libraries / name)
            source.unlink()

    return bench.workshop.kept("-site", key, lay_out)


#: Of c10/hip of torch 2.1, where the line is unsigned and a device index is signed char.
HIP_HALF: Dict[str, List[str]] = {
    "libc10_hip.so": [
        "_ZN3c103hip9SetDeviceEa",
        "_ZN3c103hip28c10_hip_check_implementationEiPKcS2_jb",
        "_ZN3c103hip20getCurrentHIPStreamEa",
    ],
    "libtorch_hip.so": ["_ZN2at3hip25getCurrentDevicePropertiesEv"],
    "libamdhip64.so": ["hipWheelOnly"],
    "libhipblas.so.2": ["hipblasWheelOnly"],
}


def rocminfo(bench: Bench, *targets: str, name: str = "rocminfo.txt") -> str:
    """A saved output of rocminfo that lists these devices."""
    agents = [
        "ROCk module is loaded",
        "=====================",
        "HSA Agents",
        "=====================",
        "*******",
        "Agent 1",
        "*******",
        "  Name:                    Some Processor",
        "  Device Type:             CPU",
    ]
    for number, target in enumerate(targets, 2):
        agents += [
            "*******",
            f"Agent {number}",
            "*******",
            f"  Name:                    {target.split(':')[0]}",
            "  Device Type:             GPU",
            "  ISA Info:",
            "    ISA 1",
            f"      Name:                    amdgcn-amd-amdhsa--{target}",
        ]
    return str(bench.write(name, "\n".join(agents + ["*** Done ***", ""])))


def machine(bench: Bench, files: Dict[str, str], *versions: int) -> str:
    """A saved machine: its files, and the devices of KFD by their gfx_target_version."""
    root = bench.path("machine")
    nodes = "sys/class/kfd/kfd/topology/nodes"
    everything = {
        f"{nodes}/0/properties": "cpu_cores_count 64\nsimd_count 0\ngfx_target_version 0\n",
        "proc/modules": "amdgpu 1 0 - Live 0x0\n",
        **files,
    }
    for number, version in enumerate(versions, 1):
        everything[f"{nodes}/{number}/properties"] = (
            "cpu_cores_count 0\nsimd_count 240\nsimd_per_cu 4\nwave_front_size 64\n"
            f"gfx_target_version {version}\nunique_id {number}\n"
        )
    for name, content in everything.items():
        bench.write(f"machine/{name}", content)
    return str(root)


HIP_ENTRIES = [
    "__hipPopCallConfiguration",
    "__hipPushCallConfiguration",
    "__hipRegisterFatBinary",
    "__hipRegisterFunction",
    "__hipUnregisterFatBinary",
    "hipGetLastError",
    "hipLaunchKernel",
]


def hip_runtime(bench: Bench, name: str, *options: object) -> Path:
    """A library of this name with all that a file with a kernel calls."""
    return bench.library(name, "".join(f"int {entry}(void) {{ return 0; }}\n" for entry in HIP_ENTRIES), *options)


def dtk(bench: Bench, directory: str = "machine/opt/dtk") -> Path:
    """DTK's libgalaxyhip in such a tree, and what the driver brings beside it; nothing else of DTK."""
    bench.write(f"{directory}/.dtk_version", "DTK-25.04\n")
    bench.write("machine/opt/hyhal/lib/libhsa-runtime64.so.1", "x")
    return hip_runtime(bench, f"{directory}/hip/lib/libgalaxyhip.so.5")


def kernel_on_dtk(bench: Bench) -> Made:
    """LD_LIBRARY_PATH leads to the runtime; gfx936 cannot be compiled here, its name is put in."""
    runtime = dtk(bench)
    file = bench.link("fill.so", bench.hip("gfx906"), runtime)
    replace_bytes(file, b"gfx906", b"gfx936", ".hip_fatbin")
    return Made(
        str(file),
        arguments=["--root", dcu(bench, 90306)],
        env={"ROCM_PATH": str(bench.path("machine/opt/dtk")), "LD_LIBRARY_PATH": str(runtime.parent)},
    )


def dcu(bench: Bench, *versions: int) -> str:
    """A saved machine with DCUs and their driver."""
    return machine(bench, {"proc/modules": "hycu 1 0 - Live 0x0\n"}, *versions)
