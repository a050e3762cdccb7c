"""Real operators, broken on purpose: copies of ops/ with a line or two changed are built, and `dcuop verify` names the
cases that find them.

Faults that show in cases of their own share a build.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Sequence, Tuple

import pytest

from conftest import PYTHON, ROOT, copy_op

torch = pytest.importorskip("torch")

HAS_DEVICE = torch.cuda.is_available()
needs_device = pytest.mark.skipif(not HAS_DEVICE, reason="no device is visible to torch")

MANIFEST = """
[op]
name = "{name}"
kind = "pybind"
abi = "torch-python"
[build]
sources = ["binding.cpp", "op_kernel.hip"]
cxx_standard = 17
# Whether a fault is found does not hang on -O3, and the compiler is twice as fast.
cxx_flags = ["-O1"]
archs = ["gfx906", "gfx90a"]
allow_cpu_torch = true
[backend.host]
sources = ["binding.cpp", "op_kernel_host.cpp"]
[backend.cuda]
sources = ["binding.cpp", "op_kernel.cu"]
archs = ["{cuda_arch}"]
"""
CONTRACTS = {
    "affine": """
[[verify.function]]
name = "affine"
formula = "reference.py:affine_formula"
reference = "reference.py:affine_reference"
arguments = [
  {{ name = "x", dtypes = ["float16"], shape = "..." }},
  {{ name = "scale", range = [-4.0, 4.0] }},
  {{ name = "bias", range = [-4.0, 4.0] }},
]
block = 2048
tolerance = {{ float16 = {{ ulp = 0 }} }}
refuses = ["dtype", "device", "layout", "grad", "neg", "sparse"]
""",
    "scale_add": """
[[verify.function]]
name = "scale_add_"
formula = "reference.py:scale_add_formula"
reference = "reference.py:scale_add_reference"
inplace = "a"
arguments = [
  {{ name = "a", dtypes = ["float32"], shape = "..." }},
  {{ name = "b", shape = "...", broadcast = true }},
  {{ name = "alpha", range = [-4.0, 4.0] }},
  {{ name = "beta", range = [-4.0, 4.0] }},
]
block = 256
tolerance = {{ float32 = {{ ulp = 0 }} }}
refuses = ["dtype", "device", "shape", "alias", "grad", "neg", "sparse"]
""",
    "rms_norm": """
[[verify.function]]
name = "rms_norm"
formula = "reference.py:rms_norm_formula"
reference = "reference.py:rms_norm_reference"
arguments = [
  {{ name = "x", dtypes = ["float32"], shape = "..., n" }},
  {{ name = "weight", shape = "n" }},
  {{ name = "eps", range = [1e-6, 1e-3] }},
]
block = 256
tolerance = {{ float32 = {{ ulp = 0 }} }}
refuses = ["dtype", "device", "layout", "shape", "grad", "neg", "sparse"]
""",
}

Edit = Tuple[str, str, str]  #: file, what stands there once, what stands there then


class Variant(NamedTuple):
    """A broken copy, and cases by their verdicts: words of what was found, or "" for one that passes all the same."""

    op: str
    edits: Sequence[Edit]
    cases: Mapping[str, str]
    only: str = "*"  #: the pattern of cases that are run


_STORE = """if (i < count) {
        y[i] = __float2half_rn(fmaf(__half2float(loaded[k]), scale, bias));"""
_REDUCTION_SYNC = """      }
      __syncthreads();
    }
"""

HOST_VARIANTS: Dict[str, Variant] = {
    "edge-and-nan": Variant(
        "affine",
        [
            (
                "op_kernel.hip",
                _STORE,
                _STORE.replace("i < count", "i < count - (count % tile_size == 0 ? 1 : 0)")
                .replace("fmaf(", "fmaxf(-3.0e38F, fmaf(")
                .replace("bias)", "bias))"),
            )
        ],
        {
            "affine/float16/size/2048": "1 of 2048 elements of the result are wrong",
            "affine/float16/size/6144": "1 of 6144 elements of the result are wrong",
            "affine/float16/size/2049": "",
            "affine/float16/value/nan": "2049 of 2049 elements of the result are wrong",
            "affine/float16/value/nan-in-x": "elements of the result are wrong",
            "affine/float16/value/inf": "",
        },
    ),
    "out-of-bounds": Variant(
        "affine",
        [("op_kernel.hip", _STORE, _STORE.replace("i < count", "i <= count"))],
        {
            "affine/float16/size/1009": "the function writes out of bounds",
            "affine/float16/size/257": "the function writes out of bounds",
        },
        "affine/float16/size/*",
    ),
    "copies-and-leaks": Variant(
        "affine",
        [
            ("binding.cpp", '  contract.check_contiguous(x, "x");\n', ""),
            ("binding.cpp", '  contract.check_device(x, "x");\n', ""),
            ("binding.cpp", "affine_launch(x.data_ptr()", "affine_launch(x.contiguous().data_ptr()"),
            ("binding.cpp", "x.device());\n  return y;", "x.device());\n  new at::Tensor(y);\n  return y;"),
        ],
        {
            "affine/float16/refuse/layout/x=transposed": "x that is not contiguous (transposed) was accepted",
            "affine/float16/refuse/layout/x=expanded": "x that is not contiguous (expanded) was accepted",
            "affine/float16/refuse/device/x=other": "it was not refused, and ended in RuntimeError: affine: launch on meta",
            "affine/float16/leak/calls": "after 1000 calls",
            "affine/float16/leak/refusals": "",
            "affine/float16/size/257": "",
        },
    ),
    "alias-and-broadcast": Variant(
        "scale_add",
        [
            ("binding.cpp", "  check_is_writable(a);\n", ""),
            ("binding.cpp", "  check_shares_no_memory(a, b);\n", ""),
            ("op_kernel.hip", "places.b += index * dimension.b;", "places.b += index * dimension.a;"),
        ],
        {
            "scale_add_/float32/alias/b-overlap-a": "b in the memory of a (overlap) was accepted",
            "scale_add_/float32/alias/a-overlaps-itself": "a whose elements share memory was accepted",
            "scale_add_/float32/alias/b-same-a": "",
            "scale_add_/float32/broadcast/3x5x7:1==": "elements of the result are wrong",
            "scale_add_/float32/broadcast/3x5x7:===": "",
        },
        "*/[ab]*",
    ),
    "reduction-and-rows": Variant(
        "rms_norm",
        [
            ("op_kernel.hip", _REDUCTION_SYNC, _REDUCTION_SYNC.replace("      __syncthreads();\n", "")),
            ("op_kernel.hip", "row += gridDim.x", "row += rows"),
        ],
        {
            "rms_norm/float32/grid/7x257": "elements of the result are wrong",
            "rms_norm/float32/grid/4099x3": "of 12297 elements of the result are wrong",
            "rms_norm/float32/grid/7x1": "",
        },
        "rms_norm/float32/grid/[47]*",
    ),
}

DEVICE_VARIANTS: Dict[str, Variant] = {
    "wrong-stream": Variant(
        "affine",
        [("op_kernel.hip", "static_cast<hipStream_t>(stream)", "static_cast<hipStream_t>(nullptr)")],
        {
            "affine/float16/stream/current": "the work is not queued on that stream",
            "affine/float16/stream/several": "the work is not queued on that stream",
            "affine/float16/size/257": "",
        },
    ),
    "32-bit-index": Variant(
        "affine",
        [
            (
                "op_kernel.hip",
                "count, scale, bias);\n  return",
                "static_cast<int32_t>(count), scale, bias);\n  return",
            )
        ],
        {"affine/float16/large/2^31": "", "affine/float16/size/257": ""},
    ),
    "race": Variant(
        "rms_norm",
        [("op_kernel.hip", _REDUCTION_SYNC, _REDUCTION_SYNC.replace("      __syncthreads();\n", ""))],
        {"rms_norm/float32/race/262145": "elements"},
    ),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its cache serves all copies: what a variant leaves as it is, is compiled once."""
    return tmp_path_factory.mktemp("broken")


Verify = Callable[..., Dict[str, Dict[str, Any]]]


@pytest.fixture
def verify(place: Path, dcuop_binary: Path) -> Verify:
    """verify("affine", edits, only): the cases' results, by id, of a copy with these edits."""

    def run(op: str, edits: Sequence[Edit] = (), only: str = "*", backend: str = "host") -> Dict[str, Dict[str, Any]]:
        directory = broken_copy(place, op, edits)
        command = [str(dcuop_binary), "verify", str(directory), "--backend", backend, "--python", PYTHON, "--json"]
        command += ["--layer", "correctness", "--case", only]
        done = subprocess.run(
            command,
            env={**os.environ, "DCUOP_CACHE_DIR": str(place / "cache"), "PYTHONDONTWRITEBYTECODE": "1"},
            cwd=place,
            capture_output=True,
            encoding="utf-8",
            timeout=600,
            check=False,
        )
        try:
            result = json.loads(done.stdout)["correctness"]
        except (ValueError, KeyError):
            raise AssertionError(f"no result: {done}") from None
        return {case["id"]: case for case in result["cases"]}

    return run


def broken_copy(place: Path, op: str, edits: Sequence[Edit]) -> Path:
    """In a directory of its own, beside a copy of ops/common."""
    number = len(list(place.glob("ops-*")))
    directory = place / f"ops-{number}"
    copy_op(ROOT / "ops" / "common", directory / "common")
    copy_op(ROOT / "ops" / op, directory / op)
    capability = "sm_{}{}".format(*torch.cuda.get_device_capability()) if HAS_DEVICE else "sm_80"
    text = (MANIFEST + CONTRACTS[op]).format(name=op, cuda_arch=capability)
    (directory / op / "dcuop.toml").write_text(text, encoding="utf-8")
    for file, before, after in edits:
        source = directory / op / file
        code = source.read_text(encoding="utf-8")
        assert code.count(before) == 1, f"{op}/{file} has {code.count(before)} times: {before}"
        source.write_text(code.replace(before, after), encoding="utf-8")
    return directory / op


def check(found: Mapping[str, Dict[str, Any]], expected: Mapping[str, str]) -> None:
    for name, words in expected.items():
        status = "failed" if words else "passed"
        assert (found[name]["status"], words in found[name]["what"]) == (status, True), found[name]


def test_what_nobody_broke_passes(verify: Verify):
    found = verify("affine")
    assert {name: case for name, case in found.items() if case["status"] == "failed"} == {}
    assert sum(case["status"] == "passed" for case in found.values()) > 120


@pytest.mark.parametrize("name", HOST_VARIANTS)
def test_a_fault_is_found_by_its_case(verify: Verify, name: str):
    variant = HOST_VARIANTS[name]
    check(verify(variant.op, variant.edits, variant.only), variant.cases)


def test_the_smallest_form_of_a_fault(verify: Verify):
    variant = HOST_VARIANTS["edge-and-nan"]
    case = verify(variant.op, variant.edits, "affine/float16/size/8192")["affine/float16/size/8192"]
    assert case["smallest"]["shapes"] == {"x": [2048]} and case["smallest"]["values"] == "zeros"
    smallest = verify(variant.op, variant.edits, case["smallest"]["id"])[case["smallest"]["id"]]
    assert [element["index"] for element in smallest["differing"]] == [[2047]]


@needs_device
@pytest.mark.parametrize("name", DEVICE_VARIANTS)
def test_a_fault_of_a_device_is_found(verify: Verify, name: str):
    variant = DEVICE_VARIANTS[name]
    patterns: List[str] = list(variant.cases)
    backend = "hip" if torch.version.hip else "cuda"
    found = {case: verify(variant.op, variant.edits, case, backend)[case] for case in patterns}
    if name == "32-bit-index":
        # Wrong values, or an address that is none.
        assert found.pop("affine/float16/large/2^31")["status"] == "failed"
        variant = variant._replace(cases={"affine/float16/size/257": ""})
    check(found, variant.cases)
