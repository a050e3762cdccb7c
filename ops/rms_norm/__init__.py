"""rms_norm: y = x / sqrt(mean(x^2) + eps) * weight over the last dimension, for float16, bfloat16 and float32 on a DCU.

    from rms_norm import rms_norm
    y = rms_norm(x, weight, eps=1e-6)

The extension is built through dcuop when it is first needed, not when this package is imported. With DCUOP_BACKEND=host
it is built for the CPU, where the same kernel runs on an emulated grid; with DCUOP_BACKEND=cuda for NVIDIA's devices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__path__.append(f"{__path__[0]}/../common")  # Modules that the operators share.

# pylint: disable=wrong-import-position
from .loader import CpuOnlyTorchError, CpuOnlyTorchWarning, UnsupportedDeviceError, load
from .reference import rms_norm_formula, rms_norm_reference

if TYPE_CHECKING:
    import torch

__all__ = [
    "CpuOnlyTorchError",
    "CpuOnlyTorchWarning",
    "UnsupportedDeviceError",
    "load",
    "rms_norm",
    "rms_norm_formula",
    "rms_norm_reference",
]


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6) -> torch.Tensor:
    """x / sqrt(mean(x^2) + eps) * weight, where the mean is that of a row (the last dimension).

    `x`: contiguous float16, bfloat16 or float32 on a DCU. `weight`: one contiguous row of the same dtype. Everything is
    computed in float32, and the result rounded once to x's dtype. What does not fit is refused, never converted.

    Queued on the current stream of x's device. Raises RuntimeError for an argument that breaks the contract.
    """
    return load().rms_norm(x, weight, eps)
