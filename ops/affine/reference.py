"""What affine computes, said in torch operations that run on any device."""

from __future__ import annotations

import torch


def affine_reference(x: torch.Tensor, scale: float, bias: float) -> torch.Tensor:
    """y = x * scale + bias with the kernel's rounding.

    scale and bias are rounded to float32. The kernel forms x * scale + bias exactly, rounds it once to float32
    (a fused multiply-add) and once more to float16, each to nearest, ties to even.

    Here the product is exact in float64 (11 + 24 bits of 53); the sum is rounded to float64, then float32, then
    float16. The result differs from the kernel's only where the rounding to float64 lands on a tie of float32 and
    that in turn decides a tie of float16. NaN, infinities and the sign of zero come out alike.
    """
    if x.dtype != torch.float16:
        raise TypeError(f"affine_reference: x must be float16, got {x.dtype}")
    scale64 = _as_float32(scale, x.device)
    bias64 = _as_float32(bias, x.device)
    return (x.to(torch.float64) * scale64 + bias64).to(torch.float32).to(torch.float16)


def _as_float32(value: float, device: torch.device) -> torch.Tensor:
    return torch.tensor(value, dtype=torch.float32, device=device).to(torch.float64)
