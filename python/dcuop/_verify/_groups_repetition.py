"""Cases that call more than once: the same bits again, from several threads, and without keeping memory."""

from __future__ import annotations

from ._cases import dims_for
from ._maker import Maker

#: Bytes of the first tensor in a case that looks for leaks: what is lost in 1000 calls is then 16 MiB a tensor.
LEAK_BYTES = 16384
_SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}


def add(maker: Maker) -> None:
    function = maker.function
    for size in (1, maker.block + 1, 16 * maker.block + 1):
        if function.deterministic:
            maker.add("repeat", str(size), check="repeat", dims=dims_for(function, size), options={"calls": 20})
        else:
            maker.skip("repeat", str(size), "deterministic = false")
    maker.add("repeat", "results-apart", check="apart", dims=dims_for(function, maker.block + 1))
    maker.add("repeat", "sizes-in-turn", check="in_turn", dims=dims_for(function, 3 * maker.block + 1))
    for size in (maker.block + 1, 16 * maker.block + 1):
        options = {"threads": 4, "calls": 8}
        maker.add("threads", str(size), check="threads", dims=dims_for(function, size), options=options)
    elements = LEAK_BYTES // _bytes_of(maker.dtype)
    maker.add("leak", "calls", check="leak", dims=dims_for(function, elements, rows=1), options={"calls": 1000})
    if "dtype" in function.refuses:
        dims = dims_for(function, elements, rows=1)
        maker.add("leak", "refusals", check="leak", dims=dims, options={"calls": 1000, "refused": True})


def _bytes_of(dtype: str) -> int:
    return next((size for bits, size in _SIZES.items() if dtype.endswith(bits)), 1)
