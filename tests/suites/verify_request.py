"""Requests of `dcuop verify` for operators that are a Python file: real torch, nothing to build."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any, Dict, List

from conftest import ROOT

sys.path.insert(0, str(ROOT / "python"))
# pylint: disable=wrong-import-position
from dcuop._verify._contract import Request  # noqa: E402

#: One tensor of any shape, elementwise.
X = {"name": "x", "kind": "tensor", "shape": ["..."]}
SCALE = {"name": "scale", "kind": "scalar", "type": "float", "range": [-4.0, 4.0]}
BIAS = {"name": "bias", "kind": "scalar", "type": "float", "range": [-4.0, 4.0]}


def tensor(name: str, *shape: str, **more: Any) -> Dict[str, Any]:
    return {"name": name, "kind": "tensor", "shape": list(shape or ("...",)), **more}


def function(
    name: str, dtypes: List[str], arguments: List[Dict[str, Any]], formula: str = "formula", **more: Any
) -> Any:
    """The contract of op.py's function `name`, whose mathematics is op.py's `formula`."""
    arguments = [dict(argument) for argument in arguments]
    arguments[0]["dtypes"] = dtypes
    return {"name": name, "call": f"op.py:{name}", "formula": f"op.py:{formula}", "arguments": arguments, **more}


def request(directory: Path, code: str, functions: List[Any], **more: Any) -> Request:
    """A request on the host for the operator whose op.py is `code`; `more` is put into it: contract, options, ..."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "op.py").write_text("import torch\n" + textwrap.dedent(code), encoding="utf-8")
    contract = {"functions": functions, **more.pop("contract", {})}
    return Request.from_json(
        {
            "schema": 1,
            "op": {"name": "small", "directory": str(directory), "kind": "plain", "entry": "e1", "archs": []},
            "backend": "host",
            "contract": contract,
            "options": more.pop("options", {}),
            "cache_dir": str(directory / "cache"),
            **more,
        }
    )


class Silent:
    """A progress that nobody sees."""

    def start(self, text: str) -> None:
        """Nothing."""

    def update(self, what: str = "", done: Any = None, total: Any = None) -> None:
        """Nothing."""

    def finish(self) -> None:
        """Nothing."""

    def note(self, line: str) -> None:
        """Nothing."""
