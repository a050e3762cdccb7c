"""What calls are timed with: events of the device, or the host's clock. Times are in microseconds."""

from __future__ import annotations

import time
from typing import Any, Callable

import torch

Work = Callable[[], Any]

#: What one sample takes at least: some thousand times what the clocks can tell apart. An event's resolution is about
#: half a microsecond (CUDA Runtime API, cudaEventElapsedTime).
SAMPLE_US = 2000.0
#: Beside a call that takes so long, whatever else is done is nothing.
LONG_US = 1e6


class HostClock:
    """time.perf_counter, for what is done when the call returns."""

    name = "perf_counter"

    def measure(self, work: Work, calls: int) -> float:
        """How long `calls` calls take together."""
        start = time.perf_counter()
        for _ in range(calls):
            work()
        return (time.perf_counter() - start) * 1e6


class DeviceClock:
    """Events on the current stream of the current device."""

    name = "device events"

    def __init__(self) -> None:
        self._first = torch.cuda.Event(enable_timing=True)
        self._last = torch.cuda.Event(enable_timing=True)

    def measure(self, work: Work, calls: int) -> float:
        """How long `calls` calls take together, from an idle device to an idle one."""
        torch.cuda.synchronize()
        self._first.record()
        for _ in range(calls):
            work()
        self._last.record()
        self._last.synchronize()
        return float(self._first.elapsed_time(self._last)) * 1e3


def clock_of(device: torch.device) -> Any:
    return DeviceClock() if device.type == "cuda" else HostClock()


def calls_for(clock: Any, work: Work, least_us: float = SAMPLE_US, most: int = 1 << 14) -> int:
    """How many calls make a sample of at least `least_us`, a power of two, at most `most`."""
    calls = 1
    while calls < most and clock.measure(work, calls) < least_us:
        calls *= 2
    return calls


def warm_up(clock: Any, work: Work, least_us: float) -> None:
    """Calls until that has taken `least_us`, and three times at least, unless one takes long: caches are filled, clocks
    are raised."""
    taken = clock.measure(work, 1)
    if taken < LONG_US:
        taken += clock.measure(work, 2)
    while taken < least_us:
        taken += max(clock.measure(work, 3), 1.0)
