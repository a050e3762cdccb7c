"""How a tensor of some shape can lie in memory: plain arithmetic, without torch."""

from __future__ import annotations

from typing import Callable, List, Mapping, Optional, Sequence, Tuple

Shape = Tuple[int, ...]


class Unfit(ValueError):
    """A case that does not exist here: no tensor can have that form in that shape, or that dtype in this torch."""


def edges(count: int, block: Optional[int]) -> List[int]:
    """Positions beside the edges of wavefronts and blocks, and the ends, below `count`."""
    found = {0, count - 1}
    for width in (32, 64, block or 256):
        for multiple in (1, 2, 3, 4):
            found.update((multiple * width - 1, multiple * width, multiple * width + 1))
    return sorted(place for place in found if 0 <= place < count)


def layout(form: str, shape: Shape) -> Tuple[Tuple[int, ...], int]:
    """Strides and the first element of a tensor of this form. Raises Unfit for a shape that cannot have it."""
    strides = list(contiguous_strides(shape))
    if form == "offset":
        return tuple(strides), 1
    if form == "odd-strides":
        # Of dimensions of size 1, where they mean nothing: such a tensor counts as contiguous.
        return tuple(12345 if size == 1 else stride for size, stride in zip(shape, strides)), 0
    if form not in _LAYOUTS:
        return tuple(strides), 0
    changed = _LAYOUTS[form](shape, strides)
    if changed is None:
        raise Unfit(f"a tensor of shape {tuple(shape)} cannot be {form}")
    return changed


def contiguous_strides(shape: Sequence[int]) -> Tuple[int, ...]:
    strides, stride = [], 1
    for size in reversed(shape):
        strides.append(stride)
        stride *= max(size, 1)
    return tuple(reversed(strides))


_Layout = Optional[Tuple[Tuple[int, ...], int]]


def _transposed(shape: Shape, _: List[int]) -> _Layout:
    if len(shape) < 2 or min(shape[-2:]) < 2:
        return None
    turned = contiguous_strides((*shape[:-2], shape[-1], shape[-2]))
    return (*turned[:-2], turned[-1], turned[-2]), 0


def _strided(shape: Shape, strides: List[int]) -> _Layout:
    return (tuple(2 * stride for stride in strides), 0) if shape and shape[-1] > 1 else None


def _expanded(shape: Shape, strides: List[int]) -> _Layout:
    if not shape or shape[0] < 2:
        return None
    return (0, *strides[1:]), 0


def _sliced(shape: Shape, _: List[int]) -> _Layout:
    if len(shape) < 2 or shape[-2] < 2:
        return None
    return contiguous_strides((*shape[:-1], shape[-1] + 3)), 1


def _channels_last(shape: Shape, _: List[int]) -> _Layout:
    if len(shape) != 4 or shape[1] < 2 or shape[2] * shape[3] < 2:
        return None
    n, h, w, c = contiguous_strides((shape[0], shape[2], shape[3], shape[1]))
    return (n, c, h, w), 0


_LAYOUTS: Mapping[str, Callable[[Shape, List[int]], _Layout]] = {
    "transposed": _transposed,
    "strided": _strided,
    "expanded": _expanded,
    "sliced": _sliced,
    "channels-last": _channels_last,
}
#: Forms of a tensor that is not contiguous.
NON_CONTIGUOUS = tuple(_LAYOUTS)
