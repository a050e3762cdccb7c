"""Cases that only a device can run: streams, several devices, more than 2^31 elements, races."""

from __future__ import annotations

import math
from typing import Dict

from ._cases import dims_for, primary
from ._contract import LEADING
from ._layouts import Shape
from ._maker import Maker

DEVICE_ONLY = "device only"
#: Just beyond what a signed 32-bit index reaches; the last block is not full.
BEYOND_32_BITS = (1 << 31) + 256


def add(maker: Maker) -> None:
    function = maker.function
    skip = "" if maker.has_device else DEVICE_ONLY
    sized = dims_for(function, 64 * maker.block + 1)
    maker.add("stream", "current", check="stream", dims=sized, skip=skip)
    maker.add("stream", "several", check="streams", dims=sized, options={"streams": 4}, skip=skip)
    maker.add("stream", "current-of-thread", check="stream", dims=sized, options={"thread": True}, skip=skip)
    maker.add("device", "second", check="second_device", dims=sized, skip=skip)
    maker.add("device", "second-stream", check="second_device", dims=sized, options={"stream": True}, skip=skip)
    maker.add("large", "2^31", check="large", dims=_beyond_32_bits(maker), skip=skip)
    for size, calls in ((maker.block + 1, 500), (1024 * maker.block + 1, 200)):
        reason = skip or ("" if function.deterministic else "deterministic = false")
        options = {"calls": calls, "streams": 4}
        maker.add("race", str(size), check="race", dims=dims_for(function, size), options=options, skip=reason)


def _beyond_32_bits(maker: Maker) -> Dict[str, Shape]:
    function = maker.function
    if LEADING in function.dimensions() and primary(function) != LEADING:
        size = 16 * maker.block + 1
        return {**dims_for(function, size, rows=1), LEADING: (BEYOND_32_BITS // size + 1,)}
    fixed = math.prod(int(size) for size in function.tensors[0].shape if size.isdigit())
    return dims_for(function, BEYOND_32_BITS // fixed + 1, rows=1)
