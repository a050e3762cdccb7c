"""What the suites share: the real dcuop binary, an environment without surprises, and small operators.

The binary is $DCUOP_BINARY, else build/release/dcuop. Each test has its own home and cache. Most operators
here read no torch header: such a build takes a second, one with torch's takes ten.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import shutil
import signal
import subprocess
import textwrap
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence

import pytest
from warm_python import WarmPython

# A shell starts what it puts into the background with SIGINT ignored, and so would all that is interrupted here.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[2]
#: The interpreter that has torch: Debian's.
PYTHON = os.environ.get("DCUOP_TEST_PYTHON", "/usr/bin/python3")
ARCH = "gfx906"

CXX_SOURCE = """
    extern "C" int scaled(int x) { return x * 3; }
"""

HIP_SOURCE = """
    #include <hip/hip_runtime.h>
    __global__ void fill(float* y, int n) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) { y[i] = 3.0f; }
    }
    extern "C" int scaled(int x) { return x * 3; }
    extern "C" int launch(float* y, int n) {
      fill<<<dim3(1), dim3(64)>>>(y, n);
      return hipGetLastError();
    }
"""

#: What a launch needs of <hip/hip_runtime.h>. To read that, and the header that clang reads before every HIP source
#: unless -nogpuinc says no, takes three quarters of the time of a build.
HIP_DECLARATIONS = """
    #define __global__ __attribute__((global))
    #define __device__ __attribute__((device))
    using hipStream_t = struct ihipStream_t*;
    struct dim3 {
      unsigned x, y, z;
      constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
    };
    extern "C" int hipLaunchKernel(const void*, dim3, dim3, void**, unsigned long, hipStream_t);
    extern "C" int __hipPushCallConfiguration(dim3, dim3, unsigned long = 0, hipStream_t = nullptr);
    extern "C" int __hipPopCallConfiguration(dim3*, dim3*, unsigned long*, hipStream_t*);
    extern "C" int hipGetLastError();
"""
LIGHT_HIP_SOURCE = HIP_SOURCE.replace("    #include <hip/hip_runtime.h>\n", HIP_DECLARATIONS).replace(
    "blockIdx.x * blockDim.x + threadIdx.x", "__builtin_amdgcn_workitem_id_x()"
)
LIGHT_HIP_FLAGS = ["-nogpuinc"]


@dataclasses.dataclass(frozen=True)
class Result:
    """How one run of dcuop ended."""

    command: Sequence[str]
    rc: int
    stdout: str
    stderr: str

    @functools.cached_property
    def json(self) -> Any:
        try:
            return json.loads(self.stdout)
        except ValueError:
            raise AssertionError(f"stdout is no JSON\n{self}") from None

    @property
    def op(self) -> Dict[str, Any]:
        """The one operator of a `build --json`."""
        ops = self.json["ops"]
        assert len(ops) == 1, str(self)
        return ops[0]

    def compiled(self) -> List[str]:
        """The sources that a `build --json` compiled, of all its operators, sorted."""
        return sorted(
            unit["source"] for op in self.json["ops"] for unit in op.get("units", ()) if unit["status"] == "compiled"
        )

    def __str__(self) -> str:
        return f"$ {' '.join(self.command)}\nrc {self.rc}\n--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}"


@pytest.fixture(scope="session")
def dcuop_binary() -> Path:
    binary = Path(os.environ.get("DCUOP_BINARY", ROOT / "build" / "release" / "dcuop")).resolve()
    if not os.access(binary, os.X_OK):
        pytest.exit(f"{binary} is missing: `make build` first, or set DCUOP_BINARY", returncode=3)
    return binary


@pytest.fixture
def cache_dir(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def environment(tmp_path: Path, cache_dir: Path) -> Dict[str, str]:
    """All of it: nothing of the caller's environment reaches dcuop, but for the sanitizers' options."""
    home = tmp_path / "home"
    home.mkdir()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    kept = {name: os.environ[name] for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS") if name in os.environ}
    return {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": str(home),
        "TMPDIR": str(scratch),
        "LANG": "C.UTF-8",
        "DCUOP_CACHE_DIR": str(cache_dir),
        "DCUOP_PYTHON": PYTHON,
        **kept,
    }


Run = Callable[..., Result]


@pytest.fixture
def run(dcuop_binary: Path, environment: Dict[str, str], tmp_path: Path) -> Run:
    """run("build", op, env={"X": "1", "Y": None}, cwd=...): env adds to the environment, None takes away."""

    def run_dcuop(
        *arguments: object,
        env: Optional[Mapping[str, Optional[str]]] = None,
        cwd: Optional[Path] = None,
        timeout: float = 300,
    ) -> Result:
        merged = {**environment, **(env or {})}
        command = [str(dcuop_binary), *map(str, arguments)]
        done = subprocess.run(
            command,
            env={name: value for name, value in merged.items() if value is not None},
            cwd=cwd or tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=timeout,
            check=False,
        )
        return Result(command, done.returncode, done.stdout, done.stderr)

    return run_dcuop


def _toml(value: object) -> str:
    # JSON's strings, numbers, booleans and arrays are TOML's too.
    return json.dumps(value, ensure_ascii=False)


def write_op(
    directory: Path,
    *,
    name: Optional[str] = None,
    sources: Optional[Mapping[str, str]] = None,
    files: Optional[Mapping[str, str]] = None,
    op: Optional[Mapping[str, object]] = None,
    build: Optional[Mapping[str, object]] = None,
) -> Path:
    """Writes an operator: `sources` are listed in the manifest, `files` only lie beside them.

    `op` and `build` add keys to those sections, or replace them. Plain, bound to nothing, one C++ source
    unless said otherwise.
    """
    directory.mkdir(parents=True, exist_ok=True)
    sources = sources if sources is not None else {"op.cpp": CXX_SOURCE}
    for path, text in {**sources, **(files or {})}.items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(textwrap.dedent(text), encoding="utf-8")
    sections = {
        "op": {"name": name or directory.name, "kind": "plain", "abi": "none", **(op or {})},
        "build": {"sources": list(sources), "archs": [ARCH, "gfx90a"], "allow_cpu_torch": True, **(build or {})},
    }
    lines: List[str] = []
    for section, keys in sections.items():
        lines.append(f"[{section}]")
        lines += [f"{key} = {_toml(value)}" for key, value in keys.items()]
    (directory / "dcuop.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return directory


@pytest.fixture
def make_op(tmp_path: Path) -> Callable[..., Path]:
    """make_op("scale", sources={...}): an operator in a directory of its own below tmp_path; see write_op."""

    def make(name: str = "scale", **parts: Any) -> Path:
        return write_op(tmp_path / "ops" / name, **parts)

    return make


@pytest.fixture
def hip_op(make_op: Callable[..., Path]) -> Path:
    """A plain operator with one small kernel, which reads no header."""
    return make_op("fill", sources={"fill.hip": LIGHT_HIP_SOURCE}, build={"hip_flags": LIGHT_HIP_FLAGS})


def copy_op(source: Path, target: Path) -> Path:
    """A copy of an operator of this repository, to be edited by a test."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.o"))
    return target


def in_python(
    code: str, environment: Mapping[str, str], *arguments: object, cwd: Optional[Path] = None, timeout: float = 300
) -> "subprocess.CompletedProcess[str]":
    """Runs `code` in a Python of its own that sees python/ and ops/ of this repository."""
    return subprocess.run(
        [PYTHON, "-c", textwrap.dedent(code), *map(str, arguments)],
        env={**environment, "PYTHONPATH": f"{ROOT / 'python'}:{ROOT / 'ops'}", "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=timeout,
        cwd=cwd,
        check=False,
    )


@pytest.fixture(scope="session")
def in_torch() -> Iterator[WarmPython]:
    """in_python, for code that may find torch imported already: it starts a second sooner."""
    python = WarmPython(PYTHON, [ROOT / "python", ROOT / "ops"])
    yield python
    python.close()
