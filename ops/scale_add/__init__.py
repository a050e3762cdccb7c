"""scale_add: a * alpha + b * beta with broadcasting, for float16, bfloat16 and float32 tensors on a DCU.

    from scale_add import scale_add, scale_add_
    y = scale_add(a, b, alpha=2.0, beta=-1.0)
    scale_add_(a, b, alpha=0.9, beta=0.1)      # into a

The extension is built through dcuop when it is first needed, not when this package is imported. With DCUOP_BACKEND=host
it is built for the CPU, where the same kernel runs on an emulated grid; with DCUOP_BACKEND=cuda for NVIDIA's devices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__path__.append(f"{__path__[0]}/../common")  # Modules that the operators share.

# pylint: disable=wrong-import-position
from .loader import CpuOnlyTorchError, CpuOnlyTorchWarning, UnsupportedDeviceError, load
from .reference import scale_add_formula, scale_add_reference

if TYPE_CHECKING:
    import torch

__all__ = [
    "CpuOnlyTorchError",
    "CpuOnlyTorchWarning",
    "UnsupportedDeviceError",
    "load",
    "scale_add",
    "scale_add_",
    "scale_add_formula",
    "scale_add_reference",
]


def scale_add(a: torch.Tensor, b: torch.Tensor, alpha: float, beta: float) -> torch.Tensor:
    """a * alpha + b * beta: a new contiguous tensor of the size that a and b are broadcast to.

    `a`, `b`: float16, bfloat16 or float32, both the same, on one DCU, with whatever strides. What does not fit is
    refused, never converted.

    Queued on the current stream of a's device. Raises RuntimeError for an argument that breaks the contract.
    """
    return load().scale_add(a, b, alpha, beta)


def scale_add_(a: torch.Tensor, b: torch.Tensor, alpha: float, beta: float) -> torch.Tensor:
    """a * alpha + b * beta into a, which is returned; b is broadcast to a's size.

    As scale_add(); b may be a itself, but no other view of a's memory, and no two elements of a may share a place.
    """
    return load().scale_add_(a, b, alpha, beta)
