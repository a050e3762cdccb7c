"""The numerics layer of `dcuop verify`, on operators whose rounding, errors and special values are known."""

from __future__ import annotations

import ctypes
import math
from pathlib import Path
from typing import Any, Dict, List

import pytest
from verify_request import BIAS, SCALE, Silent, X, function, request, tensor

torch = pytest.importorskip("torch")

# pylint: disable=wrong-import-position
from dcuop._verify import _numerics, _results, _summary  # noqa: E402
from dcuop._verify._contract import Function  # noqa: E402
from dcuop._verify._rounding import Rounding, fused_multiply_add  # noqa: E402
from dcuop._verify._samples import samples  # noqa: E402
from dcuop._verify._target import Target  # noqa: E402
from dcuop._verify._words import Words  # noqa: E402

AFFINE = """
    import ctypes
    libm = ctypes.CDLL("libm.so.6")
    libm.fmaf.restype, libm.fmaf.argtypes = ctypes.c_float, [ctypes.c_float] * 3

    def formula(x, scale, bias):
        return x * scale + bias
    def single(value):
        return float(torch.tensor(value, dtype=torch.float32))
    def stepwise(x, scale, bias):
        return ((x.float() * scale).to(x.dtype).float() + bias).to(x.dtype)
    def once(x, scale, bias):
        return (x.float() * scale + bias).to(x.dtype)
    def fused(x, scale, bias):
        flat = [libm.fmaf(one, scale, bias) for one in x.flatten().tolist()]
        return torch.tensor(flat, dtype=torch.float32).view(x.shape).to(x.dtype)
    def truncated(x, scale, bias):
        exact = (x.double() * scale + bias).float()
        near = exact.to(x.dtype)
        away = (near.float().abs() > exact.abs()) & torch.isfinite(near)
        return torch.where(away, near.view(torch.int16) - 1, near.view(torch.int16)).view(x.dtype)
"""


def numerics(directory: Path, code: str, *functions: Any) -> List[Dict[str, Any]]:
    asked = request(directory, code, list(functions))
    found = _numerics.run(Target.load(asked), asked, Silent())["functions"]
    _results.to_json(found)  # it is JSON
    return found


def one(directory: Path, code: str, *parts: Any, **more: Any) -> Dict[str, Any]:
    [row] = numerics(directory, code, function(*parts, **more))
    assert row["unknown"] == "", row
    return row


def shares(row: Dict[str, Any]) -> Dict[str, float]:
    return {each["name"]: each["same"] for each in row["schedule"]["candidates"]}


# --- schedules


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_each_schedule_is_recognised_by_every_element(tmp_path, dtype):
    names = ("stepwise", "once", "fused", "truncated")
    rows = numerics(tmp_path, AFFINE, *(function(name, [dtype], [X, SCALE, BIAS]) for name in names))
    follows = {row["function"]: row["schedule"]["follows"] for row in rows}
    assert follows == {
        "stepwise": f"{dtype}, each operation rounded",
        "once": "float32 inside, one rounding",
        "fused": "float32 inside, one rounding, FMA",
        "truncated": None,
    }
    for row in rows:
        assert (row["inputs"], row["elements"], row["deterministic"]) == ("every value", 4 * 65536, True)
        # Float32's scalars tell the schedules apart; that float64 rounds once less shows in one of some 2^16 elements.
        assert set(row["schedule"]["also"]) <= {"float64 inside, one rounding"}
    stepwise, once, fused, truncated = rows
    # Of a sum that cancels, the rounding of the product is all that is left.
    assert 100 < stepwise["vs_float64"]["max_ulp"] and 0.2 < stepwise["vs_float64"]["mean_ulp"]
    assert once["vs_float64"]["max_ulp"] > fused["vs_float64"]["max_ulp"] and fused["vs_float64"]["max_ulp"] < 0.5001
    # Beside most values of x the bias is all there is, and that of every second batch is one of the dtype itself.
    assert 0.9 < truncated["vs_float64"]["max_ulp"] <= 1.0 and 0.1 < truncated["vs_float64"]["mean_ulp"] < 0.6
    assert "tried (closest: " in _summary.schedule_text(truncated["schedule"], Words())


def test_what_no_sample_tells_apart_is_said(tmp_path):
    row = one(tmp_path, "def formula(x): return x * 2\ndef twice(x): return x + x\n", "twice", ["float32"], [X])
    # No product goes into a sum: FMA is no other way.
    assert list(shares(row)) == [
        "float32, each operation rounded",
        "float64 inside, one rounding",
        "rounded as the framework here",
    ]
    assert row["schedule"]["follows"] == "float32, each operation rounded"
    assert row["schedule"]["also"] == ["float64 inside, one rounding", "rounded as the framework here"]
    assert row["vs_float64"]["max_ulp_all"] == 0.0
    counts = [count for _, count in row["vs_float64"]["histogram"]]
    assert row["elements"] / 2 < counts[0] < row["elements"] and not any(counts[1:])


PRODUCTS = """
    import ctypes
    libm = ctypes.CDLL("libm.so.6")
    libm.fmaf.restype, libm.fmaf.argtypes = ctypes.c_float, [ctypes.c_float] * 3

    def formula(a, b, c, d):
        return a * b - c * d
    def first(a, b, c, d):
        rest = (-(c * d)).tolist()
        return torch.tensor([libm.fmaf(*each) for each in zip(a.tolist(), b.tolist(), rest)], dtype=torch.float32)
    def second(a, b, c, d):
        product = (a * b).tolist()
        return torch.tensor([libm.fmaf(*each) for each in zip((-c).tolist(), d.tolist(), product)], dtype=torch.float32)
"""


def test_of_two_products_the_fused_one_is_told(tmp_path):
    tensors = [tensor(name) for name in "abcd"]
    rows = numerics(tmp_path, PRODUCTS, *(function(name, ["float32"], tensors) for name in ("first", "second")))
    assert [row["schedule"]["follows"] for row in rows] == [
        "float32 with FMA",
        "float32 with FMA, FMA of the second product",
    ]
    assert [row["inputs"] for row in rows] == ["samples", "samples"]
    assert all(0.5 < shares(row)["float32, each operation rounded"] < 1.0 for row in rows)


def test_sums_in_another_order_follow_nothing_and_the_closest_is_named(tmp_path):
    code = """
        def formula(x):
            return x.sum(-1)
        def other_order(x):
            total = torch.zeros(x.shape[:-1])
            for column in x.unbind(-1):
                total = total + column
            return total
    """
    row = one(tmp_path, code, "other_order", ["float32"], [tensor("x", "...", "n")])
    assert row["inputs"] == "random" and row["schedule"]["follows"] is None
    assert "follows none of the 3 rounding schedules tried (closest: " in _summary.schedule_text(
        row["schedule"], Words()
    )
    assert row["vs_float64"]["max_ulp"] > 0.5 and row["deterministic"] is True


def test_the_contracts_reference_may_say_the_order_of_a_sum(tmp_path):
    code = """
        def formula(x):
            return x.sum(-1)
        def backwards(x):
            total = torch.zeros(x.shape[:-1])
            for column in reversed(x.unbind(-1)):
                total = total + column
            return total
        def reference(x):
            return backwards(x)
    """
    row = one(tmp_path, code, "backwards", ["float32"], [tensor("x", "...", "n")], reference="op.py:reference")
    assert (row["schedule"]["follows"], row["schedule"]["also"]) == ("rounded as the contract's reference", [])


def bits_of(value: float) -> int:
    return int(torch.tensor(value, dtype=torch.float32).view(torch.int32))


def test_the_fused_multiply_add_is_that_of_the_c_library():
    libm = ctypes.CDLL("libm.so.6")
    libm.fmaf.restype, libm.fmaf.argtypes = ctypes.c_float, [ctypes.c_float] * 3
    random = torch.Generator().manual_seed(3)

    def floats(count: int, scale: float) -> "torch.Tensor":
        exponents = torch.randint(-int(scale), int(scale) + 1, (count,), generator=random)
        return (torch.randn(count, generator=random) * torch.exp2(exponents.float())).double()

    a, b, c = floats(20000, 20), floats(20000, 20), floats(20000, 40)
    # Sums that cancel, ties of float32 that a far smaller term decides, results below the least normal number.
    c[:5000] = (-(a[:5000] * b[:5000])).float().double()
    a[5000], b[5000], c[5000] = 1.0 + 2.0**-23, 1.0 + 2.0**-23, -(2.0**-80)
    a[5001], b[5001], c[5001] = 1.0 + 2.0**-12, 1.0 + 2.0**-12, 2.0**-100
    a[5002], b[5002], c[5002] = 2.0**-75, 1.0 + 2.0**-20, 2.0**-149
    a[5003], b[5003], c[5003] = 2.0**127, 2.0, -(2.0**127)
    a[5004], b[5004], c[5004] = math.inf, 0.0, 1.0
    a[5005], b[5005], c[5005] = 3e38, 3e38, -math.inf
    got = fused_multiply_add(a, b, c, torch.float32).tolist()
    want = [libm.fmaf(*each) for each in zip(a.tolist(), b.tolist(), c.tolist())]
    wrong = [
        each
        for each in zip(a.tolist(), b.tolist(), c.tolist(), got, want)
        if not (math.isnan(each[3]) and math.isnan(each[4])) and bits_of(each[3]) != bits_of(each[4])
    ]
    assert wrong == []
    # Not what two roundings give.
    assert sum(one != other for one, other in zip(got, (a * b + c).float().tolist())) > 0


def test_operations_are_rounded_to_their_dtype_wherever_they_are_written():
    x = torch.tensor([1.001, 3.003, -7.7], dtype=torch.float16)
    with Rounding():
        exp, soft = torch.exp(x), torch.nn.functional.softmax(x, -1)
        y = x.clone()
        y += 0.0004
        z = x.clone().mul_(1.7)
        wide = torch.sum(x, dtype=torch.float32)
        mixed = x * torch.ones(3)
        assert (x.dtype, (x > 0).dtype, x.float().dtype) == (torch.float16, torch.bool, torch.float32)
    assert torch.equal(exp, torch.exp(x.float()).half())
    assert torch.equal(soft, torch.softmax(x.float(), -1).half())
    assert torch.equal(y, (x.float() + 0.0004).half()) and torch.equal(z, (x.float() * 1.7).half())
    assert (wide.dtype, mixed.dtype) == (torch.float32, torch.float32)


def test_a_product_that_was_written_to_is_no_product_any_more():
    a = torch.tensor([1.0 + 2.0**-12], dtype=torch.float32)
    with Rounding("first") as mode:
        fused = a * a - 1.0
        product = a * a
        product.add_(0.0)
        stepwise = product - 1.0
        negative = 1.0 - a.square()
    assert fused.item() == 2.0**-11 + 2.0**-24 and negative.item() == -fused.item()
    assert stepwise.item() == 2.0**-11
    assert (mode.fused, mode.ambiguous) == (3, False)


# --- errors


def test_errors_are_counted_in_ulp_of_the_result(tmp_path):
    code = """
        def formula(x): return x * 3
        def off(x):
            near = (x.double() * 3).to(x.dtype)
            return (near.view(torch.int32) + 3 * (torch.isfinite(near) & (near != 0)).int()).view(x.dtype)
    """
    row = one(tmp_path, code, "off", ["float32"], [X])
    measured = row["vs_float64"]
    assert measured, row
    assert 3.0 < measured["max_ulp"] <= 3.5 and 2.9 < measured["mean_ulp"] < 3.1
    counts = dict(measured["histogram"])
    assert counts["<=4"] > 0.9 * sum(counts.values()) and counts["<=16"] == counts[">64"] == 0
    assert measured["worst"]["ulp"] == measured["max_ulp"] and measured["worst"]["arguments"].startswith("x=")
    assert row["schedule"]["follows"] is None
    # The framework rounds once as well.
    assert 2.9 < row["vs_framework"]["mean_ulp"] < 3.1


def test_inputs_beyond_the_contracts_range_are_shown_apart(tmp_path):
    code = """
        def formula(x): return x + 1
        def narrow(x): return torch.where(x.abs() <= 2, x + 1, (x + 1) * 1.01)
    """
    row = one(tmp_path, code, "narrow", ["float16"], [tensor("x", range=[-2.0, 2.0])])
    assert row["vs_float64"]["max_ulp"] <= 0.5 < 10 < row["vs_float64"]["max_ulp_all"]
    line = _summary.rows({"numerics": {"functions": [row]}}, Words())[1].lines[0]
    assert line.startswith("max 0.50 ULP vs float64 (") and "outside the contract's range" in line


def test_an_infinity_on_one_side_alone_is_no_number_of_ulp(tmp_path):
    code = """
        def formula(x): return x * 1
        def saturated(x): return torch.where(x.abs() > 1000, torch.full_like(x, float("inf")), x)
    """
    row = one(tmp_path, code, "saturated", ["float16"], [X])
    # Within the range there is none.
    assert row["vs_float64"]["unmatched"] == 0 and row["vs_float64"]["max_ulp_all"] == 0.0
    halves = torch.arange(0x7C00, dtype=torch.int32).to(torch.int16).view(torch.float16)
    # And -inf, which became inf.
    assert row["vs_float64"]["unmatched_all"] == 2 * int((halves > 1000).sum()) + 1


@pytest.mark.parametrize(
    "formula, why",
    [
        (
            "if x.dtype == torch.float64: raise TypeError('float32 only')\n    return x",
            "the formula refuses float64: TypeError: float32 only",
        ),
        ("return (x.float() * 1).to(x.dtype)", "the formula computes in float32 what it is given in float64"),
    ],
)
def test_a_formula_that_is_not_generic_is_no_truth(tmp_path, formula, why):
    row = one(tmp_path, f"def formula(x):\n    {formula}\ndef same(x): return x.clone()\n", "same", ["float32"], [X])
    assert row["vs_float64"] is None and row["vs_float64_unknown"] == why
    assert row["vs_framework"]["max_ulp_all"] == 0.0


def test_float64_has_no_wider_truth_and_integers_only_equality(tmp_path):
    code = "def formula(x): return x * 3\ndef triple(x): return x * 3\n"
    wide, whole = numerics(tmp_path, code, function("triple", ["float64", "int32"], [X]))
    assert wide["vs_float64"] is None and wide["no_truth"] and "no wider truth" in wide["vs_float64_unknown"]
    assert wide["vs_framework"]["max_ulp_all"] == 0.0
    assert wide["schedule"]["follows"] == "float64, each operation rounded"
    assert whole["exact_dtype"] and whole["unknown"].startswith("the result is int32: only equality means something")


def test_the_histogram_puts_an_error_where_its_label_says():
    errors = torch.tensor([0.0, 1e-9, 0.5, 0.50001, 1.0, 2.0, 2.5, 16.0, 64.0, 65.0, 1e30], dtype=torch.float64)
    assert _numerics.histogram(errors) == [
        ["0", 1],
        ["<=0.5", 2],
        ["<=1", 2],
        ["<=2", 1],
        ["<=4", 1],
        ["<=16", 1],
        ["<=64", 1],
        [">64", 2],
    ]


# --- special values


def differing(row: Dict[str, Any]) -> Dict[str, Any]:
    return {each["input"]: (each["got"], each["framework"]) for each in row["special"] if not each["same"]}


def test_special_values_unlike_the_frameworks_are_named(tmp_path):
    code = """
        def formula(x): return x.abs()
        def lost_nan(x): return torch.where(x > 0, x, torch.where(x < 0, -x, torch.zeros_like(x)))
        def flushed(x): return torch.where(x.abs() < torch.finfo(x.dtype).tiny, torch.zeros_like(x), x.abs())
        def refuses_infinity(x):
            if torch.isinf(x).any(): raise ValueError("infinite")
            return x.abs()
    """
    names = ("lost_nan", "flushed", "refuses_infinity")
    rows = numerics(tmp_path, code, *(function(name, ["float32"], [X]) for name in names))
    lost, flushed, refuses = (differing(row) for row in rows)
    assert lost == {"x=nan": ("0", "nan")}
    assert flushed == {
        "x=least denormal": ("0", "1.401e-45"),
        "x=-least denormal": ("0", "1.401e-45"),
        "x=largest denormal": ("0", "1.175e-38"),
    }
    assert refuses == {
        "x=inf": ("refused: ValueError: infinite", "inf"),
        "x=-inf": ("refused: ValueError: infinite", "inf"),
    }
    assert len(rows[0]["special"]) == 11


def test_special_scalars_and_a_sign_of_zero(tmp_path):
    code = """
        def formula(x, scale): return x * scale
        def positive(x, scale): return x * scale + 0.0
    """
    row = one(tmp_path, code, "positive", ["float32"], [X, SCALE])
    found = differing(row)
    # One of them, by the sign of scale.
    assert ("x=-0" in found) != ("x=0" in found)
    assert {each["input"] for each in row["special"]} >= {"scale=inf", "x=inf, scale=0", "x=nan, scale=0", "scale=-0"}
    assert all("-0" in pair for pair in found.values())


def test_what_the_cpu_lacks_in_half_is_computed_as_a_device_does(tmp_path):
    code = "def formula(x): return torch.exp(x)\ndef exp(x): return torch.exp(x.float()).half()\n"
    row = one(tmp_path, code, "exp", ["float16"], [X])
    try:
        torch.exp(torch.ones(1, dtype=torch.float16))
        assert row["framework"] == "native"
    except RuntimeError:
        assert row["framework"] == "emulated"
    assert row["schedule"]["follows"] == "float16, each operation rounded" and differing(row) == {}


# --- what goes wrong


def test_a_function_that_fails_or_changes_is_said(tmp_path):
    code = """
        calls = []
        def formula(x): return x + 1
        def fails(x): raise RuntimeError("launch failed\\nmore")
        def drifts(x):
            calls.append(1)
            return x + len(calls)
        def wrong_shape(x): return (x + 1)[:-1]
        def nothing(x): return "text"
        def surplus(x): return x + 1, x * 2
    """
    names = ("fails", "drifts", "wrong_shape", "nothing", "surplus")
    rows = numerics(
        tmp_path,
        code,
        *(function(name, ["float32"], [X]) for name in names),
        function("formula", ["float32"], [X], formula="fails"),
    )
    fails, drifts, shape, nothing, surplus, other = rows
    assert other["unknown"] == "the formula failed: RuntimeError: launch failed" and "failed" not in other
    assert fails["unknown"] == "the function failed: RuntimeError: launch failed" and fails["failed"]
    assert drifts["deterministic"] is False and drifts["deterministic_demanded"] is True
    assert "has the shape (32768,), the operator's result (32767,)" in shape["vs_float64_unknown"]
    assert shape["schedule"]["follows"] is None and "shape" in shape["schedule"]["candidates"][0]["why"]
    assert "which is no tensor" in nothing["unknown"]
    assert surplus["vs_float64"] is None and surplus["vs_float64_unknown"] == "it has 1 tensors, the operator's result 2"
    assert surplus["schedule"]["follows"] is None
    assert surplus["schedule"]["candidates"][0]["why"] == "it gives 1 tensors, the operator 2"


def test_functions_in_place_and_of_several_results(tmp_path):
    code = """
        def formula(a, b): return a + b
        def add_(a, b): a.add_(b)
        def both(x): return x + 1, x * 2
        def formula_both(x): return x + 1, x * 2
    """
    rows = numerics(
        tmp_path,
        code,
        function("add_", ["float32"], [tensor("a"), tensor("b")], inplace="a"),
        function("both", ["float32"], [X], formula="formula_both"),
    )
    assert [row["schedule"]["follows"] for row in rows] == ["float32, each operation rounded"] * 2
    assert rows[1]["elements"] == 2 * 32768 and rows[0]["deterministic"] and rows[0]["vs_float64"]["max_ulp_all"] <= 0.5


def test_samples_are_the_same_for_a_seed_and_cover_the_binades():
    affine = Function.from_json(function("affine", ["float32"], [tensor("a"), tensor("b"), SCALE]))
    one_, other = (samples(affine, "float32", torch.device("cpu"), 5) for _ in range(2))
    assert all(torch.equal(one_.batches[i]["a"], other.batches[i]["a"]) for i in range(4))
    assert not torch.equal(one_.batches[0]["a"], samples(affine, "float32", torch.device("cpu"), 6).batches[0]["a"])
    exponents = torch.frexp(one_.batches[0]["a"])[1].unique()
    assert int(exponents.min()) < -140 and int(exponents.max()) == 128 and exponents.numel() > 260
    assert all(-4.0 <= batch["scale"] <= 4.0 for batch in one_.batches)
    assert len({batch["scale"] for batch in one_.batches}) == 4
    # Names of one length.
    pair = [{**SCALE, "name": name} for name in ("scale", "shift")]
    other = samples(Function.from_json(function("f", ["float32"], [X, *pair])), "float32", torch.device("cpu"), 0)
    assert all(batch["scale"] != batch["shift"] for batch in other.batches)
    every = samples(Function.from_json(function("f", ["float16"], [X])), "float16", torch.device("cpu"), 0)
    assert every.inputs == "every value" and every.batches[0]["x"].view(torch.int16).unique().numel() == 65536
