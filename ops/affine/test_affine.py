"""affine's own tests: python3 -m pytest, with this directory. What needs a device is skipped where there is none."""

from __future__ import annotations

import os
from typing import Any, Iterator

import pytest
import torch

from . import affine as op
from . import affine_reference as reference
from . import load
from .loader import SUPPORTED_ARCHS

# Said once by loader.py; here it is no news.
pytestmark = pytest.mark.filterwarnings("ignore:affine needs a torch built for HIP")


def why_no_device() -> str:
    if torch.version.hip is None:
        return f"torch {torch.__version__} is not built for HIP"
    return "" if torch.cuda.is_available() else "no device is visible to torch"


needs_device = pytest.mark.skipif(bool(why_no_device()), reason=why_no_device())
needs_two_devices = pytest.mark.skipif(
    bool(why_no_device()) or torch.cuda.device_count() < 2, reason=why_no_device() or "needs two devices"
)

COUNTS = (0, 1, 255, 256, 257, 65_537, 65_536 * 256 + 1)


@pytest.fixture(scope="module", autouse=True)
def arch() -> Iterator[None]:
    """Where there is no device to ask for its arch, any that affine supports shows that it compiles."""
    with pytest.MonkeyPatch.context() as patch:
        if why_no_device() and not os.environ.get("DCUOP_ARCH") and not os.environ.get("PYTORCH_ROCM_ARCH"):
            patch.setenv("DCUOP_ARCH", SUPPORTED_ARCHS[0])
        yield


def half(*values: float, device: str = "cpu") -> torch.Tensor:
    return torch.tensor(values, dtype=torch.half, device=device)


def assert_same(actual: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(actual, expected, rtol=0, atol=0, equal_nan=True)


def test_it_builds_and_loads_once():
    assert load() is load()


@pytest.mark.parametrize("x", [half(1.0, 2.0), half(), torch.ones(3)], ids=["float16", "empty", "float32"])
def test_a_tensor_that_is_on_no_dcu_is_refused(x):
    with pytest.raises(RuntimeError, match="^affine: x must be on a DCU device, got cpu"):
        op(x, 2.0, 1.0)


@pytest.mark.parametrize("arguments", [(None, 2.0, 1.0), ([1.0], 2.0, 1.0), (half(1.0), "2", 1.0)])
def test_what_is_no_tensor_or_number_is_refused(arguments: Any):
    with pytest.raises((TypeError, RuntimeError)):
        op(*arguments)


def test_the_reference():
    assert reference(half(1.0, -2.0, 0.5), 2.0, 1.0).tolist() == [3.0, -3.0, 2.0]
    # 2049 lies between two float16 values, and goes to the even one.
    assert reference(half(2048.0), 1.0, 1.0).tolist() == [2048.0]
    with pytest.raises(TypeError, match="float16"):
        reference(torch.ones(1), 2.0, 1.0)


@needs_device
@pytest.mark.parametrize("count", COUNTS)
def test_it_computes_what_the_reference_does(count):
    x = torch.randn(count, device="cuda").half()
    assert_same(op(x, 1.7, -0.3), reference(x, 1.7, -0.3))


@needs_device
def test_the_shape_is_kept_and_the_argument_untouched():
    x = torch.randn(3, 5, 7, device="cuda").half()
    before = x.clone()
    assert_same(op(x, 2.0, 1.0), reference(x, 2.0, 1.0))
    assert_same(x, before)


@needs_device
def test_values_that_are_no_ordinary_numbers():
    x = half(float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 65504.0, 6e-8, device="cuda")
    for scale, bias in [(1.0, 0.0), (2.0, -0.0), (0.0, 1.0), (float("inf"), 0.0)]:
        assert_same(op(x, scale, bias), reference(x, scale, bias))


@needs_device
def test_a_tensor_that_does_not_fit_is_refused():
    x = torch.ones(4, 4, dtype=torch.half, device="cuda")
    for argument, message in [
        (x.float(), "x must be float16"),
        (x.t()[:2], "x must be contiguous"),
        (x.clone().requires_grad_(), "x requires grad"),
    ]:
        with pytest.raises(RuntimeError, match="affine: " + message):
            op(argument, 2.0, 1.0)
    with pytest.raises(RuntimeError, match="affine: scale = .* does not fit in float32"):
        op(x, 1e300, 1.0)


@needs_device
def test_it_is_queued_on_the_current_stream():
    stream = torch.cuda.Stream()
    x = torch.zeros(1 << 20, dtype=torch.half, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        # On any other stream the kernel would not wait for what is still being written here.
        for _ in range(100):
            x.add_(1)
        y = op(x, 2.0, 1.0)
    stream.synchronize()
    assert_same(y, torch.full_like(x, 201.0))


@needs_two_devices
def test_it_runs_on_the_device_of_its_argument():
    torch.cuda.set_device(0)
    x = torch.randn(1000, device="cuda:1").half()
    y = op(x, 2.0, 1.0)
    assert y.device == x.device and torch.cuda.current_device() == 0
    assert_same(y, reference(x, 2.0, 1.0))


@needs_device
def test_indexes_beyond_32_bits():
    count = (1 << 31) + 257
    free, _ = torch.cuda.mem_get_info()
    if free < 5 * count:
        pytest.skip(f"needs {5 * count >> 30} GiB of free device memory, has {free >> 30}")
    x = torch.zeros(count, dtype=torch.half, device="cuda")
    x[-300:] = 3.0
    y = op(x, 2.0, 1.0)
    assert_same(y[-301:], reference(x[-301:], 2.0, 1.0))
