"""Loads the extension: checks what it needs of torch and of the device, then lets dcuop find or build it."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Optional

from .loading import CpuOnlyTorchError, CpuOnlyTorchWarning, Loader, UnsupportedDeviceError

__all__ = ["CpuOnlyTorchError", "CpuOnlyTorchWarning", "SUPPORTED_ARCHS", "UnsupportedDeviceError", "load"]

#: Those of dcuop.toml.
SUPPORTED_ARCHS = ("gfx906", "gfx926", "gfx928", "gfx936", "gfx938", "gfx90a")

_LOADER = Loader("scale_add", Path(__file__).resolve().parent, SUPPORTED_ARCHS)


@functools.lru_cache(maxsize=None)
def load(arch: Optional[str] = None, *, backend: Optional[str] = None, allow_cpu_torch: bool = True) -> Any:
    """What holds the compiled code, built if need be; the same object for every call with the same arguments.

    `arch` is the target id to build for; by default that of the visible device (or DCUOP_ARCH).
    `backend` is "hip", "cuda", or "host", which runs the kernel on tensors of the CPU, on an emulated grid; by default
    DCUOP_BACKEND, or else "hip".

    A torch that has the CPU alone is the one declared exception to "a HIP torch or nothing" (`allow_cpu_torch` in
    dcuop.toml says the same to the build): the module loads, with a CpuOnlyTorchWarning, for tests of its contract.
    `allow_cpu_torch=False` makes it a CpuOnlyTorchError. A torch for CUDA is one of these until it sees a device.
    """
    return _LOADER.load(arch, backend, allow_cpu_torch)
