"""affine: y = x * scale + bias for FP16 tensors on a DCU.

    from affine import affine
    y = affine(x, scale=2.0, bias=1.0)

The extension is built through dcuop when it is first needed, not when this package is imported. With DCUOP_BACKEND=host
it is built for the CPU, where the same kernel runs on an emulated grid; with DCUOP_BACKEND=cuda for NVIDIA's devices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__path__.append(f"{__path__[0]}/../common")  # Modules that the operators share.

# pylint: disable=wrong-import-position
from .loader import CpuOnlyTorchError, CpuOnlyTorchWarning, UnsupportedDeviceError, load
from .reference import affine_formula, affine_reference

if TYPE_CHECKING:
    import torch

__all__ = [
    "CpuOnlyTorchError",
    "CpuOnlyTorchWarning",
    "UnsupportedDeviceError",
    "affine",
    "affine_formula",
    "affine_reference",
    "load",
]


def affine(x: torch.Tensor, scale: float, bias: float) -> torch.Tensor:
    """y = x * scale + bias. `x`: contiguous float16 on a DCU; anything else is refused, never converted.

    Queued on the current stream of x's device. Raises RuntimeError for an argument that breaks the contract.
    """
    return load().affine(x, scale, bias)
