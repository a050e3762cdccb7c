"""What affine computes, said in torch operations that run on any device."""

from __future__ import annotations

import torch

from .rounding import as_float32, fused_multiply_add


def affine_formula(x: torch.Tensor, scale: float, bias: float) -> torch.Tensor:
    """The mathematics, in the dtype of x: float64 gives it to within that rounding."""
    return x * scale + bias


def affine_reference(x: torch.Tensor, scale: float, bias: float) -> torch.Tensor:
    """What the kernel gives, bit for bit (any NaN for a NaN).

    scale and bias are rounded to float32. x * scale + bias is rounded once to float32 (a fused multiply-add) and once
    more to float16, each to nearest, ties to even.
    """
    if x.dtype != torch.float16:
        raise TypeError(f"affine_reference: x must be float16, got {x.dtype}")
    return fused_multiply_add(x.float(), as_float32(scale, x), as_float32(bias, x)).to(torch.float16)
