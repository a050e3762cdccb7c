"""affine's own tests: python3 -m pytest, with this directory. testing.py says where the kernel runs."""

from __future__ import annotations

import threading
from typing import Any, Iterator, List

import pytest
import torch

from . import affine as op
from . import affine_formula as formula
from . import affine_reference as reference
from . import load
from .loader import SUPPORTED_ARCHS
from .testing import (
    DEVICE,
    assert_same,
    chosen_build,
    needs_device,
    needs_kernel,
    needs_no_device,
    needs_two_devices,
    values,
)

# Said once by loader.py; here it is no news.
pytestmark = pytest.mark.filterwarnings("ignore:affine needs a torch built for")

COUNTS = (0, 1, 255, 256, 257, 2047, 2048, 2049, 65_537)


@pytest.fixture(scope="module", autouse=True)
def build() -> Iterator[None]:
    yield from chosen_build(SUPPORTED_ARCHS)


def half(*numbers: float, device: str = DEVICE) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.half, device=device)


def test_it_builds_and_loads_once():
    assert load() is load()


@needs_no_device
@pytest.mark.parametrize("x", [half(1.0, device="cpu"), half(device="cpu"), torch.ones(3)], ids=["float16", "empty", "float32"])
def test_a_build_that_cannot_launch_refuses_every_tensor(x):
    with pytest.raises(RuntimeError, match="^affine: x must be on a [A-Z]+ device, got cpu"):
        op(x, 2.0, 1.0)


@needs_device
def test_a_tensor_of_the_cpu_is_refused_on_a_device():
    with pytest.raises(RuntimeError, match="^affine: x must be on a [A-Z]+ device, got cpu"):
        op(half(1.0, device="cpu"), 2.0, 1.0)


@pytest.mark.parametrize("arguments", [(None, 2.0, 1.0), ([1.0], 2.0, 1.0), (half(1.0, device="cpu"), "2", 1.0)])
def test_what_is_no_tensor_or_number_is_refused(arguments: Any):
    with pytest.raises((TypeError, RuntimeError)):
        op(*arguments)


def test_the_reference():
    assert reference(half(1.0, -2.0, 0.5, device="cpu"), 2.0, 1.0).tolist() == [3.0, -3.0, 2.0]
    # 2049 lies between two float16 values, and goes to the even one.
    assert reference(half(2048.0, device="cpu"), 1.0, 1.0).tolist() == [2048.0]
    with pytest.raises(TypeError, match="float16"):
        reference(torch.ones(1), 2.0, 1.0)


def test_the_formula_is_what_the_reference_rounds():
    x = torch.linspace(-8, 8, 1001).half()
    exact = formula(x.double(), 1.5, -0.25)
    assert_same(reference(x, 1.5, -0.25), exact.float().half())


@needs_kernel
@pytest.mark.parametrize("count", COUNTS)
def test_it_computes_what_the_reference_does(count):
    x = values(count, dtype=torch.half)
    assert_same(op(x, 1.7, -0.3), reference(x, 1.7, -0.3))


@needs_kernel
def test_every_float16():
    x = torch.arange(-(1 << 15), 1 << 15).to(torch.int16).view(torch.half).to(DEVICE)
    for scale, bias in [(1.0, 0.0), (-3.1, 65504.0), (1e-7, 6e-8), (float("inf"), 0.0), (0.0, -0.0)]:
        assert_same(op(x, scale, bias), reference(x, scale, bias))


@needs_kernel
def test_more_elements_than_the_grid_takes_at_once():
    part = values(1000, dtype=torch.half)
    times = 4096 * 2048 // len(part) + 1
    assert_same(op(part.repeat(times), 1.7, -0.3), reference(part, 1.7, -0.3).repeat(times))


@needs_kernel
def test_the_shape_is_kept_and_the_argument_untouched():
    x = values(3, 5, 7, dtype=torch.half)
    before = x.clone()
    assert_same(op(x, 2.0, 1.0), reference(x, 2.0, 1.0))
    assert_same(x, before)


@needs_kernel
def test_a_tensor_that_does_not_fit_is_refused():
    x = torch.ones(4, 4, dtype=torch.half, device=DEVICE)
    for argument, message in [
        (x.float(), "x must be float16, got float32"),
        (x.t()[:2], "x must be contiguous"),
        (x.clone().requires_grad_(), "x requires grad"),
        (x.to_sparse(), "x must be strided"),
        (torch.ones(4, dtype=torch.cfloat, device=DEVICE).conj().imag, "x must be float16"),
    ]:
        with pytest.raises(RuntimeError, match="affine: " + message):
            op(argument, 2.0, 1.0)
    with torch.no_grad():
        assert_same(op(x.clone().requires_grad_(), 2.0, 1.0), torch.full_like(x, 3.0))
    with pytest.raises(RuntimeError, match="affine: scale = .* does not fit in float32"):
        op(x, 1e300, 1.0)


@needs_kernel
def test_several_threads_at_once():
    inputs = [values(10_000, dtype=torch.half, seed=seed) for seed in range(4)]
    results: List[Any] = [None] * len(inputs)

    def run(index: int) -> None:
        results[index] = op(inputs[index], 1.7, -0.3)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for x, y in zip(inputs, results):
        assert_same(y, reference(x, 1.7, -0.3))


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
