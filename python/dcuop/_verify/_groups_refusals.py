"""Cases that the contract refuses: each must raise, with a message, change nothing, and leave the function usable."""

from __future__ import annotations

from typing import Any, List

from ._cases import dims_for, primary
from ._contract import LEADING, Argument, is_float
from ._groups_values import layouts_of
from ._maker import Maker

_DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int32", "int64", "bool", "complex64")


def add(maker: Maker) -> None:
    refuses = maker.function.refuses
    for kind, add_kind in (
        ("dtype", _add_dtypes),
        ("device", _add_devices),
        ("layout", _add_layouts),
        ("shape", _add_shapes),
        ("grad", _add_gradients),
        ("neg", _add_negated),
        ("sparse", _add_sparse),
    ):
        if kind in refuses:
            add_kind(maker)
        elif kind in ("dtype", "device", "shape", "sparse"):
            # What is wrong by nature has no right result either; layouts, gradients and views have one, and are tried.
            maker.skip("refuse", kind, f"refuses does not name {kind}")


def _refuse(maker: Maker, name: str, fault: str, **changes: Any) -> None:
    maker.add("refuse", name, check="refused", options={"fault": fault}, **changes)


def _add_dtypes(maker: Maker) -> None:
    for argument in maker.function.tensors:
        right = argument.dtypes or (maker.dtypes[argument.name],)
        for dtype in _DTYPES:
            if dtype not in right:
                fault = f"{argument.name} of dtype {dtype}"
                _refuse(maker, f"dtype/{argument.name}={dtype}", fault, dtypes={argument.name: dtype})


def _add_devices(maker: Maker) -> None:
    tensors = maker.function.tensors
    for argument in tensors:
        fault = f"{argument.name} on another device"
        _refuse(maker, f"device/{argument.name}=other", fault, forms={argument.name: "device"})
    if len(tensors) > 1:
        forms = {argument.name: "device" for argument in tensors}
        _refuse(maker, "device/all=other", "a set of tensors on another device", forms=forms)


def _add_layouts(maker: Maker) -> None:
    for argument in maker.function.tensors:
        for form, dims in layouts_of(maker, argument).items():
            fault = f"{argument.name} that is not contiguous ({form})"
            _refuse(maker, f"layout/{argument.name}={form}", fault, dims=dims, forms={argument.name: form})


def _add_shapes(maker: Maker) -> None:
    tensors = maker.function.tensors
    before = len(maker.cases)
    for argument in tensors:
        for form in _wrong_shapes(argument, [other for other in tensors if other is not argument]):
            fault = f"{argument.name} of a shape that does not fit ({form})"
            _refuse(maker, f"shape/{argument.name}={form}", fault, forms={argument.name: form})
    target = maker.function.inplace
    shape = maker.function.argument(target).shape if target is not None else ()
    if target is not None and LEADING in shape and any(argument.broadcast for argument in tensors):
        # The result would be larger than what it is written to.
        rank = len(shape) + 1
        patterns = {target: "1" + "=" * (rank - 1)}
        dims = dims_for(maker.function, 5, leading=(3, 5) if primary(maker.function) == LEADING else (3, 2))
        fault = f"{target} smaller than the result"
        _refuse(maker, f"shape/{target}=smaller", fault, dims=dims, patterns=patterns)
    if len(maker.cases) == before:
        maker.skip("refuse", "shape", "no size is shared by two tensors, and none is a number")


def _wrong_shapes(argument: Argument, others: List[Argument]) -> List[str]:
    fixed = [dimension for dimension in argument.shape if dimension != LEADING]
    shared = {dimension for other in others for dimension in other.shape if not other.broadcast}
    tied = [dimension for dimension in argument.shape if dimension.isdigit() or dimension in shared]
    if argument.broadcast:
        # Dimensions may be missing or more; one that is neither 1 nor equal fits nothing.
        return ["longer", "shorter", "empty"] if argument.shape else []
    forms: List[str] = []
    if argument.shape and argument.shape[-1] in tied:
        forms += ["longer", "shorter", "empty"]
    elif tied:
        forms.append("longer-first")
    if fixed:
        forms.append("no-dimensions")
    if LEADING not in argument.shape or LEADING in shared:
        forms += ["one-dimension-more"] + (["one-dimension-less"] if len(argument.shape) > 1 else [])
    return forms


def _add_gradients(maker: Maker) -> None:
    for argument in maker.function.tensors:
        if is_float(maker.dtypes[argument.name]):
            fault = f"{argument.name} that requires gradients"
            _refuse(maker, f"grad/{argument.name}", fault, forms={argument.name: "grad"})


def _add_negated(maker: Maker) -> None:
    for argument in maker.function.tensors:
        if maker.dtypes[argument.name] != "bool":
            fault = f"{argument.name} as a lazily negated view"
            _refuse(maker, f"neg/{argument.name}", fault, forms={argument.name: "neg"})


def _add_sparse(maker: Maker) -> None:
    for argument in maker.function.tensors:
        if argument.shape:
            fault = f"a sparse {argument.name}"
            _refuse(maker, f"sparse/{argument.name}", fault, forms={argument.name: "sparse"})
