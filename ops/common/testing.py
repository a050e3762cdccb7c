"""What the operators' own tests share: where the kernel runs, and how results are compared.

With a device that torch was built for, that is where the tests run. Without one the kernel's body runs on the CPU, on an
emulated grid, and what takes a device is skipped. DCUOP_BACKEND=hip or cuda without a device tests the refusals alone.
"""

from __future__ import annotations

import os
from typing import Iterator, Tuple

import pytest
import torch


def _backend() -> str:
    chosen = os.environ.get("DCUOP_BACKEND")
    if chosen:
        return chosen
    if not torch.cuda.is_available():
        return "host"
    return "cuda" if torch.version.hip is None else "hip"


BACKEND = _backend()
#: Of the tensors that the kernel takes.
DEVICE = "cpu" if BACKEND == "host" else "cuda"


def _why_no_device() -> str:
    if BACKEND == "host":
        return "the kernel runs on an emulated grid"
    if getattr(torch.version, BACKEND) is None:
        return f"torch {torch.__version__} is not built for {BACKEND.upper()}"
    return "" if torch.cuda.is_available() else "no device is visible to torch"


#: For tests that look at what only a device has: streams, a second device, much memory.
needs_device = pytest.mark.skipif(bool(_why_no_device()), reason=_why_no_device())
needs_two_devices = pytest.mark.skipif(
    bool(_why_no_device()) or torch.cuda.device_count() < 2, reason=_why_no_device() or "needs two devices"
)
#: For tests that run the kernel.
needs_kernel = pytest.mark.skipif(BACKEND != "host" and bool(_why_no_device()), reason=_why_no_device())
#: For tests of what a build that cannot launch refuses.
needs_no_device = pytest.mark.skipif(
    BACKEND == "host" or not _why_no_device(), reason="the kernel can be launched"
)


def chosen_build(archs: Tuple[str, ...]) -> Iterator[None]:
    """The body of a fixture: the operator's functions use the build of BACKEND."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DCUOP_BACKEND", BACKEND)
        # Where there is no device to ask for its arch, any that the operator supports shows that it compiles.
        asked = os.environ.get("DCUOP_ARCH") or os.environ.get("PYTORCH_ROCM_ARCH")
        if BACKEND == "hip" and _why_no_device() and not asked:
            patch.setenv("DCUOP_ARCH", archs[0])
        yield


def assert_same(actual: torch.Tensor, expected: torch.Tensor) -> None:
    """Bit for bit, but that any NaN is as good as another; 0 and -0 differ."""
    integers = {2: torch.int16, 4: torch.int32}[actual.element_size()]
    if actual.dtype == expected.dtype and torch.equal(actual.view(integers), expected.view(integers)):
        return
    # Says where they differ, or finds that only NaNs do.
    torch.testing.assert_close(actual, expected, rtol=0, atol=0, equal_nan=True)
    torch.testing.assert_close(actual.signbit() & ~actual.isnan(), expected.signbit() & ~expected.isnan())


def values(*shape: int, dtype: torch.dtype, seed: int = 0, device: str = DEVICE) -> torch.Tensor:
    """Normally distributed numbers, the same ones every time."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(device, dtype)
