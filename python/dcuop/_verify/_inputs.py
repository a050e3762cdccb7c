"""From a case to the tensors that the function is called with: the same for the same seed, on every device.

Each tensor lies inside a piece of memory of its own whose other bytes hold a pattern: a write beside the tensor, or to
one that is only read, is seen.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import torch

from ._cases import Case, dims_for, dtypes_of, ordinary_scalar
from ._contract import DEFAULT_RANGE, LEADING, Argument, Function
from ._layouts import Unfit, contiguous_strides, edges, layout

#: Bytes of pattern on each side of a tensor, at least: a multiple of what allocators align to.
_MARGIN = 4096
_PATTERN = 0xA5
#: Random values that are drawn; more elements than that have them again. A prime: no block or row begins at the same one.
_MOST_DRAWN = 1048583


def dtype_named(name: str) -> torch.dtype:
    """Raises Unfit for a dtype that this torch does not have."""
    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype):
        raise Unfit(f"torch {torch.__version__} has no dtype {name}")
    return dtype


class Guarded(NamedTuple):
    """A tensor in the middle of memory that is watched."""

    tensor: torch.Tensor
    memory: torch.Tensor  #: all of it, bytes
    before: torch.Tensor  #: a copy of `memory`
    inside: torch.Tensor  #: which bytes are the tensor's own

    @classmethod
    def around(cls, values: torch.Tensor, strides: Sequence[int], skip: int = 0, margin: int = _MARGIN) -> "Guarded":
        """`values` with these strides, `skip` elements behind an aligned address."""
        size = values.element_size()
        extent = 1 + sum((length - 1) * stride for length, stride in zip(values.shape, strides))
        if values.numel() == 0:
            extent = 0
        margin = -(-margin // 512) * 512
        total = 2 * margin + -(-(extent + skip) * size // 16) * 16
        start = margin // size + skip
        memory = torch.full((total,), _PATTERN, dtype=torch.uint8, device=values.device)
        tensor = memory.view(values.dtype).as_strided(values.shape, strides, start)
        inside = torch.zeros_like(memory)
        own_bytes = inside.as_strided((*values.shape, size), (*(size * stride for stride in strides), 1), start * size)
        for dimension, stride in enumerate(strides):
            if stride == 0 and values.shape[dimension] > 1:
                # Several elements in one place: what is first is there.
                values = values.narrow(dimension, 0, 1)
                own_bytes = own_bytes.narrow(dimension, 0, 1)
        tensor.as_strided(values.shape, strides, start).copy_(values)
        own_bytes.fill_(1)
        return cls(tensor, memory, memory.clone(), inside)

    def written(self) -> bool:
        """Whether the tensor's own elements are other than they were."""
        return self._differs(self.inside == 1)

    def spilled(self) -> bool:
        """Whether something was written beside the tensor, or between its elements."""
        return self._differs(self.inside == 0)

    def _differs(self, where: torch.Tensor) -> bool:
        return bool(((self.memory != self.before) & where).any())


class Inputs:
    """What one call is made with."""

    def __init__(self, function: Function, arguments: Dict[str, Any], guards: Dict[str, Guarded]) -> None:
        self.function = function
        self.arguments = arguments
        self.guards = guards  #: of the tensors that are in watched memory

    def damage(self, may_write: Optional[str] = None) -> str:
        """One sentence on what the call wrote that it must not; "" when there is nothing. `may_write` names the
        argument whose elements it may."""
        for name, guard in self.guards.items():
            if guard.spilled():
                return f"memory beside {name} was written: the function writes out of bounds"
            if name != may_write and guard.written():
                return f"the input {name} was changed"
        return ""


def make(case: Case, function: Function, device: torch.device, guarded: bool = True) -> Inputs:
    """The arguments of `case` on `device`. Without guards tensors are as torch allocates them."""
    arguments: Dict[str, Any] = {}
    guards: Dict[str, Guarded] = {}
    for argument in function.arguments:
        if not argument.is_tensor:
            ordinary = ordinary_scalar(argument, case.seed_of(argument.name))
            arguments[argument.name] = case.scalars.get(argument.name, ordinary)
            continue
        values = tensor_values(case, function, argument)
        form = case.forms.get(argument.name, "")
        values = _misshapen(values, form) if values.numel() else values
        strides, skip = layout(form, values.shape)
        if not guarded and not skip and strides == contiguous_strides(values.shape):
            arguments[argument.name] = values.to(device)
            continue
        margin = max(_MARGIN, 4 * (function.block or 0) * values.element_size())
        guards[argument.name] = Guarded.around(values.to(device), strides, skip, margin)
        arguments[argument.name] = guards[argument.name].tensor
    inputs = Inputs(function, arguments, guards)
    for name, form in case.forms.items():
        _give_form(inputs, name, form, device)
    return inputs


def _misshapen(values: torch.Tensor, form: str) -> torch.Tensor:
    """The values in a shape that does not fit the other arguments', when the form is of that kind."""
    if form == "longer":
        return torch.cat([values, values.narrow(-1, 0, 1)], -1)
    if form == "longer-first":
        return torch.cat([values, values.narrow(0, 0, 1)], 0)
    if form == "shorter":
        return values.narrow(-1, 0, values.shape[-1] - 1).clone()
    if form == "empty":
        return values.narrow(-1, 0, 0).clone()
    if form == "no-dimensions":
        return values.flatten()[0].clone()
    if form == "one-dimension-more":
        return values.unsqueeze(0)
    return values[0].clone() if form == "one-dimension-less" else values


def _give_form(inputs: Inputs, name: str, form: str, device: torch.device) -> None:
    """What is more than shape and strides: another device, gradients, memory that another argument has too."""
    tensor = inputs.arguments[name]
    kind, _, other = form.partition(":")
    if kind == "device":
        inputs.arguments[name] = tensor.to("cpu" if device.type == "cuda" else "meta")
    elif kind == "grad":
        tensor.requires_grad_(True)
    elif kind == "neg":
        inputs.arguments[name] = torch._neg_view(tensor)  # pylint: disable=protected-access
    elif kind == "sparse":
        inputs.arguments[name] = tensor.to_sparse()
    elif kind == "same":
        inputs.arguments[name] = inputs.arguments[other]
        del inputs.guards[name]
    elif kind in ("overlap", "adjacent"):
        inputs.arguments[name] = _beside(inputs, name, other, kind)
        del inputs.guards[name]


def _beside(inputs: Inputs, name: str, other: str, kind: str) -> torch.Tensor:
    """The argument `name`, in the memory of `other`: from its second element on, or right behind it."""
    guard, tensor = inputs.guards[other], inputs.arguments[name]
    first = guard.tensor.storage_offset() + (1 if kind == "overlap" else guard.tensor.numel())
    if (first + tensor.numel()) * tensor.element_size() > guard.memory.numel():
        raise Unfit(f"{name} is too large to lie beside {other}")
    moved = guard.tensor.as_strided(tensor.shape, contiguous_strides(tensor.shape), first)
    if kind == "adjacent":
        moved.copy_(tensor)
        inputs.guards[other] = guard._replace(before=guard.memory.clone())
    return moved


def plain_arguments(
    function: Function, dtype: str, elements: int, device: torch.device, seed: int = 0, values: str = "random"
) -> Dict[str, Any]:
    """Arguments of an ordinary call whose first tensor has `elements` elements, or as near as its shape permits,
    without guards: for those who measure. Leading dimensions are rows of at most 4096 of the primary one; other free
    sizes are 1."""
    named = [name for name in function.dimensions() if name != LEADING]
    rows = max(1, elements // 4096) if named and LEADING in function.dimensions() else 1
    fixed = math.prod(int(size) for size in function.tensors[0].shape if size.isdigit())
    dims = dims_for(function, max(1, elements // rows // fixed), rows=1)
    if named and LEADING in dims:
        dims[LEADING] = (rows,)
    tensors = {argument.name: values for argument in function.tensors}
    case = Case("plain", "plain", function.name, dtype, "equal", dims, dtypes_of(function, dtype), tensors, seed=seed)
    return make(case, function, device, guarded=False).arguments


def bytes_to_make(case: Case, function: Function) -> int:
    """What making and judging a case's tensors takes, at least: values in float64, with what guards them."""
    margins = 6 * max(_MARGIN, 4 * 8 * (function.block or 0))
    return sum(32 * math.prod(case.shape(argument)) + margins for argument in function.tensors)


def tensor_values(case: Case, function: Function, argument: Argument) -> torch.Tensor:
    """Contiguous values on the CPU, in the argument's dtype and its right shape."""
    dtype = dtype_named(case.dtypes.get(argument.name, case.dtype))
    recipe = case.values.get(argument.name, "random")
    shape = case.shape(argument)
    count = math.prod(shape)
    seed = case.seed_of(argument.name)
    kind, _, special = recipe.partition(":")
    if kind != "mixed":
        return _recipe(kind, count, dtype, argument, seed).view(shape)
    flat = _recipe("random", count, dtype, argument, seed)
    places = torch.tensor(edges(count, function.block), dtype=torch.int64)
    flat[places] = _recipe(special, len(places), dtype, argument, seed)
    return flat.view(shape)


def _recipe(kind: str, count: int, dtype: torch.dtype, argument: Argument, seed: int) -> torch.Tensor:
    """`count` values of one kind; a kind that the dtype lacks (a NaN of integers) gives random ones."""
    low, high = argument.range or DEFAULT_RANGE
    generator = torch.Generator().manual_seed(seed)
    if dtype.is_complex:
        part = torch.float32 if dtype == torch.complex64 else torch.float64
        pair = [_recipe(kind, count, part, argument, seed + both) for both in (0, 1)]
        return torch.complex(*pair)
    if not dtype.is_floating_point:
        return _whole_numbers(kind, count, dtype, (low, high), generator)
    if kind in _SPECIALS:
        values = torch.tensor(_SPECIALS[kind](torch.finfo(dtype)), dtype=torch.float64)
        return values.repeat(-(-count // len(values)))[:count].to(dtype)
    if kind == "integers":
        bottom, top = max(math.ceil(low), -4), min(math.floor(high), 4)
        if bottom <= top:
            return torch.randint(bottom, top + 1, (count,), generator=generator).to(dtype)
    drawn = torch.rand(min(count, _MOST_DRAWN), generator=generator, dtype=torch.float64)
    values = low + (high - low) * drawn
    values = (-values.abs() if kind == "negatives" else values).to(dtype)
    return values if count == len(values) else values.repeat(-(-count // len(values)))[:count]


_SPECIALS: Mapping[str, Callable[[Any], List[float]]] = {
    "zeros": lambda info: [0.0],
    "ones": lambda info: [1.0],
    "minus-zeros": lambda info: [-0.0],
    "signed-zeros": lambda info: [0.0, -0.0, -0.0],
    "nan": lambda info: [math.nan],
    "inf": lambda info: [math.inf, -math.inf],
    "extremes": lambda info: [info.max, -info.max, info.tiny, -info.tiny, 1.0 + info.eps, info.min / 2],
    "denormals": lambda info: [
        info.tiny * info.eps,
        -info.tiny * info.eps,
        info.tiny * (1.0 - info.eps),
        -info.tiny * (1.0 - info.eps),
        info.tiny / 2,
    ],
}


def _whole_numbers(
    kind: str, count: int, dtype: torch.dtype, span: Tuple[float, float], generator: torch.Generator
) -> torch.Tensor:
    if dtype == torch.bool:
        least, most = 0, 1
    else:
        info = torch.iinfo(dtype)
        least, most = max(info.min, math.ceil(span[0])), min(info.max, math.floor(span[1]))
        if kind == "extremes" and span == DEFAULT_RANGE:
            # An explicit range may be of indices, beyond which there is nothing.
            least, most = info.min, info.max
    if kind == "extremes":
        return torch.tensor([least, most], dtype=torch.int64).repeat(-(-count // 2))[:count].to(dtype)
    if kind in ("zeros", "ones"):
        return torch.full((count,), min(max(int(kind == "ones"), least), most)).to(dtype)
    if kind == "negatives" and least < 0:
        most = min(most, -1)
    return torch.randint(least, most + 1, (count,), generator=generator).to(dtype)
