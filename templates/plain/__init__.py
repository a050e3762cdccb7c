"""affine: y = x * scale + bias for FP16 tensors on a DCU.

    from affine import affine
    y = affine(x, scale=2.0, bias=1.0)

The library is built through dcuop when it is first needed, not when this package is imported. With DCUOP_BACKEND=host
it is built for the CPU, where the same kernel runs on an emulated grid; with DCUOP_BACKEND=cuda for NVIDIA's devices.
"""

from .binding import affine
from .loader import CpuOnlyTorchError, CpuOnlyTorchWarning, UnsupportedDeviceError, load
from .reference import affine_formula, affine_reference

__all__ = [
    "CpuOnlyTorchError",
    "CpuOnlyTorchWarning",
    "UnsupportedDeviceError",
    "affine",
    "affine_formula",
    "affine_reference",
    "load",
]
