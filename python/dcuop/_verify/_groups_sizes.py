"""Cases by shape: sizes around the edges of blocks and wavefronts, grids of rows, dimensions, broadcasting."""

from __future__ import annotations

from typing import List, Tuple

from ._cases import dims_for, primary, text_of_dims
from ._contract import LEADING, Function
from ._layouts import Shape
from ._maker import Maker

#: Wavefronts of 32 (RDNA, and NVIDIA's warps) and 64 (GCN, CDNA, DCU).
WAVEFRONTS = (32, 64)
PRIMES = (2, 3, 7, 13, 61, 251, 1009, 65537)
#: From here on one row is enough.
_MANY = 1 << 18
#: Grids are often limited, and stride over what is left: to so many blocks, or, on devices, to what one dimension holds.
_BLOCKS, _BLOCKS_OF_DEVICES = 4096, 65536


def add(maker: Maker) -> None:
    function = maker.function
    # An emulated grid takes a second for so many: once for each function.
    limits = [_BLOCKS] if maker.has_device or maker.dtype == function.dtypes[0] else []
    limits += [_BLOCKS_OF_DEVICES] if maker.has_device else []
    beyond = [limit * maker.block + 1 for limit in limits]
    for size in _sizes(maker.block, (*function.sizes, *beyond)):
        maker.add("size", str(size), dims=dims_for(function, size, rows=1 if size >= _MANY else 3))
    along = primary(function)
    for name in function.dimensions():
        if name not in (LEADING, along):
            for size in (0, 1, *(width + by for width in WAVEFRONTS for by in (-1, 0, 1))):
                maker.add("size", f"{name}={size}", dims={**dims_for(function, 5), name: (size,)})
    for leading in _leading(function, maker.block):
        dims = dims_for(function, 33, leading=leading)
        maker.add("shape", text_of_dims(dims), dims=dims)
    if LEADING in function.dimensions() and along != LEADING:
        for rows in (1, 2, 7, 64, 257):
            for size in (1, 31, 33, maker.block - 1, maker.block + 1):
                maker.add("grid", f"{rows}x{size}", dims={**dims_for(function, size), LEADING: (rows,)})
        for limit in limits:
            maker.add("grid", f"{limit + 3}x3", dims={**dims_for(function, 3), LEADING: (limit + 3,)})
    _add_broadcasts(maker)


def _sizes(block: int, further: Tuple[int, ...]) -> List[int]:
    sizes = {0, 1, *PRIMES, *further}
    for width in (*WAVEFRONTS, block):
        for multiple in (1, 2, 3, 4):
            sizes.update(multiple * width + by for by in (-1, 0, 1))
    return sorted(size for size in sizes if size >= 0)


def _leading(function: Function, block: int) -> List[Shape]:
    if LEADING not in function.dimensions():
        return []
    shapes: List[Shape] = [(), (1,), (0,), (2, 3), (1, 1, 1), (2, 0, 3), (3, 5, 7), (2, 3, 4, 5), (2, 1, 3, 1, 2)]
    if primary(function) == LEADING:
        # As many elements as around a block's edge, in each order of long and short.
        shapes += [(17, 31), (block + 1, 1), (1, block + 1), (0, 3), (3, 0)]
    return shapes


def _add_broadcasts(maker: Maker) -> None:
    function = maker.function
    first = function.tensors[0]
    others = [argument for argument in function.tensors[1:] if argument.broadcast]
    if not others:
        return
    long = maker.block + 1
    for leading in ((3, 5, 7), (3, long), (0, 3), (3, 0), (5,)):
        dims = dims_for(function, 33, leading=leading)
        rank = sum(len(dims[name]) if name in dims else 1 for name in first.shape)
        for pattern in _patterns(rank):
            text = f"{text_of_dims(dims)}:{pattern}"
            maker.add("broadcast", text, dims=dims, patterns={argument.name: pattern for argument in others})
        # The result is larger than the first tensor, which one that is written in place cannot be.
        if function.inplace != first.name and LEADING in first.shape and rank >= 2:
            rest = "=" * (rank - 1)
            for pattern, other in (("1" + rest, rest + "1"), ("-" + rest, "=" + rest)):
                patterns = {argument.name: other for argument in others}
                text = f"{text_of_dims(dims)}:{pattern}:{other}"
                maker.add("broadcast", text, dims=dims, patterns={**patterns, first.name: pattern})


def _patterns(rank: int) -> List[str]:
    """Equal; 1 in one dimension, in all; dimensions missing, all missing."""
    same = "=" * rank
    found = [same, "1" * rank]
    found += [same[:place] + "1" + same[place + 1 :] for place in range(rank)]
    found += ["-" * missing + same[missing:] for missing in range(1, rank + 1)]
    found.append("-" * (rank - 1) + "1")
    return list(dict.fromkeys(found))
