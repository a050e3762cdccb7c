"""What the operators' loaders share: what is asked of torch and of the device before dcuop finds or builds a module."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any, Optional, Sequence

import torch

import dcuop

_PLATFORMS = {"hip": "HIP", "cuda": "CUDA"}


class CpuOnlyTorchError(RuntimeError):
    """This torch has the CPU alone, so the operator cannot launch, and the caller did not allow that."""


class CpuOnlyTorchWarning(UserWarning):
    """This torch has no device: the operator loads and checks its arguments, and refuses every tensor."""


class UnsupportedDeviceError(RuntimeError):
    """The device at hand is none that the operator has code for."""


class Loader:
    """Loads one operator: `name`, of `directory`, whose [build] has code for `archs`."""

    def __init__(self, name: str, directory: Path, archs: Sequence[str]) -> None:
        self._name = name
        self._directory = directory
        self._archs = archs

    def load(self, arch: Optional[str], backend: Optional[str], allow_cpu_torch: bool) -> Any:
        built_for = backend or os.environ.get("DCUOP_BACKEND") or "hip"
        if built_for in _PLATFORMS:
            self._check_torch(built_for, allow_cpu_torch)
        if built_for == "hip" and torch.version.hip is not None and torch.cuda.is_available():
            self._check_device(torch.cuda.current_device())
        return dcuop.load_op(self._directory, arch=arch, backend=backend)

    def _check_torch(self, built_for: str, allow_cpu_torch: bool) -> None:
        if getattr(torch.version, built_for) is not None:
            return
        platform = _PLATFORMS[built_for]
        kind = "CPU-only"
        for other, other_platform in _PLATFORMS.items():
            if getattr(torch.version, other) is None:
                continue
            kind = f"built for {other_platform} {getattr(torch.version, other)}"
            # Both name their devices "cuda": the kernel would be given the other's tensors and stream.
            if torch.cuda.is_available():
                raise UnsupportedDeviceError(
                    f"{self._name} needs a torch built for {platform}; this one, {torch.__version__}, is {kind} and has "
                    "a device for it"
                )
        message = f"{self._name} needs a torch built for {platform} to launch; this one, {torch.__version__}, is {kind}"
        if not allow_cpu_torch:
            raise CpuOnlyTorchError(message)
        message += ". Its arguments are checked, its kernel cannot run."
        # To whoever called the operator's function, which called load().
        warnings.warn(message, CpuOnlyTorchWarning, stacklevel=5)

    def _check_device(self, index: int) -> None:
        # Older torch does not say; dcuop then resolves the arch from the driver by itself.
        target_id = getattr(torch.cuda.get_device_properties(index), "gcnArchName", "")
        processor = target_id.split(":")[0]
        if processor and processor not in {arch.split(":")[0] for arch in self._archs}:
            raise UnsupportedDeviceError(
                f"{self._name} has no code for {target_id} (device {index}); it supports {', '.join(self._archs)}. "
                f"Add {processor} to archs in {self._directory / 'dcuop.toml'} if its kernel fits."
            )
