"""Cases by value and by how tensors lie in memory: special numbers, scalars, layouts, dtypes, gradients."""

from __future__ import annotations

from typing import Any, Dict, List, Tuple

from ._cases import as_float32, dims_for, primary, small_dims
from ._contract import DEFAULT_RANGE, LEADING, Argument, is_float
from ._layouts import NON_CONTIGUOUS, Shape, Unfit, layout
from ._maker import Maker

_OF_FLOATS = ("zeros", "ones", "minus-zeros", "signed-zeros", "negatives", "nan", "inf", "extremes", "denormals")
_OF_INTEGERS = ("zeros", "ones", "negatives", "extremes")
#: Kinds whose intermediate results may overflow or vanish in the operator's own precision.
BEYOND = ("extremes", "denormals")


def add(maker: Maker) -> None:
    _add_values(maker)
    _add_scalars(maker)
    _add_layouts(maker)
    _add_dtypes(maker)
    _add_gradients(maker)


def _kinds(dtype: str) -> List[str]:
    if dtype == "bool":
        return ["zeros", "ones"]
    return list(_OF_FLOATS if is_float(dtype) or dtype.startswith("complex") else _OF_INTEGERS)


def _add_values(maker: Maker) -> None:
    function = maker.function
    whole = dims_for(function, maker.block + 1)
    for kind in _kinds(maker.dtype):
        maker.add("value", kind, dims=whole, values={argument.name: kind for argument in function.tensors})
    for kind in ("minus-zeros", "inf", "denormals", "extremes"):
        # With scalars that let the values through: 0 + -0 is 0, whatever became of the sign.
        for scalars in _letting_through(function.scalars) if is_float(maker.dtype) else ():
            name = ",".join([kind, *(f"{scalar}={value}" for scalar, value in scalars.items())])
            maker.add("value", name, values={argument.name: kind for argument in function.tensors}, scalars=scalars)
    at_edges = dims_for(function, 2 * maker.block + 3)
    for argument in function.tensors:
        for kind in _kinds(maker.dtypes[argument.name]):
            if kind not in ("ones", "negatives"):
                maker.add("value", f"{kind}-in-{argument.name}", dims=at_edges, values={argument.name: f"mixed:{kind}"})


def _letting_through(scalars: Tuple[Argument, ...]) -> List[Dict[str, float]]:
    """Each of up to three floats at 1 and at -0, in all combinations; none where a range forbids both."""
    found: List[Dict[str, float]] = [{}]
    for argument in scalars[:3]:
        low, high = argument.range or DEFAULT_RANGE
        values = [value for value in (1.0, -0.0) if low <= value <= high]
        if argument.type == "float" and not argument.choices and values:
            found = [{**known, argument.name: value} for known in found for value in values]
    return [known for known in found if known]


def _add_scalars(maker: Maker) -> None:
    scalars = maker.function.scalars
    for argument in scalars:
        for value in _worth_trying(argument):
            maker.add("scalar", f"{argument.name}={value}", scalars={argument.name: value})
    ends = {argument.name: _worth_trying(argument)[:2] for argument in scalars}
    if 2 <= len(scalars) <= 3:
        combinations: List[Dict[str, Any]] = [{}]
        for name, values in ends.items():
            combinations = [{**known, name: value} for known in combinations for value in values]
        for known in combinations:
            maker.add("scalar", ",".join(f"{name}={value}" for name, value in known.items()), scalars=known)


def _worth_trying(argument: Argument) -> List[Any]:
    """The ends first."""
    if argument.choices:
        return list(argument.choices)
    if argument.type == "bool":
        return [False, True]
    low, high = argument.range or DEFAULT_RANGE
    kind = int if argument.type == "int" else float
    low, high = kind(low), kind(high)
    values = [low, high, *(kind(value) for value in (0, 1, -1) if low <= value <= high)]
    if argument.type == "float" and argument.range:
        inside = as_float32(low + (high - low) / 3)
        values += [inside] if low <= inside <= high else []
    return list(dict.fromkeys(values))


def _roomy(maker: Maker) -> List[Dict[str, Shape]]:
    """Sizes in which a tensor can have any layout: of four dimensions, and rows beyond a block's edge."""
    function = maker.function
    if LEADING not in function.dimensions():
        return [dims_for(function, maker.block + 1, rows=5)]
    along_leading = primary(function) == LEADING
    long = (5, maker.block + 1) if along_leading else (5,)
    four = (2, 3, 4, 5) if along_leading else (2, 3, 4)
    return [dims_for(function, maker.block + 1, leading=long), dims_for(function, 5, leading=four)]


def layouts_of(maker: Maker, argument: Argument) -> Dict[str, Dict[str, Shape]]:
    """Forms of this argument that are not contiguous, each with sizes in which it exists."""
    found: Dict[str, Dict[str, Shape]] = {}
    for form in NON_CONTIGUOUS:
        for dims in _roomy(maker):
            shape: List[int] = []
            for dimension in argument.shape:
                shape += [int(dimension)] if dimension.isdigit() else dims[dimension]
            try:
                layout(form, tuple(shape))
            except Unfit:
                continue
            found.setdefault(form, dims)
    return found


def _add_layouts(maker: Maker) -> None:
    function = maker.function
    ones = {name: (1,) * len(sizes) for name, sizes in small_dims(function).items()}
    for argument in function.tensors:
        maker.add("layout", f"{argument.name}=offset", dims=_roomy(maker)[0], forms={argument.name: "offset"})
        if argument.shape:
            flat = {**_roomy(maker)[0], **({LEADING: (1, 7)} if LEADING in argument.shape else ones)}
            maker.add("layout", f"{argument.name}=odd-strides", dims=flat, forms={argument.name: "odd-strides"})
        may_be_negated = maker.dtypes[argument.name] != "bool" and argument.name != function.inplace
        if may_be_negated and "neg" not in function.refuses:
            maker.add("layout", f"{argument.name}=neg", forms={argument.name: "neg"})
        if "layout" in function.refuses:
            continue
        for form, dims in layouts_of(maker, argument).items():
            # Written in place, it is a case of aliases.
            if form != "expanded" or argument.name != function.inplace:
                maker.add("layout", f"{argument.name}={form}", dims=dims, forms={argument.name: form})
    if "layout" not in function.refuses and len(function.tensors) > 1:
        for form in ("transposed", "strided", "sliced"):
            having = [argument.name for argument in function.tensors if form in layouts_of(maker, argument)]
            if len(having) > 1:
                dims = layouts_of(maker, function.argument(having[0]))[form]
                maker.add("layout", f"all={form}", dims=dims, forms={name: form for name in having})


def _add_dtypes(maker: Maker) -> None:
    for argument in maker.function.tensors[1:]:
        for dtype in argument.dtypes or ():
            if dtype != maker.dtypes[argument.name]:
                maker.add("dtype", f"{argument.name}={dtype}", dtypes={argument.name: dtype})


def _add_gradients(maker: Maker) -> None:
    function = maker.function
    wanting = [argument.name for argument in function.tensors if is_float(maker.dtypes[argument.name])]
    if not wanting:
        return
    if function.inplace is None:
        maker.add("grad", "no-grad", check="no_grad", options={"leaves": wanting})
    if not function.backward:
        if "grad" not in function.refuses and function.inplace is None:
            maker.add("grad", "ignored", check="requires_grad", options={"leaves": wanting})
        return
    for size in (0, 1, 33, maker.block, maker.block + 1):
        maker.add("grad", str(size), check="gradients", dims=dims_for(function, size), options={"leaves": wanting})
    if len(wanting) > 1:
        for name in wanting:
            maker.add("grad", f"only-{name}", check="gradients", options={"leaves": [name]})
    maker.add("grad", "expanded", check="gradients", options={"leaves": wanting, "expanded": True})
