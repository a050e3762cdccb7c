"""Arguments for the numerics: every value of a 16-bit dtype where that can be, else samples of every binade.

All is deterministic by the seed, and of elementwise functions alone: of others an infinity here is a NaN everywhere in
its row, and random values in the contract's ranges are what there is.
"""

from __future__ import annotations

import math
import zlib
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

import torch

from ._contract import DEFAULT_RANGE, LEADING, Argument, Function
from ._inputs import dtype_named, plain_arguments

#: Elements of a batch of samples.
ELEMENTS = 1 << 15
#: Batches, each with other scalars.
_BATCHES = 4
_SIXTEEN_BITS = (torch.float16, torch.bfloat16)


class Samples(NamedTuple):
    """What the function is called with, and how it was chosen."""

    inputs: str  #: "every value", "samples" or "random"
    batches: List[Dict[str, Any]]


def samples(function: Function, dtype: str, device: torch.device, seed: int) -> Samples:
    """The calls to make. Raises Unfit for a dtype that this torch does not have."""
    wanted = dtype_named(dtype)
    whole = _is_elementwise(function) and wanted.is_floating_point
    count = _BATCHES if function.scalars or not whole else 1
    every = whole and len(function.tensors) == 1 and wanted in _SIXTEEN_BITS
    batches = []
    for number in range(count):
        elements = 1 << 16 if every else ELEMENTS
        arguments = plain_arguments(function, dtype, elements, device, seed=seed + number)
        if whole:
            _spread_out(function, arguments, every, seed + number)
        for argument in function.scalars:
            arguments[argument.name] = scalar(argument, number, wanted, seed)
        if whole and number == 2:
            _cancel(function, arguments)
        batches.append(arguments)
    return Samples("every value" if every else "samples" if whole else "random", batches)


def scalar(argument: Argument, number: int, dtype: torch.dtype, seed: int) -> Any:
    """The scalar of the batch of this number: its default first, then values within its range. Of floats some have all
    the bits of float32, some only as many as `dtype` has, so that rounding them there or not is told apart."""
    if argument.default is not None and number == 0:
        return argument.default
    if argument.choices:
        return argument.choices[number % len(argument.choices)]
    if argument.type == "bool":
        return bool((number + seed) & 1)
    low, high = argument.range or DEFAULT_RANGE
    generator = torch.Generator().manual_seed(seed * 1009 + number * 31 + zlib.crc32(argument.name.encode("utf-8")))
    if argument.type == "int":
        return int(torch.randint(int(low), int(high) + 1, (), generator=generator))
    part = float(torch.rand((), generator=generator, dtype=torch.float64))
    exact = torch.tensor(low + (high - low) * part, dtype=torch.float64)
    narrow = float(exact.to(torch.float32))
    if number % 2 and dtype in _SIXTEEN_BITS:
        narrow = float(exact.to(dtype))
    return min(max(narrow, low), high)


def in_range(function: Function, arguments: Dict[str, Any]) -> torch.Tensor:
    """Which elements of an elementwise call have all their inputs within the contract's ranges, as a flat mask."""
    inside = None
    for argument in function.tensors:
        value = arguments[argument.name]
        if value.is_floating_point():
            low, high = argument.range or DEFAULT_RANGE
            one = ((value.double() >= low) & (value.double() <= high)).reshape(-1)
            inside = one if inside is None else inside & one
    assert inside is not None
    return inside.cpu()


def _is_elementwise(function: Function) -> bool:
    return bool(function.tensors) and all(argument.shape == (LEADING,) for argument in function.tensors)


def _spread_out(function: Function, arguments: Dict[str, Any], every: bool, seed: int) -> None:
    """Other values for the floating-point tensors of an elementwise function."""
    first = None
    for place, argument in enumerate(function.tensors):
        value = arguments[argument.name]
        if not value.is_floating_point():
            continue
        generator = torch.Generator().manual_seed(seed * 7919 + place)
        if every:
            flat = torch.arange(-(1 << 15), 1 << 15, dtype=torch.int32).to(torch.int16).view(value.dtype)
        else:
            flat = _sampled(value.dtype, argument, value.numel(), generator)
            if first is not None and first.dtype == flat.dtype:
                _beside(first, flat, generator)
        first = flat if first is None else first
        value.copy_(flat.view(value.shape))


def _cancel(function: Function, arguments: Dict[str, Any]) -> None:
    """Where one scalar may be a factor and another one a summand: the second becomes what cancels an element's product
    with the first, rounded to float32. What is left is the product's rounding, which a fused operation does not have."""
    scalars = [one for one in function.scalars if one.type == "float" and not one.choices]
    value = arguments[function.tensors[0].name]
    if len(scalars) < 2 or not value.is_floating_point():
        return
    low, high = function.tensors[0].range or DEFAULT_RANGE
    # With all the bits of its dtype, halved until the product fits.
    exact = torch.tensor((low + high) / 2 + (high - low) * 0.0913, dtype=torch.float64)
    low, high = scalars[1].range or DEFAULT_RANGE
    for _ in range(8):
        element = exact.to(value.dtype)
        cancelling = float(torch.tensor(-float(element) * arguments[scalars[0].name], dtype=torch.float32))
        if low <= cancelling <= high:
            value.view(-1)[-1] = element
            arguments[scalars[1].name] = cancelling
            return
        exact = exact / 2


def _sampled(dtype: torch.dtype, argument: Argument, count: int, generator: torch.Generator) -> torch.Tensor:
    """A quarter evenly within the range, a quarter of binades within it, half of every binade; NaN and infinities are
    left to the special values."""
    low, high = argument.range or DEFAULT_RANGE
    quarter = count // 4
    even = low + (high - low) * torch.rand(quarter, generator=generator, dtype=torch.float64)
    most = max(abs(low), abs(high))
    info = torch.finfo(dtype)
    least = math.log2(info.tiny * info.eps)
    binades = _binades(quarter, max(least, math.log2(most) - 24) if most else least, math.log2(most or 1.0), generator)
    every = _binades(count - 2 * quarter, least, math.log2(info.max), generator)
    return torch.cat([even, binades.clamp(low, high), every.clamp(-info.max, info.max)]).to(dtype)


def _binades(count: int, least: float, most: float, generator: torch.Generator) -> torch.Tensor:
    exponent = least + (most - least) * torch.rand(count, generator=generator, dtype=torch.float64)
    sign = torch.randint(0, 2, (count,), generator=generator) * 2.0 - 1.0
    return sign * torch.exp2(exponent)


def _beside(first: torch.Tensor, other: torch.Tensor, generator: torch.Generator) -> None:
    """Every fourth element near the first tensor's negative, where a sum cancels; and every fourth of its size."""
    near = first[::4].double() * -(1.0 + (torch.randint(-8, 9, first[::4].shape, generator=generator) / 1024.0))
    info = torch.finfo(other.dtype)
    other[::4] = near.clamp(-info.max, info.max).to(other.dtype)
    sized = first[1::4].double() * (
        0.25 + 4.0 * torch.rand(first[1::4].shape, generator=generator, dtype=torch.float64)
    )
    other[1::4] = sized.clamp(-info.max, info.max).to(other.dtype)


def special_calls(function: Function, dtype: str, device: torch.device, seed: int) -> List[Tuple[str, Dict[str, Any]]]:
    """Calls with one special value each, and how they are called: "x=nan", "x=inf, scale=0"."""
    wanted = dtype_named(dtype)
    calls = []
    for argument in function.tensors:
        value = plain_arguments(function, dtype, 8, device, seed=seed)[argument.name]
        if value.is_floating_point() and value.numel():
            for name, number in _special_values(value.dtype):
                calls.append((f"{argument.name}={name}", {argument.name: number}))
    scalars = [argument for argument in function.scalars if argument.type == "float" and not argument.choices]
    for argument in scalars:
        calls += [(f"{argument.name}={name}", {argument.name: number}) for name, number in _SCALARS]
    if scalars and function.tensors:
        tensor = function.tensors[0].name
        for name, number in (("nan", math.nan), ("inf", math.inf)):
            calls.append((f"{tensor}={name}, {scalars[0].name}=0", {tensor: number, scalars[0].name: 0.0}))
    return [(name, _with(function, dtype, device, seed, changes, wanted)) for name, changes in calls]


_SCALARS: Sequence[Tuple[str, float]] = (
    ("nan", math.nan),
    ("inf", math.inf),
    ("-inf", -math.inf),
    ("0", 0.0),
    ("-0", -0.0),
)


def _special_values(dtype: torch.dtype) -> List[Tuple[str, float]]:
    info = torch.finfo(dtype)
    smallest, largest = info.tiny * info.eps, info.tiny * (1.0 - info.eps)
    return [
        *_SCALARS,
        ("least denormal", smallest),
        ("-least denormal", -smallest),
        ("largest denormal", largest),
        ("least normal", info.tiny),
        ("max", info.max),
        ("-max", -info.max),
    ]


def _with(
    function: Function, dtype: str, device: torch.device, seed: int, changes: Dict[str, float], wanted: torch.dtype
) -> Dict[str, Any]:
    arguments = plain_arguments(function, dtype, 8, device, seed=seed)
    for argument in function.scalars:
        arguments[argument.name] = scalar(argument, 0, wanted, seed)
    for name, number in changes.items():
        if isinstance(arguments[name], torch.Tensor):
            arguments[name].view(-1)[0] = number
        else:
            arguments[name] = number
    return arguments
