"""Fresh memory that holds a pattern, so that an element which was never written, or one beside a result, is seen.

Without it, a result often gets the memory of the one before, and with that the right values.
"""

from __future__ import annotations

import ctypes
import re
from typing import Dict, Iterable, List, Optional

import torch

_PATTERN = 0xA5
# malloc.h of glibc: memory that is handed out is filled with the complement of the value.
_M_PERTURB = -6
# What glibc adds to a piece, and the unit of pieces (MALLOC_ALIGNMENT and the size field of 64-bit systems).
_HEADER, _UNIT, _LEAST = 8, 16, 24
#: torch's device allocator hands out multiples of this (kMinBlockSize,
#: https://github.com/pytorch/pytorch/blob/v1.13.1/c10/cuda/CUDACachingAllocator.cpp).
_DEVICE_UNIT = 512
#: Up to this many bytes pieces are split and joined in segments of 2 MiB (kSmallSize, the same file).
_SMALL = 1 << 20
_TRIES = 64


class FreshMemory:
    """For one process; `device` is where results will be. `prepare`, a call, `called`, and in the end `is_spilled`."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        #: Whether what torch allocates on the CPU holds the pattern.
        self.is_filled = device.type == "cpu" and _fill_what_malloc_gives()
        self._pieces: Dict[int, int] = {}  # address and bytes
        self._held: List[torch.Tensor] = []
        self._allocations = 0
        self._made = 0

    def prepare(self, like: Iterable[torch.Tensor]) -> None:
        """Right before a call that will allocate such tensors. `like` has to outlive the call: what becomes free after
        this is given first."""
        if self._device.type == "cpu":
            return
        self._held = []
        pieces = [self._next_piece(_rounded(tensor), tensor.device).fill_(_PATTERN) for tensor in like]
        self._pieces = {piece.data_ptr(): piece.numel() for piece in pieces}
        pieces.clear()
        self._allocations = _allocations(self._device)

    def _next_piece(self, size: int, device: torch.device) -> torch.Tensor:
        """What the allocator will give again for `size`, once it is free: the piece that fits best. One that becomes a part
        of a larger free piece does not, as long as there are others; these are held until the call is done."""
        piece = torch.empty(size, dtype=torch.uint8, device=device)
        for _ in range(_TRIES if size <= _SMALL else 0):
            address = piece.data_ptr()
            del piece
            piece = torch.empty(size, dtype=torch.uint8, device=device)
            if piece.data_ptr() == address:
                break
            self._held.append(piece)
            piece = torch.empty(size, dtype=torch.uint8, device=device)
        return piece

    def called(self) -> None:
        """Right after the call."""
        if self._device.type == "cuda":
            self._made = _allocations(self._device) - self._allocations
            self._held = []

    def is_spilled(self, results: Iterable[torch.Tensor]) -> bool:
        """Whether the bytes behind the memory of results were written. False where that cannot be known. On the CPU, one
        time in a thousand those bytes were not filled before: what is meant holds for the same call again."""
        found = list(results)
        if self._device.type == "cpu":
            return any(self._is_spilled_here(result) for result in found)
        # With memory for other things beside its results, a call may have written those there.
        return self._made == len(found) and any(self._is_spilled_there(result) for result in found)

    def _is_spilled_here(self, result: torch.Tensor) -> bool:
        size = storage_bytes(result)
        if size == 0 or result.device.type != "cpu" or not self.is_filled:
            return False
        behind = ctypes.string_at(storage_address(result) + size, _usable(size) - size)
        return any(byte != _PATTERN for byte in behind) and _is_of_torch(result)

    def _is_spilled_there(self, result: torch.Tensor) -> bool:
        address, size = storage_address(result), storage_bytes(result)
        behind = self._pieces.get(address, 0) - size
        if behind <= 0:
            return False
        try:
            memory = torch.as_tensor(_DeviceBytes(address + size, behind), device=result.device)
        except (RuntimeError, TypeError, ValueError):
            # A torch without numpy has no such tensors.
            return False
        return bool((memory != _PATTERN).any())


class _DeviceBytes:
    """Memory of a device, for torch: https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html"""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (address, False), "version": 2}


def free_memory() -> Optional[int]:
    """Bytes of the machine that can be had without swapping; None where that is not known."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            found = re.search(r"^MemAvailable: *(\d+) kB", file.read(), re.MULTILINE)
    except OSError:
        return None
    return 1024 * int(found.group(1)) if found else None


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


def _usable(size: int) -> int:
    """Bytes of what glibc gives for `size`, at least."""
    return max(_LEAST, (size + _HEADER + _UNIT - 1) // _UNIT * _UNIT - _HEADER)


def _allocations(device: torch.device) -> int:
    return int(torch.cuda.memory_stats(device)["allocation.all.allocated"])


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
            if set(ctypes.string_at(tensor.data_ptr(), _usable(size))) != {_PATTERN}:
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
