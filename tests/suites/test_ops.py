"""The operators of ops/: one kernel body for three compilers, and their own tests on the emulated grid."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Dict

import pytest

from conftest import ARCH, PYTHON, ROOT, copy_op

OPS = sorted(path.parent.name for path in ROOT.glob("ops/*/dcuop.toml"))
WARNINGS = ("-Wall", "-Wextra", "-Werror")
COMPILERS = {
    "g++": ["g++", "-std=c++17", "-fPIC", *WARNINGS, "op_kernel_host.cpp"],
    "clang++-15": ["clang++-15", "-std=c++17", "-fPIC", *WARNINGS, "op_kernel_host.cpp"],
    "hipcc": ["hipcc", "-std=c++17", "-fPIC", *WARNINGS, f"--offload-arch={ARCH}", "op_kernel.hip"],
    "nvcc": ["nvcc", "-std=c++17", "-arch=sm_90", "-Werror=all-warnings", "-Xcompiler", "-fPIC,-Wall,-Wextra,-Werror",
             "op_kernel.cu"],
}  # fmt: skip


def test_these_are_all():
    assert OPS == ["affine", "rms_norm", "scale_add"]


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("op", OPS)
def test_the_kernel_compiles_without_a_warning(op, compiler, tmp_path):
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    command = [*COMPILERS[compiler], "-c", "-o", str(tmp_path / "kernel.o")]
    done = subprocess.run(command, cwd=ROOT / "ops" / op, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr


# Those of affine are run by test_new.py, for a copy of it.
@pytest.mark.parametrize("op, passes", [("rms_norm", "43 passed, 4 skipped"), ("scale_add", "56 passed, 4 skipped")])
def test_its_own_tests_pass(op: str, passes: str, environment: Dict[str, str], dcuop_binary: Path, tmp_path: Path):
    ops = tmp_path / "checkout" / "ops"
    for directory in ("common", op):
        copy_op(ROOT / "ops" / directory, ops / directory)
    manifest = ops / op / "dcuop.toml"
    # Whether they pass does not hang on -O3, and the compiler is twice as fast.
    slow, fast = 'cxx_flags = ["-O3"]', 'cxx_flags = ["-O1"]'
    text = manifest.read_text(encoding="utf-8")
    assert text.count(slow) == 1
    manifest.write_text(text.replace(slow, fast), encoding="utf-8")
    done = subprocess.run(
        [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", ops / op],
        env={
            **environment,
            "DCUOP": str(dcuop_binary),
            "DCUOP_BACKEND": "host",
            "PYTHONPATH": str(ROOT / "python"),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        cwd=ops.parent,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert passes in done.stdout, done.stdout
