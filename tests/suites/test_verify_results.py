"""What a result of `dcuop verify` is judged by and kept as, and what it is compared with. Runs no operator."""

from __future__ import annotations

import os
import stat
import sys
from typing import List, Optional, Tuple

import pytest
import verify_sample as sample
from conftest import ROOT
from html_page import Page

sys.path.insert(0, str(ROOT / "python"))
# pylint: disable=wrong-import-position
from dcuop._verify import _compare, _gate, _report_html, _results, _view  # noqa: E402


# --- the gate


def reasons(result: sample.Result, layers: Tuple[str, ...] = sample.ALL, **demands: float) -> Tuple[Optional[bool], List[str]]:
    gate = _gate.judge(result, demands, layers)
    return gate["passed"], [one["text"] for one in [*gate["reasons"], *gate["not_judged"]]]


def test_the_gate_passes_what_is_demanded_and_measured():
    assert reasons(sample.passing(), speedup=5.9, max_ulp=0.5, break_even=41000, e2e=0.1) == (True, [])
    assert reasons(sample.passing(), speedup=None, max_ulp=None) == (True, [])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "demand, limit, reason",
    [
        ("speedup", 6.0, "affine float16: 5.92x the reference at 2^24, at least 6.00x is demanded."),
        ("max_ulp", 0.49, "affine float16: 0.50 ULP from float64, at most 0.49 is allowed."),
        (
            "break_even",
            40000,
            "affine float16: pays for its build after 41,000 calls, at most 40,000 are allowed.",
        ),
        (
            "e2e",
            0.111,
            "steps_per_second: +10 % (p10 to p90: +9.0 % to +11 %), where more is better; at least +11 % is demanded.",
        ),
    ],
)
def test_a_demand_that_is_not_met(demand, limit, reason):
    assert reasons(sample.passing(), **{demand: limit}) == (False, [reason])


def test_runs_that_are_too_few_to_tell_are_not_judged():
    passed, said = reasons(sample.passing(), e2e=0.105)
    assert passed is None and said == [
        "e2e is not judged: steps_per_second changed by +10 %, and 5 runs do not rule out +10 % (90 % confidence: +9.5 % to"
        " +10 %). More runs would tell."
    ]
    assert reasons(sample.passing(), speedup=5.95) == (
        None,
        [
            "speedup is not judged: affine float16: 5.92x the reference at 2^24, and 25 runs do not rule out 5.95x (90 %"
            " confidence: 5.86 to 5.98). More runs would tell."
        ],
    )


@pytest.mark.parametrize("runs, passed", [(5, None), (101, False)])
def test_more_runs_do_tell(runs, passed):
    """Runs that differ by as much as ever, about a change of -5 %."""
    result = sample.passing()
    result["e2e"]["change"] = _results.spread([-0.05 + 0.12 * (at / (runs - 1) - 0.5) for at in range(runs)])
    assert result["e2e"]["change"]["p90"] > -0.005
    assert reasons(result, e2e=-0.02)[0] is passed


def test_float64_has_nothing_to_be_judged_by():
    result = sample.passing()
    wide = {**result["numerics"]["functions"][0], "dtype": "float64", "vs_float64": None, "no_truth": True}
    result["numerics"]["functions"].append(wide)
    said = ["affine float64: max_ulp is not judged, as nothing wider than float64 says what is right."]
    assert reasons(result, max_ulp=1) == (None, said)


def test_what_fails_without_any_demand():
    assert reasons(sample.failing()) == (False, ["1 of 149 cases failed, the first is affine/float16/size/257."])
    broken = sample.passing()
    broken["e2e"]["error"] = "the operator never ran"
    assert reasons(broken, e2e=0.0) == (False, ["The end-to-end run failed: the operator never ran."])
    nothing = sample.passing()
    nothing["correctness"].update(passed=0, cases=[])
    assert reasons(nothing) == (False, ["No correctness case ran here (2 skipped)."])
    del nothing["correctness"], nothing["micro"]
    assert reasons(nothing) == (False, [f"The layer {layer} gave no result." for layer in ("correctness", "micro")])


def test_calls_that_fail_or_differ_where_they_are_measured_fail_the_gate():
    result = sample.passing()
    [row] = result["numerics"]["functions"]
    row["deterministic"] = False
    assert reasons(result)[0] is True  # deterministic = false
    row["deterministic_demanded"] = True
    assert reasons(result) == (
        False,
        [
            "numerics, affine float16: calls with the same arguments did not give the same bits, and the contract does not"
            " say deterministic = false."
        ],
    )
    assert reasons(result, ("micro",))[0] is True
    result = sample.passing()
    result["numerics"]["functions"] = [
        {"function": "affine", "dtype": "float16", "unknown": "the function failed: RuntimeError: no", "failed": True}
    ]
    result["micro"]["functions"][0]["points"][1].update(unknown="the function failed: RuntimeError: no", failed=True)
    assert reasons(result) == (
        False,
        [
            "numerics, affine float16: the function failed: RuntimeError: no.",
            "micro, affine float16, 1048576 elements: the function failed: RuntimeError: no.",
        ],
    )


def test_what_could_not_be_measured_does_not_pass():
    result = sample.passing()
    result["numerics"]["functions"][0].update(vs_float64=None, vs_float64_unknown="the formula refuses float64.")
    result["micro"]["functions"][0].update(points=[], unknown="out of memory", break_even_calls=None)
    result["e2e"] = None
    passed, said = reasons(result, speedup=0.1, max_ulp=9, break_even=1e9, e2e=-1)
    assert passed is False
    assert said == [
        "speedup is demanded and was not measured here (affine float16): out of memory.",
        "max_ulp is demanded and was not measured here (affine float16): the formula refuses float64.",
        "break_even is demanded and was not measured here (affine float16): out of memory.",
        "e2e is demanded and was not measured here: no script is declared in [verify.e2e].",
    ]
    result["micro"]["functions"] = []
    assert reasons(result, speedup=0.1) == (False, ["speedup is demanded and was not measured here."])


def test_what_never_pays_is_a_reason():
    result = sample.passing()
    result["micro"]["functions"][0].update(break_even_calls=None, never_pays=True)
    assert reasons(result, break_even=10)[1] == [
        "affine float16: never pays for its build, as it is no faster than the reference; 10 calls are allowed."
    ]


def test_a_break_even_that_the_runs_do_not_tell_is_not_judged():
    result = sample.passing()
    result["micro"]["functions"][0].update(break_even_calls=None, break_even_undecided=True, break_even_why="noise")
    gate = _gate.judge(result, {"break_even": 10}, ("correctness", "numerics", "micro", "e2e"))
    assert (gate["passed"], gate["reasons"]) == (None, [])
    assert [said["text"] for said in gate["not_judged"]] == [
        "break_even is not judged: affine float16: the runs do not tell whether a call is faster than the reference's."
        " More runs would tell."
    ]


def test_infinities_that_float64_has_not_fail_the_demand_on_ulp():
    result = sample.passing()
    result["numerics"]["functions"][0]["vs_float64"]["unmatched"] = 3
    assert reasons(result, max_ulp=100) == (
        False,
        ["affine float16: 3 elements are infinite or NaN where float64's are not, or the reverse."],
    )


def test_the_emulated_grid_is_not_judged_by_its_time():
    emulated = sample.emulated()
    passed, said = reasons(emulated, speedup=100.0, max_ulp=0.5)
    assert passed is None
    assert said == ["speedup was not measured here: the grid is emulated, and its times say nothing of a device."]
    assert reasons(emulated, speedup=100.0, max_ulp=0.1)[0] is False
    gate = _gate.judge(emulated, {"speedup": 1.0}, sample.ALL)
    assert (
        _gate.exit_code(gate) == 0
        and _gate.exit_code({"passed": False}) == 1
        and _gate.exit_code({"passed": True}) == 0
    )


def test_a_layer_that_was_not_asked_for_is_not_judged():
    result = {name: value for name, value in sample.passing().items() if name != "micro"}
    assert reasons(result, ("correctness",), speedup=1.0) == (
        None,
        ["speedup was not measured here: the layer micro was not asked for."],
    )


# --- kept results


def test_a_kept_result_is_private_and_what_it_was(tmp_path):
    result = sample.passing()
    assert _results.keep(result, str(tmp_path)) == ""
    path = tmp_path / "v1" / "verify" / "affine" / "3f9c1e0a77.json"
    assert _results.read(path) == (result, ())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert os.listdir(path.parent) == [path.name]


def test_layers_that_this_run_left_out_are_kept_from_the_earlier_one(tmp_path):
    first = sample.passing()
    _results.keep(first, str(tmp_path))
    second = {name: value for name, value in sample.passing().items() if name not in ("micro", "e2e")}
    second["when"] = "2026-12-01T00:00:00Z"
    assert _results.keep(second, str(tmp_path)) == ""
    kept = _results.read(_results.place(str(tmp_path), "affine", "3f9c1e0a77")).result
    assert kept is not None and kept["micro"] == first["micro"] and kept["when"] == second["when"]
    assert kept["carried"] == {"micro": first["when"], "e2e": first["when"]}
    assert "measured 2026-11-30T07:20:00Z, in an earlier run on this entry" in Page(_report_html.render(kept)).text


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 2, "entry": "x"}', '{"schema": 1}', "\x00", "[" * 100000])
def test_a_damaged_kept_result_counts_as_absent_and_is_said(tmp_path, text):
    result = sample.passing()
    path = _results.place(str(tmp_path), "affine", "77aa")
    path.parent.mkdir(parents=True)
    path.write_text(text)
    found = _results.other(result, str(tmp_path))
    assert found.result is None and str(path) in found.notes[0] and "counts as absent" in found.notes[0]
    assert _results.read(path.with_name("none.json")) == (None, ())


def test_what_cannot_be_kept_is_said_and_harms_nothing(tmp_path):
    (tmp_path / "v1").write_text("a file")
    assert _results.keep(sample.passing(), str(tmp_path)).startswith("the result was not kept for --compare: ")
    assert "cannot name" in _results.keep({**sample.passing(), "op": "../../x"}, str(tmp_path / "c"))


def test_the_newest_other_entry_of_the_same_backend_is_compared_with(tmp_path):
    result = sample.passing()
    assert _results.other(result, str(tmp_path)).notes == (
        "no result of another entry of affine on this backend is kept",
    )
    for entry, when, backend in (
        ("aa01", "2026-01-01", "hip"),
        ("aa02", "2026-02-01", "hip"),
        ("bb03", "2026-03-01", "host"),
    ):
        _results.keep({**sample.passing(), "entry": entry, "when": when, "backend": backend}, str(tmp_path))
    _results.keep(result, str(tmp_path))

    def found(wanted: str = "") -> str:
        kept = _results.other(result, str(tmp_path), wanted)
        return kept.result["entry"] if kept.result is not None else kept.notes[0]

    assert found() == "aa02" and found("bb03") == "bb03" and found("bb") == "bb03"
    assert found("aa") == "2 kept results begin with aa; kept: 3f9c1e0a77, aa01, aa02, bb03"
    assert found("cc") == "no result of cc is kept; kept: 3f9c1e0a77, aa01, aa02, bb03"


def test_numbers_that_json_has_none_for_become_null():
    assert _results.to_json({"a": float("nan"), "b": [float("inf"), 1.5], "c": {"d": -float("inf")}}) == (
        '{"a": null, "b": [null, 1.5], "c": {"d": null}}\n'
    )


def test_spread():
    ends = {"low": 1.0, "high": 5.0}
    assert _results.spread([5.0, 1.0, 3.0, 2.0, 4.0]) == {"median": 3.0, "p10": 1.4, "p90": 4.6, **ends, "runs": 5}
    assert _results.spread([7.0]) == {"median": 7.0, "p10": 7.0, "p90": 7.0, "low": 7.0, "high": 7.0, "runs": 1}
    # Of 25 values P(at most 7 are below the median) = 2.2 %, P(at most 8) = 5.4 %.
    many = _results.spread([float(value) for value in range(1, 26)])
    assert (many["low"], many["median"], many["high"]) == (8.0, 13.0, 18.0)
    with pytest.raises(ValueError):
        _results.spread([])


# --- comparing


def test_what_a_result_holds_is_documented():
    for result in (sample.passing(), sample.failing()):
        result["compare"] = _compare.compare(result, sample.passing())
        assert sample.undocumented(sample.judged(result)) == set()


def test_a_comparison_names_what_changed():
    before, now = sample.passing(), sample.failing()
    before.update(entry="77aa01bc", when="2026-11-29T10:00:00Z")
    before["correctness"]["cases"][0]["status"] = "failed"
    before["micro"]["functions"][0]["points"][2] = sample.point(1 << 24, 75.0, 362.0)
    before["numerics"]["functions"][0]["vs_float64"]["max_ulp"] = 2.0
    before["e2e"]["operator"] = sample.spread(100.0, 0.01, 5)
    compared = _compare.compare(now, before)
    assert (compared["entry"], compared["note"]) == ("77aa01bc", "")
    # What broke comes first.
    assert compared["verdicts"] == [
        {"id": "affine/float16/size/257", "before": "absent", "now": "failed"},
        {"id": "affine/float16/size/0", "before": "failed", "now": "passed"},
    ]
    follows = "float32 inside, one rounding, FMA"
    assert compared["numerics"] == [
        {
            "function": "affine",
            "dtype": "float16",
            "before": {"max_ulp": 2.0, "follows": follows},
            "now": {"max_ulp": 0.5, "follows": follows},
        }
    ]
    assert [(row["n"], row["verdict"], row["reference"]) for row in compared["speed"]] == [
        (1024, "no change", "no change"),
        (1 << 20, "no change", "no change"),
        (1 << 24, "better", "no change"),
    ]
    assert compared["speed"][2]["change"] == pytest.approx(61.0 / 75.0 - 1)
    assert compared["e2e"]["verdict"] == "better" and compared["e2e"]["change"] == pytest.approx(1.217)
    text = _view.text({**now, "compare": compared})
    assert "compare       against 77aa01bc of 2026-11-29T10:00:00Z: 2 cases changed verdict" in text
    assert "affine float16 at 2^24: 75.0 µs → 61.0 µs a call (-19 %): better" in text
    assert "affine float16: max_ulp 2 → 0.5" in text
    page = Page(_report_html.render({**now, "compare": compared})).text
    assert "75.0 µs (72.8 – 77.2)" in page and "max_ulp 2 → 0.5" in page


@pytest.mark.parametrize(
    "before, now, better, verdict",
    [
        (10.0, 10.5, "lower", "no change"),  # 9.7 to 10.3 meets 10.185 to 10.815
        (10.0, 10.7, "lower", "worse"),
        (10.0, 9.3, "lower", "better"),
        (10.0, 10.7, "higher", "better"),
        (10.0, 9.3, "higher", "worse"),
    ],
)
def test_a_change_inside_the_spread_is_no_change(before, now, better, verdict):
    assert _compare.verdict(sample.spread(before), sample.spread(now), better) == verdict


def test_times_of_different_devices_are_not_compared():
    compared = _compare.compare(sample.passing(), sample.emulated())
    assert compared["speed"] == [] and compared["e2e"] is None
    assert compared["note"] == "times are not compared: cpu (emulated grid) then, Hygon BW1000 now"


def test_where_there_is_nothing_to_compare_with():
    result = {**sample.passing(), "compare": _compare.nothing_to_compare("no other entry is kept")}
    assert "compare       no other entry is kept" in _view.text(result)
    assert "no other entry is kept" in Page(_report_html.render(result)).text
