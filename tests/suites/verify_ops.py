"""Operators in plain Python for the tests of `dcuop verify`: right ones, and ones with a fault each.

`write(directory)` makes an operator's directory of them, `request(...)` what the program would ask of
`python -m dcuop._verify`.
"""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence

RIGHT = '''
    import torch


    def affine_formula(x, scale, bias):
        return x * scale + bias


    def check(x, layout=True, grad=True):
        if x.device.type != "cpu":
            raise RuntimeError(f"affine: x must be on the CPU, got {x.device}")
        if x.dtype != torch.float16:
            raise TypeError(f"affine: x must be float16, got {x.dtype}")
        if x.layout != torch.strided or (layout and not x.is_contiguous()):
            raise RuntimeError("affine: x must be contiguous")
        if x.is_neg():
            raise RuntimeError("affine: x must not be a negated view")
        if grad and x.requires_grad and torch.is_grad_enabled():
            raise RuntimeError("affine: x requires grad")


    def compute(x, scale, bias):
        return (x.double() * scale + bias).float().half()


    def affine(x, scale, bias):
        check(x)
        return compute(x, scale, bias)


    def add_formula(a, b, factor):
        return a + factor * b


    def add(a, b, factor):
        on_cpu = a.device == b.device == torch.device("cpu")
        if a.dtype != b.dtype or a.dtype not in (torch.float32, torch.int32) or not on_cpu:
            raise RuntimeError("add: a and b must be of one dtype, on the CPU")
        if a.is_sparse or b.is_sparse:
            raise RuntimeError("add: sparse")
        if torch.broadcast_shapes(a.shape, b.shape) != a.shape:
            raise RuntimeError("add: b does not fit a")
        first = a.storage().data_ptr() == b.storage().data_ptr() and a.numel() and b.numel()
        if first and b.data_ptr() < a.data_ptr() + a.numel() * a.element_size() and b is not a:
            if a.data_ptr() != b.data_ptr() or a.stride() != b.stride():
                raise RuntimeError("add: a and b overlap")
        a.copy_((a.double() + factor * b.double()).to(a.dtype) if a.is_floating_point() else a + factor * b)
        return a


    def norm_formula(x, weight, eps):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * weight


    def norm(x, weight, eps):
        if not x.dim() or weight.dim() != 1 or x.shape[-1:] != weight.shape:
            raise ValueError("norm: the weight has one element for each of a row")
        return norm_formula(x.double(), weight.double(), eps).to(x.dtype)


    def pick_formula(x, index):
        return x[..., index.long()]


    def pick(x, index):
        if x.device.type != "cpu" or index.device.type != "cpu":
            raise RuntimeError("pick: x and index must be on the CPU")
        if x.dtype not in (torch.float32, torch.float16) or index.dtype not in (torch.int64, torch.int32):
            raise TypeError("pick: x must be floating-point, index int64 or int32")
        if not x.dim() or index.dim() != 1:
            raise ValueError("pick: index has one dimension, x at least one")
        return x.detach().index_select(-1, index)
'''


def arguments_of(kind: str) -> List[Dict[str, Any]]:
    if kind == "affine":
        return [
            {"name": "x", "kind": "tensor", "shape": ["..."], "dtypes": ["float16"], "range": [-8, 8]},
            {"name": "scale", "kind": "scalar", "type": "float", "range": [-4, 4]},
            {"name": "bias", "kind": "scalar", "type": "float", "range": [-4, 4]},
        ]
    if kind == "add":
        return [
            {"name": "a", "kind": "tensor", "shape": ["..."], "dtypes": ["float32", "int32"], "alias": "exact"},
            {"name": "b", "kind": "tensor", "shape": ["..."], "broadcast": True, "alias": "exact"},
            {"name": "factor", "kind": "scalar", "type": "int", "range": [-3, 3]},
        ]
    if kind == "pick":
        return [
            {"name": "x", "kind": "tensor", "shape": ["...", "n"], "dtypes": ["float32", "float16"]},
            {"name": "index", "kind": "tensor", "shape": ["m"], "dtypes": ["int64", "int32"], "range": [0, 0]},
        ]
    return [
        {"name": "x", "kind": "tensor", "shape": ["...", "n"], "dtypes": ["float32", "bfloat16"]},
        {"name": "weight", "kind": "tensor", "shape": ["n"]},
        {"name": "eps", "kind": "scalar", "type": "float", "range": [1e-6, 1e-3]},
    ]


_PROMISES: Mapping[str, Mapping[str, Any]] = {
    "affine": {"refuses": ["dtype", "device", "layout", "grad", "neg", "sparse"], "tolerance": {"float16": {"ulp": 1}}},
    "add": {"refuses": ["dtype", "device", "shape", "alias", "sparse"], "inplace": "a"},
    "norm": {"refuses": ["shape"], "backward": True},
    "pick": {"refuses": ["dtype", "device", "shape"]},
}


def function(kind: str, name: Optional[str] = None, **changes: Any) -> Dict[str, Any]:
    """A function of the contract: `name` of operators.py, with what `kind` takes and promises."""
    name = name or kind
    return {
        "name": name,
        "call": f"operators.py:{name}",
        "formula": f"operators.py:{kind}_formula",
        "arguments": arguments_of(kind),
        "block": 256,
        **_PROMISES[kind],
        **changes,
    }


def write(directory: Path, more: str = "") -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    text = textwrap.dedent(RIGHT) + "\n\n" + textwrap.dedent(more)
    (directory / "operators.py").write_text(text, encoding="utf-8")
    return directory


def request(directory: Path, functions: Sequence[Mapping[str, Any]], **options: Any) -> Dict[str, Any]:
    return {
        "schema": 1,
        "op": {"name": directory.name, "directory": str(directory), "path": None, "entry": "0123", "archs": []},
        "backend": "host",
        "backend_origin": "a test",
        "build": {"seconds": None, "hit": True},
        "contract": {"functions": list(functions), "micro": {}, "e2e": None, "gate": {}},
        "options": {"layers": ["correctness"], "timeout": 30.0, **options},
        "cache_dir": "",
        "language": "en",
    }


def write_request(path: Path, content: Mapping[str, Any]) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path
