"""What scale_add computes, said in torch operations that run on any device."""

from __future__ import annotations

import torch

from .rounding import as_float32, fused_multiply_add


def scale_add_formula(a: torch.Tensor, b: torch.Tensor, alpha: float, beta: float) -> torch.Tensor:
    """The mathematics, in the dtype of a and b: float64 gives it to within that rounding."""
    return a * alpha + b * beta


def scale_add_reference(a: torch.Tensor, b: torch.Tensor, alpha: float, beta: float) -> torch.Tensor:
    """What the kernel gives, bit for bit (any NaN for a NaN).

    alpha and beta are rounded to float32. b * beta is rounded to float32, a * alpha is added with one more rounding (a
    fused multiply-add), and the sum is rounded to the dtype, each to nearest, ties to even.
    """
    product = b.float() * as_float32(beta, b)
    return fused_multiply_add(a.float(), as_float32(alpha, a), product).to(a.dtype)
