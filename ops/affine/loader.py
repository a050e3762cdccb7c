"""Loads the extension: checks what it needs of torch and of the device, then lets dcuop find or build it."""

from __future__ import annotations

import functools
import warnings
from pathlib import Path
from typing import Any, Optional

import torch

import dcuop

#: Those of dcuop.toml.
SUPPORTED_ARCHS = ("gfx906", "gfx926", "gfx928", "gfx936", "gfx938", "gfx90a")


class CpuOnlyTorchError(RuntimeError):
    """This torch has no HIP, so affine cannot launch, and the caller did not allow that."""


class CpuOnlyTorchWarning(UserWarning):
    """This torch has no HIP, and no device of another kind: affine loads and checks its arguments, and refuses every tensor."""


class UnsupportedDeviceError(RuntimeError):
    """The device at hand is none that affine has code for."""


@functools.lru_cache(maxsize=None)
def load(arch: Optional[str] = None, *, allow_cpu_torch: bool = True) -> Any:
    """What holds the compiled code, built if need be; the same object for every call with the same arguments.

    `arch` is the target id to build for; by default that of the visible device (or DCUOP_ARCH).

    A torch that has the CPU alone is the one declared exception to "a HIP torch or nothing" (`allow_cpu_torch` in
    dcuop.toml says the same to the build): the module loads, with a CpuOnlyTorchWarning, for tests of its contract.
    `allow_cpu_torch=False` makes it a CpuOnlyTorchError. A torch for CUDA is one of these until it sees a device.
    """
    _check_torch(allow_cpu_torch)
    if torch.version.hip is not None and torch.cuda.is_available():
        _check_device(torch.cuda.current_device())
    return dcuop.load_op(Path(__file__).resolve().parent, arch=arch)


def _check_torch(allow_cpu_torch: bool) -> None:
    if torch.version.hip is not None:
        return
    kind = "CPU-only"
    if torch.version.cuda is not None:
        kind = f"built for CUDA {torch.version.cuda}"
        # Both name their devices "cuda": the kernel would be given a CUDA tensor and a CUDA stream.
        if torch.cuda.is_available():
            raise UnsupportedDeviceError(
                f"affine needs a torch built for HIP; this one, {torch.__version__}, is {kind} and has a device for it"
            )
    message = f"affine needs a torch built for HIP to launch; this one, {torch.__version__}, is {kind}"
    if not allow_cpu_torch:
        raise CpuOnlyTorchError(message)
    warnings.warn(message + ". Its arguments are checked, its kernel cannot run.", CpuOnlyTorchWarning, stacklevel=4)


def _check_device(index: int) -> None:
    # Older torch does not say; dcuop then resolves the arch from the driver by itself.
    target_id = getattr(torch.cuda.get_device_properties(index), "gcnArchName", "")
    processor = target_id.split(":")[0]
    if processor and processor not in {arch.split(":")[0] for arch in SUPPORTED_ARCHS}:
        raise UnsupportedDeviceError(
            f"affine has no code for {target_id} (device {index}); it supports {', '.join(SUPPORTED_ARCHS)}. "
            f"Add {processor} to archs in {Path(__file__).resolve().parent / 'dcuop.toml'} if its kernel fits."
        )
