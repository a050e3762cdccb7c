"""Operators that use torch's C++ interface, with whichever torch the test's Python has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict

import pytest

from conftest import in_python, write_op

LIBRARY_SOURCE = """
    #include <ATen/core/Tensor.h>
    #include <torch/library.h>

    static at::Tensor twice(const at::Tensor& x, int64_t times) {
      return x.mul(2 * times);
    }
    TORCH_LIBRARY(dcuop_suite, library) { library.def("twice(Tensor x, int times) -> Tensor", &twice); }
"""

#: at::Tensor through torch's caster, and a type that torch's own module has registered: both need pybind11's
#: internals to be those of torch.
MODULE_SOURCE = """
    #include <ATen/core/Tensor.h>
    #include <c10/core/DispatchKeySet.h>
    #include <torch/csrc/utils/pybind.h>

    static at::Tensor negated(const at::Tensor& x) { return x.neg(); }
    static bool has_meta(c10::DispatchKeySet keys) { return keys.has(c10::DispatchKey::Meta); }
    PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
      module.def("negated", &negated);
      module.def("has_meta", &has_meta);
    }
"""


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory, dcuop_binary: Path) -> Dict[str, Any]:
    """Both operators, written for C++14, and an environment whose cache will hold them."""
    directory = tmp_path_factory.mktemp("torch")
    old = {"cxx_standard": 14, "cxx_flags": ["-O0"]}
    return {
        "library": write_op(directory / "library", sources={"op.cpp": LIBRARY_SOURCE},
                            op={"kind": "torch-library", "abi": "torch"}, build=old),
        "module": write_op(directory / "module", sources={"op.cpp": MODULE_SOURCE},
                           op={"kind": "pybind", "abi": "torch-python"}, build=old),
        "environment": {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(directory),
            "LANG": "C.UTF-8",
            "DCUOP": str(dcuop_binary),
            "DCUOP_CACHE_DIR": str(directory / "cache"),
        },
    }  # fmt: skip


def is_healthy(run, ops: Dict[str, Any], op: str) -> bool:
    """What was loaded just now is what the doctor says loads."""
    built = run("build", "--json", ops[op], env=ops["environment"])
    assert built.op["status"] == "hit", built
    report = run("doctor", "--json", built.op["path"])
    assert report.json["verdict"] == "loads" and report.json["counts"]["error"] == 0, report
    return True


def test_a_torch_library(run, ops):
    done = in_python(
        """
        import sys, torch, dcuop
        dcuop.load_op(sys.argv[1])
        print(torch.ops.dcuop_suite.twice(torch.arange(3), 2).tolist())
        try:
            torch.ops.dcuop_suite.twice(torch.arange(3), "2")
        except Exception as error:
            print("times" in str(error))
        """,
        ops["environment"],
        ops["library"],
    )
    assert done.stdout.splitlines() == ["[0, 4, 8]", "True"], done.stderr
    assert is_healthy(run, ops, "library")


def test_a_module_shares_torchs_types(run, ops):
    done = in_python(
        """
        import sys, torch, dcuop
        module = dcuop.load_op(sys.argv[1])
        print(module.negated(torch.arange(3)).tolist(), type(module.negated(torch.ones(1))) is torch.Tensor)
        keys = torch._C._dispatch_keys
        print(module.has_meta(keys(torch.ones(1, device="meta"))), module.has_meta(keys(torch.ones(1))))
        """,
        ops["environment"],
        ops["module"],
    )
    assert done.stdout.splitlines() == ["[0, -1, -2] True", "True False"], done.stderr
    assert is_healthy(run, ops, "module")


def test_the_environment_agrees_with_torch(ops, run):
    """What is read of torch's files, against what torch says of itself."""
    done = in_python(
        """
        import json, torch
        print(json.dumps([torch.__version__, torch.version.hip or "none", torch.version.cuda or "none",
                          torch.compiled_with_cxx11_abi(), torch.__file__]))
        """,
        ops["environment"],
    )
    version, hip, cuda, cxx11, file = json.loads(done.stdout)
    facts = {fact["name"]: fact for fact in run("env", "--json").json["facts"]}
    assert facts["torch"]["value"].split()[0] == version
    assert (facts["torch hip"]["value"], facts["torch cuda"]["value"]) == (hip, cuda)
    assert facts["torch C++ string ABI"]["value"].startswith("cxx11" if cxx11 else "pre-cxx11")
    assert facts["torch"]["origin"] == str(Path(file).with_name("version.py"))
    assert facts["torch C++ standard"]["value"] in ("C++14 or later", "C++17 or later", "C++20 or later")
