"""rms_norm's own tests: python3 -m pytest, with this directory. testing.py says where the kernel runs."""

from __future__ import annotations

import math
import struct
from typing import Iterator

import pytest
import torch

from . import load
from . import rms_norm as op
from . import rms_norm_formula as formula
from . import rms_norm_reference as reference
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
pytestmark = pytest.mark.filterwarnings("ignore:rms_norm needs a torch built for")

DTYPES = (torch.float16, torch.bfloat16, torch.float32)
SHAPES = [(1,), (256,), (257,), (3, 1), (2, 255), (5, 1000), (2, 3, 4, 64), (0,), (3, 0), (0, 7)]


@pytest.fixture(scope="module", autouse=True)
def build() -> Iterator[None]:
    yield from chosen_build(SUPPORTED_ARCHS)


def arguments(*shape: int, dtype: torch.dtype = torch.float32, device: str = DEVICE):
    return values(*shape, dtype=dtype, seed=1, device=device), values(shape[-1], dtype=dtype, seed=2, device=device)


@needs_no_device
def test_a_build_that_cannot_launch_refuses_every_tensor():
    with pytest.raises(RuntimeError, match="^rms_norm: x must be on a [A-Z]+ device, got cpu"):
        op(torch.ones(2, 3), torch.ones(3))


@pytest.mark.parametrize("given", [(None, torch.ones(2)), (torch.ones(2), 2.0), (torch.ones(2), torch.ones(2), "1")])
def test_what_is_no_tensor_or_number_is_refused(given):
    assert load() is load()
    with pytest.raises(TypeError):
        op(*given)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_reference_is_the_formula_rounded(dtype):
    x, weight = arguments(20, 3000, dtype=dtype, device="cpu")
    exact = formula(x.double(), weight.double(), 1e-5)
    # Half a unit of the dtype (also where its numbers are subnormal), and the roundings to float32 on the way.
    half = torch.finfo(dtype).eps / 2 * torch.clamp(exact.abs(), min=torch.finfo(dtype).tiny)
    error = (reference(x, weight, 1e-5).double() - exact).abs()
    assert (error <= half + 4 * torch.finfo(torch.float32).eps * exact.abs()).all()


def test_the_references_root_is_rounded_to_nearest():
    """In rows of one element; torch.sqrt of float32 is off by one for some where it is MKL's."""

    def rounded(value: float) -> float:
        return struct.unpack("f", struct.pack("f", value))[0]

    def expected(value: float) -> float:
        root = rounded(math.sqrt(rounded(rounded(value * value) + rounded(1e-3))))
        return rounded(value * rounded(1.0 / root))

    x = values(3000, 1, dtype=torch.float32, seed=3, device="cpu")
    want = torch.tensor([[expected(value)] for (value,) in x.tolist()])
    assert_same(reference(x, torch.ones(1), 1e-3), want)


@needs_kernel
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_it_computes_what_the_reference_does(shape, dtype):
    x, weight = arguments(*shape, dtype=dtype)
    before = x.clone(), weight.clone()
    assert_same(op(x, weight, 1e-5), reference(x, weight, 1e-5))
    assert torch.equal(x, before[0]) and torch.equal(weight, before[1])


@needs_kernel
def test_eps_has_a_default():
    x, weight = arguments(4, 32)
    assert_same(op(x * 1e-3, weight), reference(x * 1e-3, weight, 1e-6))


@needs_kernel
def test_more_rows_than_the_grid_has_blocks():
    x, weight = arguments(4096 + 3, 2, dtype=torch.float16)
    assert_same(op(x, weight, 1e-5), reference(x, weight, 1e-5))


@needs_kernel
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_numbers_that_are_not_ordinary(dtype):
    largest, least = torch.finfo(dtype).max, torch.finfo(dtype).tiny / 4
    for some in [0.0, -0.0, largest, least, float("inf"), float("nan")]:
        x = torch.tensor([[1.0, -2.0, 3.0], [some, 1.0, -0.0]], dtype=dtype, device=DEVICE)
        weight = torch.tensor([1.0, float("inf"), -1.0], dtype=dtype, device=DEVICE)
        for eps in (0.0, 1e-6, float("inf")):
            assert_same(op(x, weight, eps), reference(x, weight, eps))
            assert_same(op(torch.full_like(x, some), weight, eps), reference(torch.full_like(x, some), weight, eps))


@needs_kernel
def test_what_does_not_fit_is_refused():
    x, weight = torch.ones(4, 4, device=DEVICE), torch.ones(4, device=DEVICE)
    for first, second, message in [
        (x.double(), weight.double(), "x must be float16 or bfloat16 or float32, got Double"),
        (x, weight.half(), "weight must be float32 as x is, got float16"),
        (x, weight.to("meta"), "weight must be on .* as x is, got meta"),
        (x.t()[:2], weight, "x must be contiguous"),
        (x, x[:, 1], "weight must be contiguous"),
        (x, weight[:3], r"weight must have the size of x's last dimension, \[4\], got sizes \[3\]"),
        (x, x, r"weight must have the size of x's last dimension, \[4\], got sizes \[4, 4\]"),
        (x[0, 0], weight, "x must have a last dimension"),
        (x.to_sparse(), weight, "x must be strided"),
        (x.clone().requires_grad_(), weight, "x requires grad"),
        (x, weight.clone().requires_grad_(), "weight requires grad"),
        (x, torch.ones(4, dtype=torch.cfloat, device=DEVICE).conj().imag, "weight must not be a lazily negated view"),
    ]:
        with pytest.raises(RuntimeError, match="^rms_norm: " + message):
            op(first, second)
    with torch.no_grad():
        assert_same(op(x.clone().requires_grad_(), weight, 0.0), x)
    with pytest.raises(RuntimeError, match="rms_norm: eps = .* does not fit in float32"):
        op(x, weight, 1e300)


@needs_device
def test_it_is_queued_on_the_current_stream():
    stream = torch.cuda.Stream()
    x = torch.zeros(1 << 10, 1 << 10, device="cuda")
    weight = torch.full((1 << 10,), 3.0, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        # On any other stream the kernel would not wait for what is still being written here.
        for _ in range(100):
            x.add_(1)
        y = op(x, weight, 0.0)
    stream.synchronize()
    assert_same(y, torch.full_like(x, 3.0))


@needs_two_devices
def test_it_runs_on_the_device_of_its_arguments():
    torch.cuda.set_device(0)
    x, weight = arguments(10, 100, device="cuda:1")
    y = op(x, weight)
    assert y.device == x.device and torch.cuda.current_device() == 0
    assert_same(y, reference(x, weight))


@needs_device
def test_indexes_beyond_32_bits():
    length = 1 << 20
    rows = (1 << 11) + 1
    free, _ = torch.cuda.mem_get_info()
    if free < 5 * rows * length:
        pytest.skip(f"needs {5 * rows * length >> 30} GiB of free device memory, has {free >> 30}")
    x = torch.ones(rows, length, dtype=torch.half, device="cuda")
    x[-1] = 3.0
    y = op(x, torch.full((length,), 2.0, dtype=torch.half, device="cuda"), 0.0)
    assert torch.equal(y[-1], torch.full_like(y[-1], 2.0)) and torch.equal(y[0], y[-1])
