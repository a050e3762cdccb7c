"""What rms_norm computes, said in torch operations that run on any device."""

from __future__ import annotations

import torch

from .rounding import as_float32, fused_multiply_add, square_root

#: Of op_kernel.hip: so many threads share a row.
BLOCK_SIZE = 256


def rms_norm_formula(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6) -> torch.Tensor:
    """The mathematics, in the dtype of x: float64 gives it to within that rounding."""
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight


def rms_norm_reference(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6) -> torch.Tensor:
    """What the kernel gives, bit for bit (any NaN for a NaN).

    All in float32: thread t adds the squares of the elements t, t + 256, ... in this order, each by a fused
    multiply-add; then the upper half of the sums is added to the lower half until one is left. The root and the
    quotients are rounded to nearest, as IEEE 754 has it, and the result once more to x's dtype.
    """
    length = x.shape[-1]
    values = x.float().reshape(-1, length) if length else x.float()
    if x.numel() == 0:
        return torch.empty_like(x)
    sums = values.new_zeros(len(values), BLOCK_SIZE)
    for start in range(0, length, BLOCK_SIZE):
        part = values[:, start : start + BLOCK_SIZE]
        width = part.shape[1]
        sums[:, :width] = fused_multiply_add(part, part, sums[:, :width])
    while sums.shape[1] > 1:
        half = sums.shape[1] // 2
        sums = sums[:, :half] + sums[:, half:]
    scale = 1.0 / square_root(sums / as_float32(length, x) + as_float32(eps, x))
    return (values * scale * weight.float()).to(x.dtype).reshape(x.shape)
