"""What an operator gave against what it had to give: elements that differ, in units in the last place (ULP)."""

from __future__ import annotations

import math
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import torch

from ._contract import Tolerance

#: Elements that are compared at a time: a comparison takes some ten times their memory.
CHUNK = 1 << 22
#: Differing elements that a verdict names.
MOST_ELEMENTS = 5

_INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
# The 8-bit types are not in every torch: https://arxiv.org/abs/2209.05433 has their layout.
_MANTISSA_BITS = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52, "float8_e4m3fn": 3, "float8_e5m2": 2}
_LEAST_EXPONENT = {
    "float16": -14,
    "bfloat16": -126,
    "float32": -126,
    "float64": -1022,
    "float8_e4m3fn": -6,
    "float8_e5m2": -14,
}


class Difference(NamedTuple):
    """Elements of a result that are not what they had to be."""

    wrong: int
    of: int
    max_ulp: Optional[float]  #: of those that are numbers on both sides; None when none is
    elements: List[Dict[str, Any]]  #: the first: "index", "got", "want", "ulp"

    def to_json(self) -> Dict[str, Any]:
        return {"count": self.wrong, "of": self.of, "max_ulp": self.max_ulp}


def dtype_name(dtype: torch.dtype) -> str:
    """As contracts and results call it: "float16"."""
    return str(dtype).replace("torch.", "")


def differ(got: torch.Tensor, want: torch.Tensor, tolerance: Tolerance) -> Optional[Difference]:
    """None when each element of `got` is right: NaN for NaN, the same infinity, the same sign of zero, and numbers
    within `tolerance`. Both have one shape and dtype (else ValueError); they may lie on different devices."""
    if got.shape != want.shape or got.dtype != want.dtype:
        raise ValueError(f"{got.dtype} of shape {tuple(got.shape)} against {want.dtype} of shape {tuple(want.shape)}")
    if got.is_complex():
        # Each part is a number of its own; the last index says which.
        got, want = torch.view_as_real(got.resolve_conj()), torch.view_as_real(want.resolve_conj())
    shape, of = tuple(got.shape), got.numel()
    flat_got, flat_want = _flat(got), _flat(want)
    count, largest = 0, None
    elements: List[Dict[str, Any]] = []
    for start in range(0, of, CHUNK):
        one = flat_got[start : start + CHUNK]
        other = flat_want[start : start + CHUNK].to(one.device)
        if same_bits(one, other):
            continue
        wrong, distance = _judged(one, other, tolerance)
        positions = wrong.nonzero(as_tuple=True)[0]
        if positions.numel() == 0:
            continue
        count += positions.numel()
        finite = torch.isfinite(one.double()) & torch.isfinite(other.double()) & wrong
        if bool(finite.any()):
            largest = max(largest or 0.0, float(distance[finite].max()))
        for position in positions[: MOST_ELEMENTS - len(elements)].tolist():
            ulp = float(distance[position]) if bool(finite[position]) else None
            elements.append(_element(start + position, shape, one[position], other[position], ulp))
    return Difference(count, of, largest, elements) if count else None


def wrong_elements(got: torch.Tensor, want: torch.Tensor, tolerance: Tolerance) -> torch.Tensor:
    """Which elements of two tensors of one shape and dtype `differ` would name, as a mask."""
    return _judged(got, want, tolerance)[0]


def same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether shape, dtype and every bit agree, those of NaN too."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return torch.equal(bits(one), bits(other.to(one.device)))


def bits(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor's elements, flat, as integers of their size."""
    flat = _flat(torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor)
    return flat.view(_INTEGERS[flat.element_size()])


def ulp_distance(got: torch.Tensor, want: torch.Tensor) -> torch.Tensor:
    """How many values of their dtype lie between the two, as float64 (exact up to 2^53): 0 for equal ones, 1 for
    neighbours. Meaningless for NaN. Integers: their difference."""
    if not got.is_floating_point():
        return (got.double() - want.double()).abs()
    (one, one_negative), (other, other_negative) = _parts(got), _parts(want)
    # Of one sign in integers, where nothing is lost; the sum over zero may need 64 bits.
    return torch.where(one_negative == other_negative, (one - other).abs().double(), one.double() + other.double())


def ulp_error(got: torch.Tensor, exact: torch.Tensor) -> torch.Tensor:
    """|got - exact| in units in the last place of got's dtype at `exact` (float64): at most 0.5 for a result that was
    rounded once. NaN where either is none or infinite, unless both are the same: then 0."""
    spacing = _spacing(exact.double(), got.dtype)
    error = (got.double() - exact.double()).abs() / spacing
    same = (got.double() == exact.double()) | (torch.isnan(got) & torch.isnan(exact))
    overflowed = torch.isinf(got) & ~torch.isinf(exact)
    # A number beyond the largest is rounded to infinity as if there were one more number: judged by rounding it.
    rounded = round_once(exact, got.dtype)
    same = same | (overflowed & (rounded == got))
    error = torch.where(same, torch.zeros_like(error), error)
    return torch.where(torch.isinf(error), torch.full_like(error, math.nan), error)


def round_once(exact: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """float64 values in `dtype`, rounded to nearest, ties to even, once.

    torch goes from float64 to a 16-bit type by way of float32, which rounds twice. Here the way leads over the float32
    beside the value that has an odd last bit (Boldo and Melquiond, "When double rounding is odd", 2005,
    https://inria.hal.science/inria-00070603): that loses nothing the second rounding needs.
    """
    if exact.is_complex():
        parts = torch.view_as_real(exact)
        return torch.view_as_complex(parts.contiguous()).to(dtype)
    if dtype in (torch.float32, torch.float64) or not dtype.is_floating_point or exact.dtype != torch.float64:
        return exact.to(dtype)
    single = exact.to(torch.float32).contiguous()
    back = single.double()
    inexact = (back != exact) & ~torch.isnan(exact)
    pattern = single.view(torch.int32)
    # One step towards zero where rounding went away from it; magnitudes are ordered as their patterns are.
    pattern = torch.where(inexact & (back.abs() > exact.abs()), pattern - 1, pattern)
    pattern = torch.where(inexact, pattern | 1, pattern)
    return pattern.view(torch.float32).to(dtype)


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().resolve_neg().contiguous().view(-1)


def _judged(got: torch.Tensor, want: torch.Tensor, tolerance: Tolerance) -> Tuple[torch.Tensor, torch.Tensor]:
    distance = ulp_distance(got, want)
    one, other = got.double(), want.double()
    # In float64 different integers beyond 2^53 are equal; the 8-bit types cannot be compared as they are.
    right = one == other if got.is_floating_point() else got == want
    if tolerance.ulp:
        right = right | (distance <= tolerance.ulp)
    if tolerance.rtol or tolerance.atol:
        right = right | ((one - other).abs() <= (tolerance.atol or 0.0) + (tolerance.rtol or 0.0) * other.abs())
    if not got.is_floating_point():
        return ~right, distance
    nan = torch.isnan(one) | torch.isnan(other)
    infinite = torch.isinf(one) | torch.isinf(other)
    zero = (one == 0) & (other == 0)
    right = torch.where(nan, torch.isnan(one) & torch.isnan(other), right)
    right = torch.where(infinite, one == other, right)
    right = torch.where(zero, torch.signbit(one) == torch.signbit(other), right)
    return ~right, distance


def _parts(tensor: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
    """How many values lie between zero and each element, as int64, and which elements have the sign bit."""
    pattern = tensor.contiguous().view(_INTEGERS[tensor.element_size()]).to(torch.int64)
    return pattern & ((1 << (8 * tensor.element_size() - 1)) - 1), pattern < 0


def _spacing(exact: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    _, exponent = torch.frexp(exact)
    name = dtype_name(dtype)
    least, mantissa = _LEAST_EXPONENT[name], _MANTISSA_BITS[name]
    exponent = (exponent.long() - 1).clamp(min=least)
    exponent = torch.where(exact == 0, torch.full_like(exponent, least), exponent)
    exponent = exponent - mantissa
    # By its pattern: torch.ldexp forms the power in float32.
    normal = (exponent.clamp(min=-1022) + 1023) << 52
    subnormal = torch.ones_like(exponent) << (exponent + 1074).clamp(min=0, max=51)
    return torch.where(exponent >= -1022, normal, subnormal).view(torch.float64)


def _element(
    position: int, shape: Tuple[int, ...], got: torch.Tensor, want: torch.Tensor, ulp: Optional[float]
) -> Dict[str, Any]:
    index: List[int] = []
    for size in reversed(shape):
        position, at = divmod(position, size)
        index.append(at)
    whole = ulp is not None and ulp == int(ulp)
    return {
        "index": index[::-1],
        "got": _text(got),
        "want": _text(want),
        "ulp": int(ulp) if whole and ulp is not None else ulp,
    }


def _text(value: torch.Tensor) -> str:
    """As many digits as tell the value from its neighbours."""
    number = value.item()
    if not isinstance(number, float):
        return str(number)
    if value.dtype == torch.float64 or not math.isfinite(number):
        return repr(number)
    for digits in range(1, 18):
        text = f"{number:.{digits}g}"
        if torch.tensor(float(text), dtype=torch.float64).to(value.dtype).item() == number:
            return repr(float(text))
    return repr(number)
