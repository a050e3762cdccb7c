"""Makes the files of the cases: compilers, linkers, stub libraries, and byte edits.

Objects are kept by the content of what they are made from, cases by the recipes' text, so that a second run only loads
and looks.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import functools
import hashlib
import json
import os
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Optional, Sequence

HERE = Path(__file__).resolve().parent
PYTHON = os.environ.get("DCUOP_TEST_PYTHON", "/usr/bin/python3")
#: What every recipe may use.
SHARED = ("workshop.py", "trees.py", "recipes_healthy.py")
SYSTEM_LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")


@dataclasses.dataclass
class Made:
    """A case's file, and how it is loaded and asked about."""

    file: str
    way: str = "dlopen"  #: or "import"
    module: str = ""  #: the name that is imported, where it is not the file's own
    env: Dict[str, str] = dataclasses.field(default_factory=dict)
    arguments: List[str] = dataclasses.field(default_factory=list)  #: of `dcuop doctor`
    prefix: List[str] = dataclasses.field(default_factory=list)  #: before each command: limits, mounts
    jit_cache: bool = False  #: `dcuop doctor --torch-extensions` is asked, not about the file alone
    command: List[str] = dataclasses.field(default_factory=list)  #: fails; the doctor is given what it says
    impossible: str = ""  #: why it cannot be made on this machine


Recipe = Callable[["Bench"], Made]
RECIPES: Dict[str, Recipe] = {}


def recipe(function: Recipe) -> Recipe:
    """The case of this name is made by this function."""
    assert function.__name__ not in RECIPES, function.__name__
    RECIPES[function.__name__] = function
    return function


def run(*command: object, **options) -> str:
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, encoding="utf-8", errors="replace", check=False, **options
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


@functools.lru_cache(maxsize=None)
def tools() -> str:
    """What a made file depends on beside its recipe."""
    versions = [run(tool, "--version").splitlines()[0] for tool in ("gcc", "clang-15", "ld", "patchelf", PYTHON)]
    torch = Path("/usr/lib/python3/dist-packages/torch/version.py")
    return "\n".join(versions + [torch.read_text() if torch.exists() else "no torch"])


def digest(*parts: object) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:24]


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Workshop:
    """A work directory, shared by runs and by processes."""

    def __init__(self, root: Path):
        self.root = root.resolve()

    def case(self, name: str) -> Made:
        """Makes the case, unless it lies there, made by the same recipe."""
        function = RECIPES[name]
        sources = {Path(function.__code__.co_filename), *(HERE / name for name in SHARED)}
        key = digest(*(source.read_text("utf-8") for source in sorted(sources)), tools(), self.root)
        directory = self.root / "cases" / name
        stamp = self.root / "stamps" / f"{name}.json"
        with locked(stamp.with_suffix(".lock")):
            if stamp.exists():
                known = json.loads(stamp.read_text("utf-8"))
                if known["key"] == key:
                    return Made(**known["made"])
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir(parents=True)
            made = function(Bench(self, directory))
            stamp.write_text(json.dumps({"key": key, "made": dataclasses.asdict(made)}), "utf-8")
            return made

    def kept(self, suffix: str, key: str, make: Callable[[Path], None]) -> Path:
        """A file or directory by the digest of what it is made from."""
        target = self.root / "kept" / f"{key}{suffix}"
        with locked(target.with_suffix(".lock")):
            if not target.exists():
                half = target.with_name(f"half-{target.name}")
                shutil.rmtree(half, ignore_errors=True)
                make(half)
                half.rename(target)
        return target


class Bench:
    """One case's place in the workshop."""

    def __init__(self, workshop: Workshop, directory: Path):
        self.workshop = workshop
        self.directory = directory

    def path(self, name: str) -> Path:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, name: str, content: "str | bytes" = "") -> Path:
        path = self.path(name)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def object(self, source: str, *flags: object, compiler: str = "gcc", language: str = "c") -> Path:
        def compile_to(half: Path) -> None:
            text = half.with_suffix(f".{language}")
            text.write_text(source, "utf-8")
            run(compiler, "-fPIC", "-O1", *flags, "-c", text, "-o", half)

        return self.workshop.kept(".o", digest(source, compiler, language, *flags, tools()), compile_to)

    def cxx(self, source: str, *flags: object) -> Path:
        return self.object(source, *flags, compiler="g++", language="cpp")

    def hip(self, *archs: str, source: str = "", flags: Sequence[str] = ()) -> Path:
        targets = [f"--offload-arch={arch}" for arch in archs]
        return self.object(source or KERNEL, *targets, *flags, compiler="hipcc", language="hip")

    def link(self, name: str, *inputs: object, linker: str = "g++") -> Path:
        output = self.path(name)
        run(linker, "-shared", "-Wl,--no-as-needed", *inputs, "-o", output, cwd=self.directory)
        return output

    def library(
        self, name: str, source: str = "int answer(void) { return 42; }", *options: object, soname: str = ""
    ) -> Path:
        """A C library; its SONAME is the file's name unless said otherwise, "-" for none."""
        given = soname or Path(name).name
        wish = [] if given == "-" else [f"-Wl,-soname,{given}"]
        return self.link(name, self.object(source), *wish, *options, linker="gcc")

    def stub(self, soname: str, *functions: str, node: str = "") -> Path:
        """A library to link against that is not there when the file is loaded; `node`: its symbols' version."""
        body = "".join(
            f'int s{i}(void) __asm__("{name}"); int s{i}(void) {{ return {i}; }}\n' for i, name in enumerate(functions)
        )
        script: List[object] = []
        if node:
            text = self.write(f"link/{soname}.map", f"{node} {{ global: *; }};\n")
            script = [f"-Wl,--version-script,{text}"]
        return self.library(f"link/{soname}", body or "int nothing;", *script, soname=soname)

    def module(self, name: str, *wanted: str, file: str = "", options: Sequence[object] = (), tail: str = "") -> Path:
        """A Python module by the C API that calls the functions `wanted`."""
        target = file or f"{name}.cpython-311-x86_64-linux-gnu.so"
        return self.link(
            target, self.object(module_source(name, wanted) + tail, "-I/usr/include/python3.11"), *options, linker="gcc"
        )

    def user(self, name: str, *wanted: str, options: Sequence[object] = ()) -> Path:
        """A plain library that calls the functions `wanted`."""
        return self.link(name, self.object(calls(wanted)), *options, linker="gcc")


KERNEL = """
#include <hip/hip_runtime.h>
__global__ void fill(float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { y[i] = 3.0f; }
}
extern "C" int launch(float* y, int n) {
  fill<<<dim3(1), dim3(64)>>>(y, n);
  return hipGetLastError();
}
"""
SECOND_KERNEL = KERNEL.replace("fill", "drain").replace("launch", "launch_second")


def calls(wanted: Sequence[str]) -> str:
    """C that calls functions by their mangled names."""
    declared = "".join(f'extern int w{i}(void) __asm__("{name}");\n' for i, name in enumerate(wanted))
    return declared + "int op_run(void) { return 0" + "".join(f" + w{i}()" for i in range(len(wanted))) + "; }\n"


def module_source(name: str, wanted: Sequence[str]) -> str:
    return f"""
#include <Python.h>
{calls(wanted)}
static PyObject* run(PyObject* self, PyObject* unused) {{ return PyLong_FromLong(op_run()); }}
static PyMethodDef methods[] = {{{{"run", run, METH_NOARGS, ""}}, {{NULL}}}};
static struct PyModuleDef definition = {{PyModuleDef_HEAD_INIT, "{name}", NULL, -1, methods}};
PyMODINIT_FUNC PyInit_{name}(void) {{ return PyModule_Create(&definition); }}
"""


# --- byte edits


def elf_sections(data: bytes) -> Dict[str, tuple]:
    """Name -> (offset, size, link) of a 64-bit ELF's sections."""
    table = struct.unpack_from("<Q", data, 0x28)[0]
    size, count, names_index = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * size) for i in range(count)]
    names = headers[names_index][4]
    result = {}
    for header in headers:
        start = names + header[0]
        result[data[start : data.index(b"\0", start)].decode()] = (header[4], header[5], header[6])
    return result


def elf_hash(name: str) -> int:
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ (high >> 24)) & ~high & 0xFFFFFFFF
    return value


def rename_version(file: Path, old: str, new: str) -> None:
    """Gives a symbol version of a library, or one that a file wants, another name of the same length."""
    assert len(old) == len(new)
    data = bytearray(file.read_bytes())
    strings = elf_sections(bytes(data))[".dynstr"]
    start = data.index(b"\0" + old.encode() + b"\0", strings[0], strings[0] + strings[1]) + 1
    data[start : start + len(old)] = new.encode()
    offset = start - strings[0]
    found = 0
    sections = elf_sections(bytes(data))
    at = sections.get(".gnu.version_r", (0, 0, 0))[0]
    while at:
        count, _, aux, following = struct.unpack_from("<HIII", data, at + 2)
        entry = at + aux
        for _ in range(count):
            name, step = struct.unpack_from("<II", data, entry + 8)
            if name == offset:
                struct.pack_into("<I", data, entry, elf_hash(new))
                found += 1
            entry += step
        at = at + following if following else 0
    at = sections.get(".gnu.version_d", (0, 0, 0))[0]
    while at:
        aux, following = struct.unpack_from("<II", data, at + 12)
        if struct.unpack_from("<I", data, at + aux)[0] == offset:
            struct.pack_into("<I", data, at + 8, elf_hash(new))
            found += 1
        at = at + following if following else 0
    assert found, f"{file} has no version {old}"
    file.write_bytes(data)


def replace_bytes(file: Path, old: bytes, new: bytes, section: Optional[str] = None) -> int:
    """Every `old` becomes `new`, of the same length; how many there were."""
    assert len(old) == len(new)
    data = bytearray(file.read_bytes())
    begin, end = 0, len(data)
    if section:
        offset, size, _ = elf_sections(bytes(data))[section]
        begin, end = offset, offset + size
    part = bytes(data[begin:end])
    count = part.count(old)
    assert count, f"{file} has no {old!r}"
    data[begin:end] = part.replace(old, new)
    file.write_bytes(data)
    return count


def patch(file: Path, offset: int, content: bytes) -> None:
    with open(file, "r+b") as stream:
        stream.seek(offset)
        stream.write(content)


def code_objects(file: Path) -> List[int]:
    """File offsets of the AMDGPU ELFs in .hip_fatbin."""
    data = file.read_bytes()
    offset, size, _ = elf_sections(data)[".hip_fatbin"]
    found, at = [], data.find(b"\x7fELF\x02\x01\x01\x40", offset)
    while offset <= at < offset + size:
        found.append(at)
        at = data.find(b"\x7fELF\x02\x01\x01\x40", at + 1)
    return found


def with_fatbin(bench: Bench, source: Path, content: bytes, name: str = "edited.o") -> Path:
    """A copy of an object with another .hip_fatbin."""
    blob = bench.write(f"{name}.fatbin", content)
    target = bench.path(name)
    run("objcopy", "--update-section", f".hip_fatbin={blob}", source, target)
    return target


def fatbin_of(file: Path) -> bytes:
    data = file.read_bytes()
    offset, size, _ = elf_sections(data)[".hip_fatbin"]
    return data[offset : offset + size]


def ccob(bundle: bytes, version: int) -> bytes:
    """The bundle as clang compresses it: https://clang.llvm.org/docs/ClangOffloadBundler.html"""
    packed = subprocess.run(["zstd", "-q", "-c"], input=bundle, capture_output=True, check=True).stdout
    checksum = hashlib.md5(bundle).digest()[:8]
    if version == 2:
        return b"CCOB" + struct.pack("<HHII", 2, 1, 24 + len(packed), len(bundle)) + checksum + packed
    return b"CCOB" + struct.pack("<HHQQ", 3, 1, 32 + len(packed), len(bundle)) + checksum + packed
