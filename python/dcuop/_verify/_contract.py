"""The request of `dcuop verify`: the operator's contract, the build and the options, as the program wrote them.

The program has checked the contract, with the place of each error; here its JSON becomes data, and no torch is needed.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Tuple

from .._errors import UsageProblem

SCHEMA = 1  #: of requests
LAYERS = ("correctness", "numerics", "micro", "e2e")
#: The name in a shape that stands for any leading dimensions.
LEADING = "..."
DEFAULT_RANGE = (-8.0, 8.0)
#: Seconds that one case may take.
DEFAULT_TIMEOUT = 60.0


def is_float(dtype: str) -> bool:
    """Whether the dtype of this name has NaN, infinities and a sign of zero."""
    return dtype.startswith(("float", "bfloat"))


@dataclasses.dataclass(frozen=True)
class Argument:
    """A tensor or a scalar that the function is given, by keyword."""

    name: str
    kind: str = "tensor"  #: or "scalar"
    dtypes: Optional[Tuple[str, ...]] = None  #: tensor; None: that of the function's first tensor
    shape: Tuple[str, ...] = ()  #: tensor; "...", a name, or a number
    broadcast: bool = False
    alias: str = "exact"  #: "refused", "exact", "allowed"
    range: Optional[Tuple[float, float]] = None  #: of values, both ends included
    type: str = "float"  #: scalar; or "int", "bool"
    choices: Tuple[Any, ...] = ()
    default: Any = None

    @property
    def is_tensor(self) -> bool:
        return self.kind == "tensor"

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Argument":
        known = _known(cls, data)
        for name in ("dtypes", "range"):
            if known.get(name) is not None:
                known[name] = tuple(known[name])
        known["shape"] = tuple(str(dimension) for dimension in known.get("shape") or ())
        known["choices"] = tuple(known.get("choices") or ())
        return cls(**known)


@dataclasses.dataclass(frozen=True)
class Tolerance:
    """An element is right within `ulp` units of its dtype, or within atol + rtol * |want| where one is given."""

    ulp: Optional[float] = 1.0
    rtol: Optional[float] = None
    atol: Optional[float] = None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Tolerance":
        known = {name: float(value) for name, value in _known(cls, data).items() if value is not None}
        return cls(**{"ulp": None, **known}) if known else cls()


@dataclasses.dataclass(frozen=True)
class Function:
    """One function of the operator, and what it promises."""

    name: str
    formula: str  #: "file.py:name"; dtype-generic mathematics in plain torch operations
    arguments: Tuple[Argument, ...]
    call: Optional[str] = None  #: "file.py:name" instead of an attribute of the loaded operator
    reference: Optional[str] = None
    block: Optional[int] = None  #: elements that one block takes at a time
    sizes: Tuple[int, ...] = ()
    tolerance: Mapping[str, Tolerance] = dataclasses.field(default_factory=dict)
    refuses: Tuple[str, ...] = ()
    inplace: Optional[str] = None
    backward: bool = False
    deterministic: bool = True
    bytes: Optional[str] = None
    flops: Optional[str] = None

    @property
    def tensors(self) -> Tuple[Argument, ...]:
        return tuple(argument for argument in self.arguments if argument.is_tensor)

    @property
    def scalars(self) -> Tuple[Argument, ...]:
        return tuple(argument for argument in self.arguments if not argument.is_tensor)

    @property
    def dtypes(self) -> Tuple[str, ...]:
        """Those of the first tensor: a case has one of them."""
        first = self.tensors[0].dtypes if self.tensors else None
        return first or ("float32",)

    def argument(self, name: str) -> Argument:
        return next(argument for argument in self.arguments if argument.name == name)

    def tolerance_of(self, dtype: str, of_case: str = "") -> Tolerance:
        """Of a result in `dtype`; a floating-point one that the contract does not name goes by the case's dtype."""
        if dtype in self.tolerance:
            return self.tolerance[dtype]
        if not is_float(dtype) and not dtype.startswith("complex"):
            return Tolerance(ulp=0.0)
        return self.tolerance.get(of_case, Tolerance())

    def dimensions(self) -> Tuple[str, ...]:
        """The names of the free sizes, in the order in which the shapes name them; "..." first when there is one."""
        names = [name for argument in self.tensors for name in argument.shape if not name.isdigit()]
        return tuple(sorted(dict.fromkeys(names), key=lambda name: name != LEADING))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Function":
        known = _known(cls, data)
        known["arguments"] = tuple(Argument.from_json(argument) for argument in data.get("arguments", ()))
        known["tolerance"] = {
            dtype: Tolerance.from_json(value) for dtype, value in (data.get("tolerance") or {}).items()
        }
        for name in ("sizes", "refuses"):
            known[name] = tuple(known.get(name) or ())
        return cls(**known)


@dataclasses.dataclass(frozen=True)
class Micro:
    """[verify.micro]"""

    sizes: Tuple[int, ...] = (1024, 1048576, 16777216)  #: elements of the first tensor
    runs: int = 25


@dataclasses.dataclass(frozen=True)
class EndToEnd:
    """[verify.e2e]"""

    script: str
    metric: str
    better: str = "higher"  #: or "lower"
    runs: int = 5


@dataclasses.dataclass(frozen=True)
class Gate:
    """[verify.gate]: None is no demand."""

    speedup: Optional[float] = None
    break_even: Optional[float] = None  #: calls, at most
    max_ulp: Optional[float] = None
    e2e: Optional[float] = None  #: change of the metric, at least


@dataclasses.dataclass(frozen=True)
class Contract:
    """All that an operator's [verify] sections say."""

    functions: Tuple[Function, ...]
    micro: Micro = Micro()
    e2e: Optional[EndToEnd] = None
    gate: Gate = Gate()

    def function(self, name: str) -> Function:
        return next(function for function in self.functions if function.name == name)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Contract":
        micro = _known(Micro, data.get("micro") or {})
        if "sizes" in micro:
            micro["sizes"] = tuple(micro["sizes"])
        e2e = data.get("e2e")
        return cls(
            functions=tuple(Function.from_json(function) for function in data["functions"]),
            micro=Micro(**micro),
            e2e=EndToEnd(**_known(EndToEnd, e2e)) if e2e else None,
            gate=Gate(**_known(Gate, data.get("gate") or {})),
        )


@dataclasses.dataclass(frozen=True)
class Options:
    """What the command line asked for."""

    layers: Tuple[str, ...] = LAYERS
    case: Optional[str] = None  #: pattern of case ids, or one id
    list: bool = False
    repeat: int = 1
    seed: int = 0
    timeout: float = DEFAULT_TIMEOUT  #: seconds a case
    reports: Tuple[str, ...] = ()
    compare: Optional[str] = None
    json: bool = False
    quiet: bool = False

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Options":
        known = {name: value for name, value in _known(cls, data).items() if value is not None}
        for name in ("layers", "reports"):
            if name in known:
                known[name] = tuple(known[name])
        return cls(**known)


@dataclasses.dataclass(frozen=True)
class Request:
    """The whole of REQUEST.json; `raw` is the JSON itself, which child processes are given."""

    op: Mapping[str, Any]  #: an element of "ops" of `dcuop build --json`
    backend: str  #: "hip", "cuda", "host"
    contract: Contract
    options: Options
    raw: Mapping[str, Any]
    backend_origin: str = ""
    build: Optional[Mapping[str, Any]] = None  #: "seconds", "hit"; None when nothing was built
    cache_dir: str = ""
    language: str = "en"

    @property
    def name(self) -> str:
        return str(self.op["name"])

    @property
    def directory(self) -> Path:
        return Path(self.op["directory"])

    @property
    def has_device(self) -> bool:
        return self.backend != "host"

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Request":
        """Raises UsageProblem for another schema, or for what is no request."""
        if not isinstance(data, Mapping) or data.get("schema") != SCHEMA:
            raise UsageProblem(
                "the verify request is not of schema 1", "Use the program and the package of one release.", 2
            )
        try:
            known = _known(cls, data)
            known.update(
                contract=Contract.from_json(data["contract"]),
                options=Options.from_json(data.get("options") or {}),
                raw=data,
            )
            return cls(**known)
        except (KeyError, TypeError, ValueError) as error:
            raise UsageProblem(f"the verify request is incomplete: {error!r}", "", 2) from error

    @classmethod
    def read(cls, path: str) -> "Request":
        try:
            return cls.from_json(json.loads(Path(path).read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise UsageProblem(f"{path} is no verify request: {error}", "", 2) from error

    def environment(self) -> Dict[str, str]:
        """Variables for processes that run the operator, so that what its own files load is this same build."""
        variables = {"DCUOP_BACKEND": self.backend}
        if self.cache_dir:
            variables["DCUOP_CACHE_DIR"] = self.cache_dir
        archs: List[str] = list(self.op.get("archs") or ())
        if archs:
            variables["DCUOP_ARCH"] = ",".join(archs)
        return variables


def _known(cls: Any, data: Mapping[str, Any]) -> Dict[str, Any]:
    """The values of `data` that `cls` has fields for: later releases of the program may say more."""
    names = {field.name for field in dataclasses.fields(cls)}
    return {name: value for name, value in data.items() if name in names}
