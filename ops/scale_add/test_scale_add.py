"""scale_add's own tests: python3 -m pytest, with this directory. testing.py says where the kernel runs."""

from __future__ import annotations

from typing import Iterator

import pytest
import torch

from . import load
from . import scale_add as op
from . import scale_add_ as op_
from . import scale_add_formula as formula
from . import scale_add_reference as reference
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
pytestmark = pytest.mark.filterwarnings("ignore:scale_add needs a torch built for")

DTYPES = (torch.float16, torch.bfloat16, torch.float32)
SHAPES = [
    ((257,), (257,)),
    ((2049,), (2049,)),
    ((3, 5, 7), (3, 5, 7)),
    ((4, 6), (6,)),
    ((4, 6), (4, 1)),
    ((4, 1, 3), (5, 1)),
    ((2, 1, 3, 1), (1, 4, 1, 5)),
    ((6,), ()),
    ((), ()),
    ((), (2, 3)),
    ((0,), (1,)),
    ((2, 0, 3), (3,)),
]


@pytest.fixture(scope="module", autouse=True)
def build() -> Iterator[None]:
    yield from chosen_build(SUPPORTED_ARCHS)


def pair(*shape: int, dtype: torch.dtype = torch.float32, device: str = DEVICE):
    return tuple(values(*shape, dtype=dtype, seed=seed, device=device) for seed in (1, 2))


@needs_no_device
def test_a_build_that_cannot_launch_refuses_every_tensor():
    for function in (op, op_):
        with pytest.raises(RuntimeError, match="^scale_add: a must be on a [A-Z]+ device, got cpu"):
            function(torch.ones(2), torch.ones(2), 1.0, 1.0)


@pytest.mark.parametrize("arguments", [(None, torch.ones(2), 1.0, 1.0), (torch.ones(2), 2.0, 1.0, 1.0)])
def test_what_is_no_tensor_or_number_is_refused(arguments):
    assert load() is load()
    with pytest.raises(TypeError):
        op(*arguments)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_reference_is_the_formula_rounded(dtype):
    a, b = pair(10_000, dtype=dtype, device="cpu")
    exact = formula(a.double(), b.double(), 0.75, -1.5)
    # Of half a unit in the last place, and of float32's rounding of the second product.
    bound = torch.finfo(dtype).eps / 2 * exact.abs() + torch.finfo(torch.float32).eps * b.double().abs() * 1.5
    assert ((reference(a, b, 0.75, -1.5).double() - exact).abs() <= bound).all()


def test_the_references_fused_multiply_add_rounds_once():
    one, tiny = torch.ones(1), torch.full((1,), 2.0**-24)
    # 1 + 2^-24 is a tie between two numbers of float32; what is added below it decides, up to 2^-48 of it.
    above = torch.full((1,), 1 + 2.0**-23) * tiny
    assert reference(one, above, 1.0, 1.0).item() == 1 + 2.0**-23
    assert reference(one, tiny, 1.0, 1.0).item() == 1.0
    product = torch.full((1,), 1 + 2.0**-12)  # its square is 1 + 2^-11 + 2^-24: a tie with 1 + 2^-11
    almost_nothing = torch.full((1,), 2.0**-100)
    assert reference(product, almost_nothing, 1 + 2.0**-12, 1.0).item() == 1 + 2.0**-11 + 2.0**-23
    assert reference(product, -almost_nothing, 1 + 2.0**-12, 1.0).item() == 1 + 2.0**-11


@needs_kernel
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_it_computes_what_the_reference_does(shapes, dtype):
    a, b = values(*shapes[0], dtype=dtype, seed=1), values(*shapes[1], dtype=dtype, seed=2)
    y = op(a, b, 1.7, -0.3)
    assert y.dtype == dtype and y.is_contiguous()
    assert_same(y, reference(a, b, 1.7, -0.3))


@needs_kernel
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_numbers_that_are_not_ordinary(dtype):
    largest, least = torch.finfo(dtype).max, torch.finfo(dtype).tiny / 4
    some = torch.tensor(
        [0.0, -0.0, 1.0, float("inf"), -float("inf"), float("nan"), largest, least], dtype=dtype, device=DEVICE
    )
    for alpha, beta in [(1.0, 1.0), (1.0, -1.0), (0.0, -0.0), (2.0, 2.0), (float("inf"), 1.0), (float("nan"), 0.0)]:
        assert_same(op(some[:, None], some, alpha, beta), reference(some[:, None], some, alpha, beta))


@needs_kernel
def test_more_elements_than_the_grid_takes_at_once():
    a, b = pair(1000, dtype=torch.float16)
    times = 4096 * 2048 // len(a) + 1
    y = op(a.repeat(times), b.repeat(times), 1.7, -0.3)
    assert_same(y, reference(a, b, 1.7, -0.3).repeat(times))


@needs_kernel
def test_strides():
    a, b = pair(6, 8, 10)
    views = [
        (a.permute(2, 0, 1), b.permute(2, 0, 1)),
        (a.transpose(0, 2), b.reshape(10, 8, 6)),
        (a[::2, 1:5, ::3], b[3:, 4:, :4]),
        (a[:, :1].expand(6, 8, 10), b),
        (a, b[0, 0, 0]),
    ]
    for x, y in views:
        before = x.clone(), y.clone()
        assert_same(op(x, y, 1.7, -0.3), reference(x, y, 1.7, -0.3))
        assert torch.equal(x, before[0]) and torch.equal(y, before[1])


@needs_kernel
def test_as_many_dimensions_as_cannot_be_merged():
    shape = [2] * 17
    a = values(*shape, dtype=torch.float16).permute(*reversed(range(17)))
    b = values(*shape[1:], dtype=torch.float16, seed=2)
    assert_same(op(a, b, 1.7, -0.3), reference(a, b, 1.7, -0.3))


@needs_kernel
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_in_place(dtype):
    for shape, other in [((257,), (257,)), ((4, 6), (6,)), ((4, 6), ()), ((0, 3), (3,))]:
        a, b = values(*shape, dtype=dtype, seed=1), values(*other, dtype=dtype, seed=2)
        expected, place, version = reference(a, b, 1.7, -0.3), a.data_ptr(), a._version
        assert op_(a, b, 1.7, -0.3) is a
        assert_same(a, expected)
        assert a.data_ptr() == place and a._version == version + 1


@needs_kernel
def test_in_place_writes_a_view_and_nothing_beside_it():
    whole, b = values(8, 10, dtype=torch.float32), values(5, 4, dtype=torch.float32, seed=2)
    view = whole.t()[::2, 1:8:2]
    expected = whole.clone()
    expected.t()[::2, 1:8:2] = reference(view, b, 1.7, -0.3)
    op_(view, b, 1.7, -0.3)
    assert_same(whole, expected)


@needs_kernel
def test_in_place_with_itself():
    a = values(1000, dtype=torch.float16)
    expected = reference(a, a, 2.0, 0.5)
    op_(a, a.view_as(a), 2.0, 0.5)
    assert_same(a, expected)
    # Halves of one memory are two tensors.
    expected = torch.cat([reference(a[:500], a[500:], 2.0, 0.5), a[500:]])
    op_(a[:500], a[500:], 2.0, 0.5)
    assert_same(a, expected)


@needs_kernel
def test_in_place_refuses_what_would_be_read_after_it_was_written():
    a = values(4, 4, dtype=torch.float32)
    before = a.clone()
    for b in (a.t(), a[0], a[:, :1], a[1, 1], a.view(16)[::5]):
        with pytest.raises(RuntimeError, match="scale_add: a is written, and b lies in the same memory"):
            op_(a, b, 1.0, 1.0)
    with pytest.raises(RuntimeError, match="scale_add: a is written, and b lies in the same memory"):
        op_(a.view(16)[1:], a.view(16)[:-1], 1.0, 1.0)
    for overlapping in (a[:1].expand(4, 4), a.as_strided((3, 3), (1, 1))):
        with pytest.raises(RuntimeError, match="scale_add: a is written, and its elements overlap"):
            op_(overlapping, torch.ones(1, device=DEVICE), 1.0, 1.0)
    with pytest.raises(RuntimeError, match="scale_add: b does not broadcast to a"):
        op_(a[0], a.clone(), 1.0, 1.0)
    assert torch.equal(a, before)


@needs_kernel
def test_autograd_finds_what_was_changed_in_place():
    weight = torch.ones(3, requires_grad=True, device=DEVICE)
    saved = torch.ones(3, device=DEVICE)
    product = (weight * saved).sum()
    op_(saved, torch.ones(3, device=DEVICE), 2.0, 0.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


@needs_kernel
def test_a_tensor_that_does_not_fit_is_refused():
    a = torch.ones(4, 4, device=DEVICE)
    for first, second, message in [
        (a.double(), a.double(), "a must be float16 or bfloat16 or float32, got Double"),
        (a, a.half(), "b must be float32 as a is, got float16"),
        (a, a.to("meta"), "b must be on .* as a is, got meta"),
        (a, a[:, :3], "a and b do not broadcast"),
        (a.to_sparse(), a, "a must be strided"),
        (a, a.clone().requires_grad_(), "b requires grad"),
        (a.clone().requires_grad_(), a, "a requires grad"),
        (a, torch.ones(4, dtype=torch.cfloat, device=DEVICE).conj().imag, "b must not be a lazily negated view"),
    ]:
        for function in (op, op_):
            with pytest.raises(RuntimeError, match="^scale_add: " + message):
                function(first, second, 1.0, 1.0)
    with torch.no_grad():
        assert_same(op(a.clone().requires_grad_(), a, 2.0, 1.0), torch.full_like(a, 3.0))
    with pytest.raises(RuntimeError, match="scale_add: beta = .* does not fit in float32"):
        op(a, a, 1.0, -1e300)


@needs_device
def test_it_is_queued_on_the_current_stream():
    stream = torch.cuda.Stream()
    x = torch.zeros(1 << 20, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        # On any other stream the kernel would not wait for what is still being written here.
        for _ in range(100):
            x.add_(1)
        op_(x, x, 1.0, 1.0)
    stream.synchronize()
    assert_same(x, torch.full_like(x, 200.0))


@needs_two_devices
def test_it_runs_on_the_device_of_its_arguments():
    torch.cuda.set_device(0)
    a, b = pair(1000, device="cuda:1")
    y = op(a, b, 1.7, -0.3)
    assert y.device == a.device and torch.cuda.current_device() == 0
    assert_same(y, reference(a, b, 1.7, -0.3))
    with pytest.raises(RuntimeError, match="b must be on cuda:1 as a is"):
        op(a, b.to("cuda:0"), 1.0, 1.0)


@needs_device
def test_indexes_beyond_32_bits():
    count = (1 << 31) + 257
    free, _ = torch.cuda.mem_get_info()
    if free < 5 * count:
        pytest.skip(f"needs {5 * count >> 30} GiB of free device memory, has {free >> 30}")
    a = torch.zeros(count, dtype=torch.half, device="cuda")
    a[-300:] = 3.0
    y = op(a, torch.ones(1, dtype=torch.half, device="cuda"), 2.0, 1.0)
    assert y[-301:].tolist() == [1.0] + [7.0] * 300
