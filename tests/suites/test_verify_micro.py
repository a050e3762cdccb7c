"""The micro layer of `dcuop verify`, by a clock that the operators themselves move: no time is measured here."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any, Dict, List

import pytest
from verify_request import SCALE, Silent, X, function, request, tensor

torch = pytest.importorskip("torch")

# pylint: disable=wrong-import-position
from dcuop._verify import _clock, _micro, _results  # noqa: E402
from dcuop._verify._contract import Function  # noqa: E402
from dcuop._verify._expressions import evaluate  # noqa: E402
from dcuop._verify._target import Target  # noqa: E402

# Each call takes what is written here, in microseconds, by a clock that stands still otherwise.
CODE = """
    import verify_fake_clock as clock
    def formula(x, scale):
        clock.pass_by("reference", 30.0 + x.numel() / 100)
        return x * scale
    def fast(x, scale):
        clock.pass_by("candidate", 10.0 + x.numel() / 200)
        return x * scale
    def slow(x, scale):
        clock.pass_by("candidate", 100.0 + x.numel())
        return x * scale
    def very_slow(x, scale):
        clock.pass_by("reference", 1e6)
        return x * scale
    def fails(x, scale):
        if x.numel() > 1000: raise RuntimeError("out of memory")
        return fast(x, scale)
    def about_as_fast(x, scale):
        clock.pass_by("candidate", (30.0 + x.numel() / 100) * (0.8 if clock.sample() % 2 else 1.3))
        return x * scale
    def grows(x, scale):
        clock.note("candidate", x)
        clock.pass_by("candidate", 100.0)
        return x.mul_(3)
    def grown(x, scale):
        clock.note("reference", x)
        clock.pass_by("reference", 100.0)
        return x.mul_(3)
    def narrow_only(x, scale):
        raise RuntimeError('"mul" not implemented for this')
"""


class FakeClock:
    """Time is what the calls say they take; every third takes a tenth more."""

    name = "fake"

    def __init__(self) -> None:
        self.now = 0.0
        self.calls: List[str] = []
        self.samples = 0
        self.seen: Dict[Any, float] = {}

    def note(self, who: str, x: Any) -> None:
        """What the first call of each sample was given."""
        self.seen.setdefault((who, self.samples), float(x.flatten()[0]))

    def pass_by(self, who: str, us: float) -> None:
        self.calls.append(who)
        self.now += us * (1.1 if len(self.calls) % 3 == 0 else 1.0)

    def measure(self, work: Any, calls: int) -> float:
        before, made = self.now, len(self.calls)
        self.samples += 1
        for _ in range(calls):
            work()
        if len(self.calls) == made:
            self.now += 20.0 * calls  # a copy
        return self.now - before


@pytest.fixture
def clock(monkeypatch):
    fake = FakeClock()
    module = types.ModuleType("verify_fake_clock")
    module.pass_by = fake.pass_by  # type: ignore[attr-defined]
    module.sample = lambda: fake.samples  # type: ignore[attr-defined]
    module.note = fake.note  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "verify_fake_clock", module)
    return fake


def micro(directory: Path, clock: Any, name: str = "fast", backend: str = "host", **more: Any) -> Dict[str, Any]:
    contract = {"micro": {"sizes": [4096, 1000], "runs": more.pop("runs", 5)}}
    formula = more.pop("formula", "formula")
    build = {"seconds": more.pop("build", 12.0), "hit": True}
    asked = request(
        directory,
        CODE,
        [function(name, ["float32"], [X, SCALE], formula=formula, **more)],
        contract=contract,
        build=build,
        backend=backend,
    )
    target = Target(asked, torch.device("cpu"), None)
    result = _micro.run(target, asked, Silent(), clock=clock)
    _results.to_json(result)
    return result


def test_a_call_is_timed_beside_the_reference_and_a_copy(tmp_path, clock):
    result = micro(tmp_path, clock, backend="hip", bytes="2 * n * size", flops="n")
    assert (result["clock"], result["emulated"], result["build_seconds"]) == ("fake", False, 12.0)
    [row] = result["functions"]
    small, large = row["points"]
    assert (small["n"], large["n"], row["unknown"], large["unknown"]) == (1000, 4096, "", "")
    assert large["candidate_us"]["runs"] == large["reference_us"]["runs"] == large["copy_us"]["runs"] == 5
    assert large["candidate_us"]["median"] == pytest.approx(30.48, rel=0.11)
    assert large["reference_us"]["median"] == pytest.approx(70.96, rel=0.11)
    assert large["speedup"]["median"] == pytest.approx(70.96 / 30.48, rel=0.11)
    assert large["candidate_us"]["p10"] <= large["candidate_us"]["median"] <= large["candidate_us"]["p90"]
    assert large["bytes"] == 2 * 4096 * 4 and large["flops"] == 4096
    us = large["candidate_us"]["median"]
    assert large["gbps"] == pytest.approx(32768 / us / 1e3) and large["gflops"] == pytest.approx(4096 / us / 1e3)
    assert large["copy_us"]["median"] == 20.0 and large["copy_gbps"] == pytest.approx(32768 / 20.0 / 1e3)
    assert large["of_copy"] == pytest.approx(20.0 / us)
    saved = large["reference_us"]["median"] - us
    assert row["break_even_calls"] == pytest.approx(12e6 / saved, abs=1) and row["never_pays"] is False


def test_both_take_turns_with_as_many_calls_a_sample(tmp_path, clock):
    point = micro(tmp_path, clock)["functions"][0]["points"][1]
    # 30 us a call: 64 calls make 2 ms, 128 are the next power of two for the faster one.
    assert point["inner"] in (64, 128)
    inner, tail = point["inner"], clock.calls[-10 * point["inner"] :]
    turns = [tail[at : at + inner] for at in range(0, len(tail), inner)]
    assert all(len(set(turn)) == 1 for turn in turns)
    assert [turn[0] for turn in turns] == ["candidate", "reference", "reference", "candidate"] * 2 + [
        "candidate",
        "reference",
    ]


def test_a_formula_that_is_far_slower_is_not_run_as_often(tmp_path, clock):
    """2 ms of the operator are 64 calls; as many of the formula would take more than a minute."""
    point = micro(tmp_path, clock, backend="hip", formula="very_slow", runs=3)["functions"][0]["points"][1]
    assert point["inner"] in (64, 128) and clock.now < 30e6
    assert point["reference_us"]["median"] == pytest.approx(1e6, rel=0.11) and point["reference_us"]["runs"] == 3
    assert point["speedup"]["median"] == pytest.approx(1e6 / 30.48, rel=0.11)


def test_an_emulated_grid_has_times_and_no_worth(tmp_path, clock):
    result = micro(tmp_path, clock, bytes="8 * n")
    [row] = result["functions"]
    assert result["emulated"] and row["points"][1]["candidate_us"] and row["points"][1]["copy_us"] is None
    assert row["break_even_calls"] is None and row["never_pays"] is False
    assert row["break_even_why"] == "the grid is emulated: nothing says when a build pays on a device"


def test_an_emulated_grid_is_not_timed_at_great_sizes(tmp_path, clock, monkeypatch):
    monkeypatch.setattr(_micro, "MOST_EMULATED", 2000)
    small, large = micro(tmp_path, clock)["functions"][0]["points"]
    assert small["candidate_us"] and (large["n"], large["candidate_us"]) == (4096, None)
    assert large["unknown"] == "not timed: it would be long, and the grid is emulated"
    # The least size is, whatever it is.
    monkeypatch.setattr(_micro, "MOST_EMULATED", 1)
    assert micro(tmp_path, clock)["functions"][0]["points"][0]["candidate_us"]
    assert micro(tmp_path, clock, backend="hip")["functions"][0]["points"][1]["candidate_us"]


def test_what_is_no_faster_never_pays(tmp_path, clock):
    [row] = micro(tmp_path, clock, "slow", backend="hip")["functions"]
    assert (row["break_even_calls"], row["never_pays"]) == (None, True)
    assert row["break_even_why"] == "a call is no faster than the reference's"
    [row] = micro(tmp_path / "unknown", clock, backend="hip", build=None)["functions"]
    assert (row["break_even_calls"], row["never_pays"]) == (None, False)
    assert row["break_even_why"] == "how long the build took is not known"


def test_what_is_faster_now_and_then_is_undecided(tmp_path, clock):
    [row] = micro(tmp_path, clock, "about_as_fast", backend="hip", runs=9)["functions"]
    speedup = row["points"][1]["speedup"]
    assert speedup["low"] < 1.0 < speedup["high"], speedup
    assert (row["break_even_calls"], row["never_pays"], row["break_even_undecided"]) == (None, False, True)
    assert row["break_even_why"] == "the runs do not tell whether a call is faster than the reference's"


def test_what_is_written_in_place_is_what_it_was_before_each_sample(tmp_path, clock):
    [row] = micro(tmp_path, clock, "grows", backend="hip", formula="grown", inplace="x", runs=7)["functions"]
    assert row["points"][1]["candidate_us"] and row["points"][1]["inner"] > 8
    # One value a size, whoever wrote it.
    assert {who for who, _ in clock.seen} == {"candidate", "reference"} and len(clock.seen) > 28
    assert len(set(clock.seen.values())) <= 2, clock.seen


def test_what_takes_too_long_is_run_less_often(tmp_path, clock, monkeypatch):
    monkeypatch.setattr(_micro, "_BUDGET", 0.02)
    point = micro(tmp_path, clock, "slow", backend="hip", runs=25)["functions"][0]["points"][1]
    assert 3 <= point["candidate_us"]["runs"] == point["reference_us"]["runs"] < 25


def test_what_fails_is_said_where_it_fails(tmp_path, clock):
    [row] = micro(tmp_path, clock, "fails", backend="hip")["functions"]
    small, large = row["points"]
    assert small["candidate_us"] and large["candidate_us"] is None
    assert large["unknown"] == "the function failed: RuntimeError: out of memory" and "failed" not in large
    assert row["break_even_calls"] is None and row["break_even_why"] == large["unknown"]


def test_without_a_reference_the_operator_is_timed_alone(tmp_path, clock):
    [row] = micro(tmp_path, clock, backend="hip", formula="narrow_only", bytes="m", flops="n ** n")["functions"]
    point = row["points"][1]
    assert point["candidate_us"] and point["reference_us"] is None and point["speedup"] is None
    assert point["unknown"].split("; ") == [
        "bytes: there is no m",
        "there are n, size",
        "flops: n ** n: (34, 'Numerical result out of range')",
        'the formula does not run in float32 on cpu: RuntimeError: "mul" not implemented for this',
    ]
    [row] = micro(tmp_path / "b", clock, backend="hip", formula="narrow_only")["functions"]
    assert row["points"][1]["unknown"] == (
        'the formula does not run in float32 on cpu: RuntimeError: "mul" not implemented for this'
    )


def test_the_hosts_clock_counts_calls_and_samples_are_long_enough():
    made: List[int] = []
    assert _clock.HostClock().measure(lambda: made.append(1), 7) > 0.0 and len(made) == 7
    ticks = FakeClock()
    assert _clock.calls_for(ticks, lambda: ticks.pass_by("a", 1.0), least_us=100.0) == 128
    assert _clock.calls_for(ticks, lambda: ticks.pass_by("a", 1000.0), least_us=100.0) == 1
    assert _clock.calls_for(ticks, lambda: ticks.pass_by("b", 0.0), least_us=1e9, most=8) == 8
    before = len(ticks.calls)
    _clock.warm_up(ticks, lambda: ticks.pass_by("c", 10.0), 100.0)
    assert len(ticks.calls) - before in (9, 12)
    before = len(ticks.calls)
    _clock.warm_up(ticks, lambda: ticks.pass_by("c", 2e6), 100.0)
    assert len(ticks.calls) - before == 1


def test_dimensions_have_their_names():
    gemm = Function.from_json(
        function("f", ["float16"], [tensor("x", "...", "m", "k"), tensor("w", "k", "cols"), tensor("b", "n")])
    )
    arguments = {"x": torch.ones(2, 3, 5, 7, dtype=torch.float16), "w": torch.ones(7, 11), "b": torch.ones(13)}
    names = _micro.counts(gemm, arguments)
    # n is always the elements of the first tensor.
    assert names == {"m": 5.0, "k": 7.0, "cols": 11.0, "n": 210.0, "size": 2.0}
    assert evaluate("2 * m * k * cols", names) == 770.0
    shared = [tensor("x", "...", "m"), tensor("w", "m", "rest", broadcast=True)]
    arguments = {"x": torch.ones(2, 3), "w": torch.ones(1, 4)}
    names = _micro.counts(Function.from_json(function("f", ["float32"], shared)), arguments)
    assert names == {"m": 3.0, "rest": 4.0, "n": 6.0, "size": 4.0}


@pytest.mark.parametrize(
    "text, value",
    [
        ("2 * n * size", 4096.0),
        ("-n + 3.5 * (2 - 1)", -1020.5),
        ("n // 3 + 2 ** 3", 349.0),
    ],
)
def test_arithmetic(text, value):
    assert evaluate(text, {"n": 1024.0, "size": 2.0}) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    ["", "n +", "__import__('os')", "n.real", "n if n else 1", "[n]", "'n'", "1 / 0", "9 ** 9 ** 9 ** 9", "m", "True"]
    + ["(" * 900 + "n" + ")" * 90, "n" * 1001, "(-1) ** 0.5", "1e308 * 10", "n % 10", "max(n, 1)", "abs(n)", "lambda: 1", "n := 3"],
)
def test_what_is_no_arithmetic_is_refused(text):
    with pytest.raises(ValueError):
        evaluate(text, {"n": 1024.0})
