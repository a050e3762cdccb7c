"""A formula under another way of rounding: each operation in a narrow dtype, products fused into sums."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import torch
from torch.overrides import TorchFunctionMode

from ._judge import round_once

NARROW = (torch.float16, torch.bfloat16)
_FUSED = (torch.float16, torch.bfloat16, torch.float32)

_PRODUCTS = ("mul", "multiply", "__mul__", "__rmul__")
_SUMS = ("add", "__add__", "__radd__")
_DIFFERENCES = ("sub", "subtract", "__sub__")
_REVERSED = ("__rsub__", "rsub")
# What has nothing to round: properties, sizes, other views of the same memory, and what says the dtype itself.
_AS_IT_IS = frozenset(
    """__get__ __set__ __len__ __setitem__ __getitem__ __float__ __int__ __bool__ size dim ndimension numel nelement
    stride is_floating_point is_complex is_contiguous item tolist to type type_as float half bfloat16 double int long
    bool contiguous clone detach view reshape flatten unflatten squeeze unsqueeze expand expand_as broadcast_to permute
    transpose t movedim moveaxis chunk split unbind narrow select index_select gather take flip roll repeat
    repeat_interleave cat concat stack where masked_fill copy_ fill_ zero_ zeros_like ones_like full_like empty_like
    new_zeros new_ones new_full new_empty new_tensor tensor zeros ones full empty arange element_size data_ptr
    get_device requires_grad_ resolve_neg resolve_conj is_neg is_conj signbit isnan isinf isfinite eq ne lt le gt ge abs
    neg relu maximum minimum amax amin max min clamp sign""".split()
)


class Rounding(TorchFunctionMode):  # type: ignore[misc]
    """Within it, an operation of torch on 16-bit floating-point tensors is computed in float32 and rounded to their
    dtype, whether or not the device has that operation in that dtype; wider tensors are rounded by torch itself.

    `fuse` joins a product with the sum that it goes into to one operation with one rounding: "first" or "second" says
    of which product, where both terms are one. That holds for float16, bfloat16 and float32; the fused result is exact
    but for its one rounding.
    """

    def __init__(self, fuse: Optional[str] = None) -> None:
        super().__init__()
        self.fused = 0  #: how many products went into a sum
        self.ambiguous = False  #: whether there was a sum of two products
        self._fuse = fuse
        self._factors: Dict[int, Tuple[torch.Tensor, int, Any, Any]] = {}

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: Optional[Mapping[str, Any]] = None
    ) -> Any:
        name, keywords = getattr(func, "__name__", ""), dict(kwargs or {})
        if self._fuse and not set(keywords) - {"alpha"}:
            factors = self._factors_of(name, args)
            if factors is not None:
                return self._remembered(_rounded(func, args, keywords), factors)
        if self._fuse and len(args) == 2 and not set(keywords) - {"alpha"}:
            if name in _SUMS + _DIFFERENCES + _REVERSED:
                fused = self._sum(name, args, keywords.get("alpha", 1))
                if fused is not None:
                    return fused
        if name in ("__iadd__", "add_", "__isub__", "sub_", "__imul__", "mul_") and isinstance(args[0], torch.Tensor):
            plain = getattr(torch.Tensor, name.strip("_")[-3:])
            # By this mode once more; then written, as it was asked for.
            return args[0].copy_(self.__torch_function__(plain, types, args, keywords))
        return _rounded(func, args, keywords)

    def _factors_of(self, name: str, args: Sequence[Any]) -> Optional[Tuple[Any, Any]]:
        """What the operation multiplies; None when it is no product."""
        if name in _PRODUCTS and len(args) == 2:
            return args[0], args[1]
        if name == "square" or (name in ("pow", "__pow__") and len(args) == 2 and _is_two(args[1])):
            return args[0], args[0]
        if name in ("neg", "negative", "__neg__"):
            product = self._product(args[0])
            return (-product[0], product[1]) if product is not None else None
        return None

    def _remembered(self, product: Any, factors: Sequence[Any]) -> Any:
        if isinstance(product, torch.Tensor) and product.dtype in _FUSED:
            # The tensor is kept, so that no other one gets its id; its version says whether it was written since.
            self._factors[id(product)] = (product, product._version, *factors)
        return product

    def _product(self, term: Any) -> Optional[Tuple[Any, Any]]:
        found = self._factors.get(id(term)) if isinstance(term, torch.Tensor) else None
        return (found[2], found[3]) if found is not None and found[0]._version == found[1] else None

    def _sum(self, name: str, args: Sequence[Any], alpha: Any) -> Optional[torch.Tensor]:
        one, other = (args[1], args[0]) if name in _REVERSED else (args[0], args[1])
        products = [self._product(one), self._product(other)]
        negative = name not in _SUMS
        if alpha != 1:
            if products[0] is None and isinstance(other, torch.Tensor):
                products[1] = (other, alpha)
            else:
                return None
        if products[0] is None and products[1] is None:
            return None
        dtype = torch.result_type(one, other)
        if dtype not in _FUSED:
            return None
        self.ambiguous = self.ambiguous or None not in products
        take = products[0] is not None and (products[1] is None or self._fuse == "first")
        factors, rest = (products[0], other) if take else (products[1], one)
        assert factors is not None
        if any(isinstance(factor, torch.Tensor) and factor.dtype != dtype and factor.dim() for factor in factors):
            return None
        self.fused += 1
        a, b = (_as_double(factor, dtype) for factor in factors)
        c = _as_double(rest, dtype)
        # Of a difference the second term is the negative one.
        if negative and take:
            c = -c
        elif negative:
            a = -a
        return fused_multiply_add(a, b, c, dtype)


def fused_multiply_add(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """a * b + c in `dtype` (at most 24 bits of mantissa), rounded to nearest once; a, b and c are values of that dtype
    in float64.

    The product is exact in float64. The sum is rounded to odd there, which loses nothing that a later rounding to 24
    bits or fewer needs (Boldo and Melquiond, "Emulation of a FMA and Correctly Rounded Sums", IEEE Trans. Comput. 2008,
    https://doi.org/10.1109/TC.2007.70819); what a rounding to nearest leaves out is Knuth's two-sum.
    """
    product = a * b
    total = product + c
    other = total - product
    error = (product - (total - other)) + (c - other)
    bits = total.contiguous().view(torch.int64)
    inexact = (error != 0) & torch.isfinite(total) & torch.isfinite(error)
    step = torch.where((error > 0) == (total > 0), 1, -1)
    odd = torch.where(inexact & (bits & 1 == 0), bits + step, bits)
    return round_once(odd.view(torch.float64), dtype)


def _is_two(value: Any) -> bool:
    return isinstance(value, (int, float)) and value == 2


def _as_double(value: Any, dtype: torch.dtype) -> torch.Tensor:
    """As float64, a number first rounded to the dtype that the operation has it in."""
    if isinstance(value, torch.Tensor):
        return value.to(dtype).double() if value.dim() == 0 else value.double()
    return round_once(torch.tensor(float(value), dtype=torch.float64), dtype).double()


def _rounded(func: Callable[..., Any], args: Sequence[Any], keywords: Dict[str, Any]) -> Any:
    tensors = [each for each in _flat([*args, *keywords.values()]) if isinstance(each, torch.Tensor)]
    floating = [tensor for tensor in tensors if tensor.is_floating_point()]
    name = getattr(func, "__name__", "")
    if not any(tensor.dtype in NARROW for tensor in floating) or name in _AS_IT_IS or keywords.get("out") is not None:
        return func(*args, **keywords)
    if name.endswith("_") and not name.endswith("__"):
        plain = getattr(torch.Tensor, name[:-1], None)
        if plain is not None and isinstance(args[0], torch.Tensor):
            return args[0].copy_(_rounded(plain, args, keywords))
    result = func(*_widened(args), **_widened(keywords))
    if keywords.get("dtype") is not None:
        return result
    # A tensor without dimensions does not widen one that has some.
    counting = [tensor for tensor in floating if tensor.dim()] or floating
    dtype = counting[0].dtype
    for tensor in counting[1:]:
        dtype = torch.promote_types(dtype, tensor.dtype)
    return _narrowed(result, dtype) if dtype in NARROW else result


def _flat(values: Any) -> List[Any]:
    found: List[Any] = []
    for value in values:
        found += _flat(value) if isinstance(value, (list, tuple)) else [value]
    return found


def _widened(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.float() if value.dtype in NARROW else value
    if isinstance(value, dict):
        return {name: _widened(inner) for name, inner in value.items()}
    return type(value)(_widened(inner) for inner in value) if type(value) in (list, tuple) else value


def _narrowed(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if value.dtype == torch.float32 else value
    if isinstance(value, (list, tuple)):
        inner = [_narrowed(one, dtype) for one in value]
        return type(value)(inner) if type(value) in (list, tuple) else tuple(inner)
    return value


class Watched(TorchFunctionMode):  # type: ignore[misc]
    """Notes whether anything within it is computed in less than float64."""

    def __init__(self) -> None:
        super().__init__()
        self.narrow: Optional[torch.dtype] = None  #: the first such dtype

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: Optional[Mapping[str, Any]] = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        # A constant without dimensions may well be one of float32: it is an argument of the operator.
        if isinstance(result, torch.Tensor) and result.is_floating_point() and result.numel() > 1:
            if result.dtype != torch.float64 and self.narrow is None:
                self.narrow = result.dtype
        return result
