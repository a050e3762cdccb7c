"""Fresh memory that holds a pattern, so that an element which was never written, or one beside a result, is seen.

Without it, a result often gets the memory of the one before, and with that the right values.
"""

from __future__ import annotations

import ctypes
from typing import Iterable, List

import torch

_PATTERN = 0xA5
# malloc.h of glibc: memory that is handed out is filled with the complement of the value.
_M_PERTURB = -6
# What glibc adds to a piece, and the unit of pieces (MALLOC_ALIGNMENT and the size field of 64-bit systems).
_HEADER, _UNIT, _LEAST = 8, 16, 24
#: torch's device allocator hands out multiples of this (kMinBlockSize,
#: https://github.com/pytorch/pytorch/blob/v1.13.1/c10/cuda/CUDACachingAllocator.cpp).
_DEVICE_UNIT = 512


class FreshMemory:
    """For one process; `device` is where results will be."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._is_filled = device.type == "cpu" and _fill_what_malloc_gives()

    def prepare(self, like: Iterable[torch.Tensor]) -> None:
        """Before a call that will allocate such tensors."""
        if self._device.type == "cpu":
            return
        # The allocator gives the piece that fits best: these, once they are free.
        pieces = [torch.empty(_rounded(tensor), dtype=torch.uint8, device=tensor.device) for tensor in like]
        for piece in pieces:
            piece.fill_(_PATTERN)

    def is_spilled(self, result: torch.Tensor) -> bool:
        """Whether the bytes behind a result's memory were written. False where that cannot be known. One time in a
        thousand those bytes were not filled before: what is meant holds for the same call again."""
        size = storage_bytes(result)
        if size == 0 or result.device.type != "cpu" or not self._is_filled:
            return False
        behind = max(_LEAST, (size + _HEADER + _UNIT - 1) // _UNIT * _UNIT - _HEADER) - size
        found = ctypes.string_at(storage_address(result) + size, behind)
        return any(byte != _PATTERN for byte in found) and _is_of_torch(result)

    def is_spilled_on_device(self, address: int, size: int, device: torch.device) -> bool:
        """The same for a result on a device, after it was freed: it held `size` bytes at `address`."""
        whole = -(-size // _DEVICE_UNIT) * _DEVICE_UNIT
        if size == 0 or whole == size:
            return False
        again = torch.empty(whole, dtype=torch.uint8, device=device)
        return again.data_ptr() == address and bool((again[size:] != _PATTERN).any())


def storage_address(tensor: torch.Tensor) -> int:
    return int(_storage(tensor).data_ptr())


def storage_bytes(tensor: torch.Tensor) -> int:
    return int(_storage(tensor).nbytes())


def shares_memory(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether both have one storage; tensors without elements share nothing."""
    return one.numel() > 0 and other.numel() > 0 and storage_address(one) == storage_address(other)


def _storage(tensor: torch.Tensor) -> "torch.UntypedStorage":
    if hasattr(tensor, "untyped_storage"):
        return tensor.untyped_storage()
    return tensor.storage()._storage  # pylint: disable=protected-access


def _rounded(tensor: torch.Tensor) -> int:
    return max(1, -(-tensor.numel() * tensor.element_size() // _DEVICE_UNIT)) * _DEVICE_UNIT


def _fill_what_malloc_gives() -> bool:
    """Whether torch's CPU tensors now start filled: not under another allocator than glibc's."""
    library = ctypes.CDLL(None)
    mallopt = getattr(library, "mallopt", None)
    if mallopt is None or not hasattr(library, "gnu_get_libc_version") or mallopt(_M_PERTURB, _PATTERN ^ 0xFF) != 1:
        return False
    for _ in range(2):
        kept: List[torch.Tensor] = []
        for size in (1, 24, 100, 257, 1000, 5000, 65537, 300001):
            tensor = torch.empty(size, dtype=torch.uint8)
            kept.append(tensor)
            behind = max(_LEAST, (size + _HEADER + _UNIT - 1) // _UNIT * _UNIT - _HEADER)
            if set(ctypes.string_at(tensor.data_ptr(), behind)) != {_PATTERN}:
                return False
            tensor.zero_()
    return True


def _is_of_torch(tensor: torch.Tensor) -> bool:
    """Whether torch's own allocator owns the memory: only then is it known what lies behind it."""
    try:
        _storage(tensor).resize_(storage_bytes(tensor))
    except RuntimeError:
        return False
    return True
