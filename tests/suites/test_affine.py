"""ops/affine with the real hipcc and the real torch: built once for the whole suite, then looked at."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any, Dict

import pytest

from conftest import ARCH, PYTHON, ROOT, copy_op
from warm_python import WarmPython

AFFINE = ROOT / "ops" / "affine"
pytestmark = pytest.mark.xdist_group("affine")  # what is built is built once, not by each worker


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, dcuop_binary: Path, in_torch: WarmPython) -> Dict[str, Any]:
    """A cache with affine in it, the environment that uses it, what the build said, and a Python to ask."""
    directory = tmp_path_factory.mktemp("affine")
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(directory),
        "LANG": "C.UTF-8",
        "DCUOP": str(dcuop_binary),
        "DCUOP_ARCH": ARCH,
        "DCUOP_CACHE_DIR": str(directory / "cache"),
        "DCUOP_PYTHON": PYTHON,
    }
    done = subprocess.run(
        [dcuop_binary, "build", "--print-path", AFFINE], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    path = Path(done.stdout.strip())
    return {"environment": environment, "path": path, "stderr": done.stderr, "python": in_torch}


def affine_says(built: Dict[str, Any], code: str) -> str:
    """What `code` prints, with affine and torch imported; an exception prints as its type and first line."""
    body = "\n".join("    " + line for line in code.strip().splitlines())
    done = built["python"](
        "import warnings; warnings.simplefilter('ignore')\n"
        "import torch, affine\n"
        "from affine import affine as f\n"
        f"try:\n{body}\n"
        "except Exception as error: print(type(error).__name__ + ': ' + str(error))\n",
        built["environment"],
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_result_is_a_pybind_module_of_this_python(built):
    assert built["path"].is_file()
    assert re.fullmatch(r"affine\.cpython-3\d+-x86_64-linux-gnu\.so", built["path"].name)
    assert built["path"].is_relative_to(built["environment"]["DCUOP_CACHE_DIR"])


def test_the_second_build_is_a_hit_that_starts_nothing(built, run):
    again = run("build", "--json", AFFINE, env=built["environment"])
    assert again.rc == 0, again
    assert again.op["status"] == "hit" and again.op["path"] == str(built["path"])
    assert again.compiled() == []
    assert again.json["processes_started"] == 0


def test_a_copy_elsewhere_is_the_same_entry(built, run, tmp_path):
    """Nothing of the checkout's path is in the result, so another checkout may have it."""
    copy = copy_op(AFFINE, tmp_path / "with a space" / "ops" / "affine")
    copy_op(AFFINE.parent / "common", copy.parent / "common")
    shutil.copy(ROOT / "dcuop.toml", copy.parent.parent)
    done = run("build", "--json", copy, env=built["environment"])
    assert done.op["status"] == "hit", done
    assert done.op["path"] == str(built["path"])
    assert str(ROOT).encode() not in built["path"].read_bytes()


@pytest.mark.parametrize(
    "call, message",
    [
        ("f(torch.ones(4, dtype=torch.half), 2.0, 1.0)", "x must be on a DCU device, got cpu"),
        ("f(torch.ones(4, device='meta', dtype=torch.half), 2.0, 1.0)", "x must be on a DCU device, got meta"),
        ("f(torch.ones(0, dtype=torch.half), 2.0, 1.0)", "x must be on a DCU device, got cpu"),
        ("f(x=torch.ones(4), bias=1.0, scale=2.0)", "x must be on a DCU device, got cpu"),
    ],
)
def test_the_wrong_device_is_refused_in_one_line(built, call, message):
    assert affine_says(built, call) == f"RuntimeError: affine: {message}"


@pytest.mark.parametrize("call", ["f(None, 2.0, 1.0)", "f([1.0], 2.0, 1.0)", "f(torch.ones(4), '2', 1.0)"])
def test_what_is_no_tensor_or_number_is_a_type_error(built, call):
    assert affine_says(built, call).startswith("TypeError: ")


def test_a_cpu_only_torch_is_a_declared_exception(built):
    code = """
affine.load.cache_clear()
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    affine.load()
print([type(w.message).__name__ for w in seen if "affine needs" in str(w.message)])
affine.load(allow_cpu_torch=False)
"""
    said = affine_says(built, code).splitlines()
    assert said[0] == "['CpuOnlyTorchWarning']"
    assert said[1].startswith("CpuOnlyTorchError: affine needs a torch built for HIP")


def test_a_cuda_torch_with_a_device_is_refused(built):
    code = """
torch.version.cuda = "13.2"
torch.cuda.is_available = lambda: True
affine.load()
"""
    assert re.match(
        r"UnsupportedDeviceError: affine needs a torch built for HIP; this one, \S+, is built for CUDA 13\.2 and has",
        affine_says(built, code),
    )


@pytest.mark.parametrize(
    "hip, cuda, backend, says",
    [
        ("6.3", None, "cuda", "UnsupportedDeviceError: affine needs a torch built for CUDA; this one, "),
        (None, "13.0", "cuda", "loaded for cuda"),
        (None, "13.0", "host", "loaded for host"),
        ("6.3", None, "host", "loaded for host"),
        (None, None, "cuda", "CpuOnlyTorchError: affine needs a torch built for CUDA to launch; this one, "),
    ],
)
@pytest.mark.parametrize("way", ["argument", "environment"])
def test_which_torch_will_do_follows_the_backend(built, hip, cuda, backend, says, way):
    code = f"""
import os, dcuop
torch.version.hip, torch.version.cuda = {hip!r}, {cuda!r}
torch.cuda.is_available = lambda: {bool(hip or cuda)}
dcuop.load_op = lambda path, arch, backend: "loaded for " + (backend or os.environ["DCUOP_BACKEND"])
if "{way}" == "environment": os.environ["DCUOP_BACKEND"] = "{backend}"
print(affine.load(backend="{backend}" if "{way}" == "argument" else None, allow_cpu_torch=False))
"""
    assert affine_says(built, code).startswith(says)


def test_another_device_is_refused_before_the_build(built):
    code = """
import types
torch.version.hip = "6.3"
torch.cuda.is_available = lambda: True
torch.cuda.current_device = lambda: 1
torch.cuda.get_device_properties = lambda index: types.SimpleNamespace(gcnArchName="gfx1100")
affine.load()
"""
    said = affine_says(built, code)
    assert said.startswith("UnsupportedDeviceError: affine has no code for gfx1100 (device 1); it supports gfx906, ")


def test_the_doctor_finds_nothing_wrong(built, run):
    done = run("doctor", "--json", built["path"], env=built["environment"])
    assert done.rc == 0, done
    assert done.json["verdict"] == "loads"
    assert [finding for finding in done.json["findings"] if finding["severity"] == "error"] == []


def test_the_doctor_judges_another_arch(built, run):
    done = run("doctor", "--json", "--arch", "gfx936", built["path"], env=built["environment"])
    assert done.rc == 1, done
    assert done.json["verdict"] == "loads_cannot_launch"
    assert "gfx936" in done.json["headline"]


def test_an_arch_outside_the_ops_set_is_refused(built, run):
    done = run("build", "--arch", "gfx1030", AFFINE, env=built["environment"])
    assert done.rc == 2, done
    assert "gfx1030" in done.stderr and "gfx906" in done.stderr


def test_the_loader_knows_the_manifests_archs(built):
    manifest = tomllib.loads((AFFINE / "dcuop.toml").read_text())
    archs = affine_says(built, "from affine.loader import SUPPORTED_ARCHS; print(' '.join(SUPPORTED_ARCHS))")
    assert archs.split() == manifest["build"]["archs"]
    assert manifest["build"]["allow_cpu_torch"] is True


def test_the_reference_rounds_once_to_float32_and_once_to_float16(built):
    code = """
r = affine.affine_reference
half = lambda *v: torch.tensor(v, dtype=torch.half)
print(r(half(1.0, -2.0, 0.5), 2.0, 1.0).tolist())
# 2049 and 2051 are ties between two halves, and so is the way to infinity: to even.
print(r(half(2048.0, 2050.0), 1.0, 1.0).tolist())
# 0.1 is rounded to float32 first: 3000 * float32(0.1) = 300.0000045, which is 300.0 in half.
print(r(half(3000.0), 0.1, 0.0).tolist())
print(r(half(65504.0, -65504.0), 1.0, 16.0).tolist(), r(half(65504.0), 2.0, 0.0).tolist())
print(r(half(float("nan"), float("inf"), -0.0), 1.0, -0.0).tolist())
print(r(half(6e-8), 1.0, 0.0).tolist())
r(torch.ones(1), 1.0, 0.0)
"""
    assert affine_says(built, code).splitlines() == [
        "[3.0, -3.0, 2.0]",
        "[2048.0, 2052.0]",
        "[300.0]",
        "[inf, -65472.0] [inf]",
        "[nan, inf, -0.0]",
        "[5.960464477539063e-08]",
        "TypeError: affine_reference: x must be float16, got torch.float32",
    ]
