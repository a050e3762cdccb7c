"""One case of the correctness layer as plain data, and its id, which is all that is needed to run it again."""

from __future__ import annotations

import dataclasses
import random
import re
import struct
import zlib
from typing import Any, Dict, List, Mapping, Optional, Sequence

from ._contract import DEFAULT_RANGE, LEADING, Argument, Function
from ._layouts import Shape

#: What separates a case of the matrix from how it was made smaller: "affine/float16/size/257@...=3,values=ones".
CHANGED = "@"


@dataclasses.dataclass(frozen=True)
class Case:
    """What is called, and what is expected. A tensor's shape follows from `dims` and the contract; what else is said
    of an argument is under its name, and absent where it is as usual."""

    id: str
    group: str
    function: str
    dtype: str
    check: str  #: which of the checks runs it: "equal", "refused", "repeat", ...
    dims: Mapping[str, Shape]  #: of every name in the shapes: one size, or those that "..." stands for
    dtypes: Mapping[str, str] = dataclasses.field(default_factory=dict)  #: of tensors
    values: Mapping[str, str] = dataclasses.field(default_factory=dict)  #: of tensors: "random", "zeros", "mixed:nan"
    scalars: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    forms: Mapping[str, str] = dataclasses.field(default_factory=dict)  #: "transposed", "device", "same:other", ...
    patterns: Mapping[str, str] = dataclasses.field(default_factory=dict)  #: of broadcasting: "=", "1" or "-" a dim
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)  #: of the check
    seed: int = 0
    skip: str = ""  #: why it cannot run here

    def to_json(self) -> Dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Case":
        known = dict(data)
        known["dims"] = {name: tuple(sizes) for name, sizes in known["dims"].items()}
        return cls(**known)

    def shape(self, argument: Argument) -> Shape:
        """Of a tensor argument, before its form makes it a wrong one."""
        shape: List[int] = []
        for dimension in argument.shape:
            shape += [int(dimension)] if dimension.isdigit() else self.dims[dimension]
        pattern = self.patterns.get(argument.name)
        if pattern is None:
            return tuple(shape)
        return tuple(1 if sign == "1" else size for sign, size in zip(pattern, shape) if sign != "-")

    def seed_of(self, name: str) -> int:
        """A seed for what belongs to `name`: the same for a case and for its smaller forms."""
        base = self.id.split(CHANGED)[0]
        return (zlib.crc32(f"{base}/{name}".encode("utf-8")) + self.seed) & 0x7FFFFFFF

    def with_seed(self, more: int) -> "Case":
        """The same case with other random values."""
        return dataclasses.replace(self, seed=self.seed + more)


def changed(case: Case, dims: Mapping[str, Shape], values: Optional[str], scalars: Mapping[str, Any]) -> Case:
    """The case with other sizes, other values in each tensor and other scalars; its id says so."""
    merged_dims = {**case.dims, **dims}
    parts = [f"{name}={_sizes_text(merged_dims[name])}" for name in case.dims if dims.get(name) is not None]
    if values is not None:
        parts.append(f"values={values}")
    parts += [f"{name}={value!r}" for name, value in scalars.items()]
    return dataclasses.replace(
        case,
        id=case.id.split(CHANGED)[0] + (CHANGED + ",".join(parts) if parts else ""),
        dims=merged_dims,
        values=case.values if values is None else {name: values for name in case.values},
        scalars={**case.scalars, **scalars},
    )


def changed_by_id(case: Case, wanted: str) -> Case:
    """The form of `case` that the id `wanted` names behind its "@". Raises ValueError for what is none."""
    dims: Dict[str, Shape] = {}
    values, scalars = None, {}
    for part in wanted.partition(CHANGED)[2].split(","):
        name, equals, text = part.partition("=")
        if not equals:
            raise ValueError(f"{part!r} is no name=value")
        if name in case.dims:
            dims[name] = sizes_of(text)
        elif name == "values":
            values = text
        elif name in case.scalars:
            scalars[name] = number(text)
        else:
            raise ValueError(f"{name!r} is no size and no scalar of {case.id}")
    return changed(case, dims, values, scalars)


def number(text: str) -> Any:
    """What Python would take the text for: a bool, an int, a float; else the text itself."""
    if text in ("True", "False"):
        return text == "True"
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text.strip("'\"")


def sizes_of(text: str) -> Shape:
    """The sizes in "3x5"; none in "()"."""
    return () if text == "()" else tuple(int(size) for size in text.split("x"))


def _sizes_text(sizes: Sequence[int]) -> str:
    return "x".join(map(str, sizes)) if sizes else "()"


def text_of_dims(dims: Mapping[str, Shape]) -> str:
    """For an id: "257", "7x257"; names only where several are free."""
    if set(dims) == {LEADING}:
        return _sizes_text(dims[LEADING])
    return "x".join(_sizes_text(sizes) for sizes in dims.values() if sizes) or "()"


def primary(function: Function) -> str:
    """The dimension that a block runs along: the last of the first tensor."""
    shape = function.tensors[0].shape if function.tensors else ()
    free = [dimension for dimension in shape if not dimension.isdigit()]
    return free[-1] if free else LEADING


def dims_for(function: Function, size: int, rows: int = 3, leading: Optional[Shape] = None) -> Dict[str, Shape]:
    """Dimensions with `size` along the primary one, `rows` elsewhere; "..." is one dimension unless `leading` says
    otherwise."""
    along = primary(function)
    dims: Dict[str, Shape] = {}
    for name in function.dimensions():
        if name == LEADING and leading is not None:
            dims[name] = leading
        else:
            dims[name] = (size,) if name == along else (rows,)
    return dims


def ordinary_scalar(argument: Argument, seed: int) -> Any:
    """The default, or something within the range: a float is one of float32, so that rounding it there is no fault."""
    if argument.default is not None:
        return argument.default
    if argument.choices:
        return argument.choices[seed % len(argument.choices)]
    if argument.type == "bool":
        return bool(seed & 1)
    low, high = argument.range or DEFAULT_RANGE
    chance = random.Random(seed)
    if argument.type == "int":
        return chance.randint(int(low), int(high))
    return min(max(as_float32(chance.uniform(low, high)), low), high)


def as_float32(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


def small_dims(function: Function) -> Dict[str, Shape]:
    """A few elements, of more than one row where the shape permits it."""
    return dims_for(function, 5, leading=(3, 5) if primary(function) == LEADING else None)


def dtypes_of(function: Function, dtype: str) -> Dict[str, str]:
    """The dtype of each tensor in a case of `dtype`: its own where it does not take that one."""
    return {
        argument.name: dtype if argument.dtypes is None or dtype in argument.dtypes else argument.dtypes[0]
        for argument in function.tensors
    }
