"""What `dcuop verify` judges with: rounding, distances in ULP, watched memory, the contract's data."""

from __future__ import annotations

import math
import struct
import sys

import pytest

from conftest import ROOT

torch = pytest.importorskip("torch")
sys.path.insert(0, str(ROOT / "python"))

# pylint: disable=wrong-import-position
from dcuop._errors import UsageProblem  # noqa: E402
from dcuop._verify._cases import Case, changed, changed_by_id, dims_for  # noqa: E402
from dcuop._verify._contract import Argument, Contract, Function, Request, Tolerance  # noqa: E402
from dcuop._verify._inputs import make, plain_arguments  # noqa: E402
from dcuop._verify._layouts import NON_CONTIGUOUS, edges  # noqa: E402
from dcuop._verify._judge import differ, round_once, same_bits, ulp_distance, ulp_error  # noqa: E402
from dcuop._verify._target import widened  # noqa: E402

CPU = torch.device("cpu")
EXACT = Tolerance(ulp=0)


def doubles(*values: float) -> "torch.Tensor":
    return torch.tensor(values, dtype=torch.float64)


def half_of(value: float) -> float:
    """IEEE's answer, by struct, which rounds a double to half once."""
    try:
        return struct.unpack("e", struct.pack("e", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def test_rounding_happens_once():
    hard = [2049.0, 2049.0 + 1e-9, 65519.99999999, 65520.0, -1e300, 6e-8, 2.0**-25, 2.0**-25 * (1 + 2.0**-52)]
    hard += [1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-11 - 2.0**-40, 0.0, 5e-324]
    random = (torch.randn(20000, dtype=torch.float64) * torch.exp(6 * torch.randn(20000, dtype=torch.float64))).tolist()
    values = doubles(*hard, *random)
    assert round_once(values, torch.float16).tolist() == [half_of(value) for value in values.tolist()]
    # torch itself goes by way of float32: one of these is why.
    assert values.half().tolist() != round_once(values, torch.float16).tolist()
    assert torch.signbit(round_once(doubles(-0.0, -1e-300), torch.float16)).all()
    assert math.isnan(round_once(doubles(math.nan), torch.bfloat16).item())
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        assert 0.499 < ulp_error(round_once(values, dtype), values).max().item() <= 0.5


@pytest.mark.skipif(not hasattr(torch, "float8_e5m2"), reason="this torch has no 8-bit types")
def test_the_8_bit_types_are_widened_too():
    given = torch.tensor([0.5, -3.0]).to(torch.float8_e5m2)
    wide = widened({"x": given})["x"]
    assert wide.dtype == torch.float64 and wide.tolist() == [0.5, -3.0]


def test_distances_count_the_values_between():
    one = torch.tensor([1.0, 0.0, -6e-8, 65504.0, -1.0], dtype=torch.float16)
    other = torch.tensor([1.0009765625, -0.0, 6e-8, 65472.0, 1.0], dtype=torch.float16)
    assert ulp_distance(one, other).tolist() == [1, 0, 2, 1, 2 * 0x3C00]
    assert ulp_distance(doubles(1.0, -5e-324), doubles(1.0 + 2.0**-52, 5e-324)).tolist() == [1, 2]
    assert ulp_error(torch.tensor([math.inf]), doubles(1e300)).tolist() == [0.0]
    assert math.isnan(ulp_error(torch.tensor([math.nan]), doubles(1.0)).item())


def test_what_differs_is_named_with_its_place():
    got = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.5, 6.0]])
    want = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    found = differ(got, want, Tolerance())
    assert found is not None and (found.wrong, found.of) == (1, 6)
    assert found.elements == [{"index": [1, 1], "got": "5.5", "want": "5.0", "ulp": 1048576}]
    assert differ(got, got.clone(), EXACT) is None
    assert differ(got, want, Tolerance(ulp=None, rtol=0.1)) is None
    assert differ(got, want, Tolerance(ulp=None, rtol=0.09)) is not None
    assert differ(torch.empty(0, 3), torch.empty(0, 3), EXACT) is None
    with pytest.raises(ValueError):
        differ(got, want.double(), EXACT)


@pytest.mark.parametrize(
    "got, want, same",
    [
        (math.nan, -math.nan, True),
        (math.nan, 1.0, False),
        (1.0, math.nan, False),
        (math.inf, math.inf, True),
        (math.inf, -math.inf, False),
        # Neighbours in the order of patterns, and yet no number within one ULP.
        (65504.0, math.inf, False),
        (0.0, -0.0, False),
        (-0.0, -0.0, True),
        (6e-8, 0.0, True),
        (1.2e-7, 0.0, False),
    ],
)
def test_nan_infinity_and_the_sign_of_zero(got: float, want: float, same: bool):
    half = torch.tensor([got, want], dtype=torch.float16)
    assert (differ(half[:1], half[1:], Tolerance(ulp=1)) is None) == same


def test_bits_tell_what_numbers_do_not():
    assert not same_bits(torch.tensor([0.0]), torch.tensor([-0.0]))
    assert same_bits(torch.tensor([math.nan]), torch.tensor([math.nan]))
    assert not same_bits(torch.zeros(2), torch.zeros(2, 1))
    assert differ(torch.tensor([2**62], dtype=torch.int64), torch.tensor([2**62 + 1], dtype=torch.int64), EXACT)


ROWS = Function(
    "rows",
    "reference.py:formula",
    (
        Argument("x", dtypes=("float16", "float32"), shape=("...", "n")),
        Argument("w", shape=("n",)),
        Argument("s", kind="scalar", range=(-4.0, 4.0)),
    ),
    block=256,
)


def rows_case(size: int, **changes: object) -> Case:
    return Case("rows/float16/size/x", "size", "rows", "float16", "equal", dims_for(ROWS, size), **changes)


def test_integers_may_have_a_tolerance():
    got, want = torch.tensor([10, -8], dtype=torch.int8), torch.tensor([11, -10], dtype=torch.int8)
    found = differ(got, want, Tolerance(ulp=None, atol=1))
    assert found is not None and [element["index"] for element in found.elements] == [[1]]
    assert differ(got, want, Tolerance(ulp=None, atol=1, rtol=0.1)) is None
    assert differ(got, want, Tolerance(ulp=2)) is None and differ(got, want, Tolerance(ulp=1)) is not None
    whole = torch.tensor([2**62], dtype=torch.int64)
    assert differ(whole, whole + 1, Tolerance(ulp=None, rtol=0.0)) is not None


def test_inputs_are_the_same_each_time_and_watched():
    one = make(rows_case(257, seed=3), ROWS, CPU)
    again = make(rows_case(257, seed=3), ROWS, CPU)
    assert one.arguments["x"].shape == (3, 257) and one.arguments["w"].shape == (257,)
    assert torch.equal(one.arguments["x"], again.arguments["x"]) and one.arguments["s"] == again.arguments["s"]
    assert not torch.equal(one.arguments["x"], make(rows_case(257, seed=4), ROWS, CPU).arguments["x"])
    assert one.damage() == ""
    one.arguments["x"][1, 7] = 99.0
    assert one.damage() == "the input x was changed" and one.damage(may_write="x") == ""
    beyond = again.arguments["w"].as_strided((1,), (1,), again.arguments["w"].storage_offset() + 257)
    beyond.fill_(0.0)
    assert again.damage() == "memory beside w was written: the function writes out of bounds"


@pytest.mark.parametrize("form", NON_CONTIGUOUS)
def test_forms_hold_the_same_values(form: str):
    dims = {"...": (2, 3, 4), "n": (5,)}
    case = Case("rows/float16/layout/x", "layout", "rows", "float16", "equal", dims, forms={"x": form})
    x = make(case, ROWS, CPU).arguments["x"]
    usual = make(Case("rows/float16/layout/x", "layout", "rows", "float16", "equal", dims), ROWS, CPU).arguments["x"]
    assert not x.is_contiguous() and x.shape == usual.shape
    assert torch.equal(x[:1], usual[:1]) and (form == "expanded" or torch.equal(x, usual))


def test_forms_that_count_as_contiguous():
    case = Case("a/b/c/d", "layout", "rows", "float16", "equal", {"...": (1,), "n": (5,)}, forms={"x": "odd-strides"})
    x = make(case, ROWS, CPU).arguments["x"]
    assert x.is_contiguous() and x.stride() == (12345, 1)
    aligned = make(rows_case(5), ROWS, CPU).arguments["x"]
    offset = make(rows_case(5, forms={"x": "offset"}), ROWS, CPU).arguments["x"]
    assert aligned.data_ptr() % 16 == 0 and offset.data_ptr() % 16 == 2 and offset.is_contiguous()


def test_special_values_lie_at_the_edges():
    assert edges(258, 256) == [0, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127, 128, 129, 191, 192, 193, 255, 256, 257]
    assert edges(1, None) == [0] and edges(0, None) == []
    w = make(rows_case(258, values={"w": "mixed:nan"}), ROWS, CPU).arguments["w"]
    assert torch.isnan(w).nonzero().flatten().tolist() == edges(258, 256)


def test_an_id_says_how_a_case_was_changed():
    case = rows_case(257, values={"x": "random", "w": "random"}, scalars={"s": 1.5})
    smaller = changed(case, {"n": (5,), "...": (2, 1)}, "ones", {"s": 0})
    assert smaller.id == "rows/float16/size/x@...=2x1,n=5,values=ones,s=0"
    assert changed_by_id(case, smaller.id) == smaller
    assert smaller.seed_of("x") == case.seed_of("x")
    assert changed_by_id(case, "rows/float16/size/x@...=()").dims["..."] == ()
    with pytest.raises(ValueError, match="no size"):
        changed_by_id(case, "rows/float16/size/x@m=2")


@pytest.mark.parametrize("elements, shape", [(1, (1, 1)), (1000, (1, 1000)), (1 << 20, (256, 4096))])
def test_plain_arguments_have_the_size_asked_for(elements: int, shape: tuple):
    arguments = plain_arguments(ROWS, "float32", elements, CPU)
    assert arguments["x"].shape == shape and arguments["w"].shape == shape[-1:]
    assert arguments["x"].dtype == arguments["w"].dtype == torch.float32 and -4 <= arguments["s"] <= 4


def test_a_request_of_another_schema_is_refused():
    with pytest.raises(UsageProblem, match="schema 1"):
        Request.from_json({"schema": 2})
    with pytest.raises(UsageProblem, match="incomplete: KeyError"):
        Request.from_json({"schema": 1, "op": {}, "backend": "host"})


def test_what_a_contract_leaves_out_has_its_default():
    x = {"name": "x", "kind": "tensor", "shape": ["..."]}
    contract = Contract.from_json({"functions": [{"name": "f", "formula": "a.py:f", "arguments": [x]}]})
    function = contract.functions[0]
    assert function.dtypes == ("float32",) and function.tolerance_of("float32") == Tolerance(ulp=1.0)
    assert Tolerance.from_json({"rtol": 1e-3}) == Tolerance(ulp=None, rtol=1e-3)
    assert contract.micro.runs == 25 and contract.e2e is None and contract.gate.speedup is None
