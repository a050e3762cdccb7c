"""What a result of `dcuop verify` becomes: text, reports, the gate, the kept file, the comparison. Runs no operator."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from html.parser import HTMLParser
from typing import Any, Dict, List, Optional, Tuple

import pytest
import verify_sample as sample
from conftest import ROOT

sys.path.insert(0, str(ROOT / "python"))
# pylint: disable=wrong-import-position
from dcuop._errors import EnvironmentProblem, UsageProblem  # noqa: E402
from dcuop._verify import (  # noqa: E402
    _compare,
    _format,
    _gate,
    _plots,
    _report_html,
    _report_md,
    _reports,
    _results,
    _view,
    _words,
)

ALL = ("correctness", "numerics", "micro", "e2e")
# Closes each context that a value is put into: an element, an attribute, a style, a comment, a Markdown cell, code.
HOSTILE = (
    "</td><script>alert(1)</script>\"'><img src=x onerror=alert(2)>|`*_[a](http://x)\x1b[31m\u202e&amp;]]>--><style>"
)


class Page(HTMLParser):
    """Text, elements and attributes of a page, and whether each element is closed where it has to be."""

    VOID = {"meta", "link", "br"}
    SHAPES = {"line", "rect", "circle", "polyline", "polygon"}

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.tags: List[Tuple[str, Dict[str, Optional[str]]]] = []
        self._open: List[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: List[Tuple[str, Optional[str]]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: List[Tuple[str, Optional[str]]]) -> None:
        assert tag in self.SHAPES
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.text += data + " "


def failing() -> sample.Result:
    result = sample.passing()
    result["correctness"]["cases"].append(sample.failed_case())
    result["correctness"]["failed"] = 1
    return judged(result)


def judged(result: sample.Result, **demands: float) -> sample.Result:
    result["gate"] = _gate.judge(result, demands, ALL)
    return result


# --- the text view


def test_the_view_of_a_result_that_passes():
    assert _view.text(sample.passing(), here="/work").splitlines() == [
        "backend       hip: Hygon BW1000 (gfx936)",
        "correctness   148 passed, 0 failed, 2 skipped (device only; needs 12.0 GiB of device memory, and 4.0 are free)  4.1s",
        "numerics      max 0.50 ULP vs float64 · float32 inside, one rounding, FMA · NaN/Inf/-0/denormals as the framework",
        "micro         5.92x the reference at 2^24 (p10 to p90: 5.74 to 6.10) · 81 % of copy bandwidth"
        " · pays for its build after 41,000 calls",
        "end to end    steps_per_second 10 % better (p10 to p90: +9.0 % to +11 %) · 37 calls of the operator · adds 3 copies"
        " · saves 2 synchronisations · peak memory +10.0 MiB",
        "gate          passed",
    ]


def test_a_failed_case_is_shown_with_its_smallest_form_its_elements_and_its_command():
    lines = _view.text(failing(), here="/work").splitlines()
    assert lines[2:8] == [
        "  FAILED  affine/float16/size/257",
        "    1 of 257 elements is not what the reference says",
        "    smallest    x [257], values: ones (after 12 runs)",
        "    differs     1 of 257 elements, at most 15,872 ULP",
        "                [256]  got 0.0, want 1.5 (15,872 ULP)",
        "    again       dcuop verify ops/affine --backend hip --case affine/float16/size/257@...=257,values=ones",
    ]
    assert lines[-2:] == [
        "gate          FAILED",
        "              1 of 149 cases failed, the first is affine/float16/size/257.",
    ]


def test_the_command_holds_for_a_shell_and_keeps_the_seed():
    result = {**failing(), "seed": 7, "directory": "/my ops/affine", "backend": "host"}
    assert "dcuop verify '/my ops/affine' --backend host --seed 7 --case " in _view.text(result, here="/work")


def test_only_the_first_failures_are_shown_in_full():
    result = failing()
    result["correctness"]["cases"] += [sample.failed_case(f"affine/float16/size/{n}") for n in range(300, 311)]
    text = _view.text(result)
    assert text.count("FAILED  affine") == _view.MOST_FAILURES
    assert "2 more failed; --report FILE.html shows them all" in text


def test_times_of_an_emulated_grid_are_called_so():
    text = _view.text(judged(sample.emulated(), speedup=0.9))
    assert "emulated grid, 61.0 µs a call at 2^24: the emulation's time, which says nothing of a device" in text
    assert "no script declared ([verify.e2e])" in text
    assert "x the reference" not in text


def test_colour_is_for_terminals_that_want_it(monkeypatch):
    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert _view.colour_wanted(Terminal())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not _view.colour_wanted(Terminal())
    assert "\x1b" not in _view.text(failing())
    assert "\x1b[31;1mFAILED\x1b[0m" in _view.text(failing(), colour=True)


def test_a_result_cannot_steer_the_terminal():
    result = failing()
    result["correctness"]["cases"][-1].update(what="\x1b]0;title\x07\u202e", id="a/b/\x1b[2Jc")
    text = _view.text(result, colour=False)
    assert not [character for character in text if not character.isprintable() and character != "\n"]
    assert "\\x1b]0;title\\x07\\u202e" in text


def test_each_sentence_is_there_in_both_languages_with_the_same_places():
    for key, (english, chinese) in _words._TABLE.items():
        places = [sorted(re.findall(r"\{[^}]*\}", sentence)) for sentence in (english, chinese)]
        assert places[0] == places[1], key


def test_the_view_in_chinese():
    text = _view.text(failing(), language="zh", here="/work")
    assert "正确性        148 个通过，1 个失败，2 个跳过" in text
    assert "内部 float32，仅舍入一次，FMA" in text
    assert "门槛          未通过" in text and "149 个用例中有 1 个失败" in text


def test_numbers():
    assert [_format.number(v) for v in (0, 0.00123, 1.934, 81.23, 1234.5, 1e-9)] == [
        "0",
        "0.00123",
        "1.93",
        "81.2",
        "1,234",
        "1.00e-09",
    ]
    assert [_format.ulp(v) for v in (0.5, 1.0, 1.25, 15872, 3.4e6, None)] == [
        "0.50",
        "1",
        "1.25",
        "15,872",
        "3.4e+06",
        "?",
    ]
    assert [_format.size(v) for v in (1000, 1024, 1025, 1 << 31)] == ["1,000", "2^10", "1,025", "2^31"]
    assert [_format.exact_share(v) for v in (1.0, 0.9999999, 0.5, 0.0)] == ["100 %", "99.9999 %", "50 %", "0 %"]
    assert [_format.microseconds(v) for v in (0.5, 3.21, 1200, 4.5e6)] == ["500 ns", "3.21 µs", "1.20 ms", "4.50 s"]
    assert _format.width("正确性 a") == 8 and _format.padded("门槛", 6) == "门槛  "


# --- the reports


def every_number(page: str) -> None:
    for number in (
        "148 passed, 0 failed, 2 skipped",
        "262,144",
        "81.2346 %",
        "99.9998 %",
        "61.0 µs (59.2 – 62.8)",
        "361 µs (350 – 372)",
        "5.92x (5.74 – 6.10)",
        "1,100",
        "1,358",
        "550",
        "81 %",
        "41,000",
        "+10 %",
        "222",
        "202",
        "37",
        "[64, 1024] [7]",
        "+3",
        "-2",
        "100.0 MiB",
        "110.0 MiB",
        "+10.0 MiB",
        "needs 12.0 GiB of device memory, and 4.0 are free",
        "Hygon BW1000",
        "3f9c1e0a77",
        "gfx936",
        "2.4.1",
        "3.10.12",
        "12.3s",
        "-O3",
        "2026-11-30T07:20:00Z",
    ):
        assert number in page, number


def test_the_html_report_holds_every_number_and_is_whole():
    page = Page(_report_html.render(sample.passing()))
    every_number(page.text)
    assert "affine/float16/refuses/layout" in page.text and "affine/float16/device/2^31" in page.text
    names = [tag for tag, _ in page.tags]
    assert names.count("svg") == 2 and names.count("polyline") == 2 and names.count("polygon") == 2
    assert {"class": "plot", "role": "img", "viewbox": "0 0 640 300"} in [
        each for tag, each in page.tags if tag == "svg"
    ]


def test_the_html_report_fetches_nothing_and_runs_nothing():
    for result in (sample.passing(), failing(), sample.emulated()):
        text = _report_html.render(result)
        page = Page(text)
        assert "script" not in [tag for tag, _ in page.tags]
        for _, attributes in page.tags:
            assert not [name for name in attributes if name in ("src", "srcset", "action") or name.startswith("on")]
            assert attributes.get("href") in (None, "data:,")
        style = text[text.index("<style>") : text.index("</style>")]
        assert "url(" not in style and "@import" not in style
        assert "default-src 'none'" in text


def test_the_html_report_begins_with_the_verdict_and_what_failed():
    text = Page(_report_html.render(failing())).text
    order = ["FAILED", "1 of 149 cases failed", "Failed cases", "Got", "dcuop verify /work/ops/affine", "Numerics"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    for number in ("256", "0.0", "1.5", "15,872", "x [257], values: ones (after 12 runs)"):
        assert number in text


def hostile(value: Any) -> Any:
    """The same with each text that is no word of the schema made hostile."""
    kept = {"passed", "failed", "skipped", "higher"}
    if isinstance(value, dict):
        return {key: inner if key in ("key", "demand") else hostile(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [hostile(inner) for inner in value]
    return value + HOSTILE if isinstance(value, str) and value and value not in kept else value


@pytest.mark.parametrize("language", ["en", "zh"])
def test_nothing_of_a_result_is_taken_for_html(language):
    result = failing()
    result["compare"] = _compare.compare(result, sample.passing())
    expected = {tag for tag, _ in Page(_report_html.render(result, language)).tags}
    page = Page(_report_html.render(hostile(result), language))
    assert {tag for tag, _ in page.tags} == expected
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on") or name == "src"]
    shown = HOSTILE.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")
    assert "affine" + shown in page.text and "\x1b" not in page.text and "\u202e" not in page.text


def test_nothing_of_a_result_is_taken_for_markdown():
    text = _report_md.render(hostile(failing()))
    outside = re.sub(r"\\.", "", text)
    for fence in sorted(set(re.findall("`+", outside)), key=len, reverse=True):
        outside = re.sub(f"(?<!`){fence}(?!`).*?(?<!`){fence}(?!`)", "", outside)
    assert "<" not in outside and "[" not in outside and "`" not in outside
    tables = re.findall(r"(?:^\|.*\n)+", outside, flags=re.MULTILINE)
    assert len(tables) == 8
    for table in tables:
        assert len({line.count("|") for line in table.splitlines()}) == 1


def test_the_markdown_report_holds_every_number():
    text = _report_md.render(sample.passing()).replace("\\", "")
    every_number(text)
    assert "| `affine float16` | formula in float64 | 0.50 | 0.50 | 0.25 | 0 |" in text


def test_a_report_in_chinese_says_so():
    text = _report_html.render(failing(), "zh")
    assert '<html lang="zh-Hans">' in text and "失败的用例" in text


def test_a_result_of_one_layer_becomes_every_report():
    for layer in ALL:
        head = {name: value for name, value in sample.passing().items() if name not in ALL}
        result = {**head, layer: sample.passing()[layer]}
        for language in ("en", "zh"):
            Page(_report_html.render(result, language))
            assert _report_md.render(result, language) and _view.text(result, language)


def test_what_could_not_be_measured_is_said_with_its_reason():
    result = sample.passing()
    numerics = result["numerics"]["functions"][0]
    numerics.update(vs_float64=None, vs_float64_unknown="the formula refuses float64: no kernel", schedule=None)
    numerics["special"][1].update(got="0.0", same=False)
    numerics["framework"] = "emulated"
    result["micro"]["functions"][0]["points"] = [
        {**sample.point(1024, 6.0, 9.0), "reference_us": None, "speedup": None}
    ]
    result["micro"]["functions"][0]["points"][0]["unknown"] = "the formula does not run in float16 here"
    text = _view.text(result)
    assert "error vs float64 unknown: the formula refuses float64: no kernel" in text
    assert "1 of 2 special values unlike the framework: x=-0.0: 0.0, -0.3" in text
    assert "6.00 µs a call at 2^10; no reference: the formula does not run in float16 here" in text
    page = Page(_report_html.render(result)).text
    assert "Not every operation of the formula is there in float16 on this device" in page
    assert "the formula refuses float64: no kernel" in page and "the formula does not run in float16 here" in page


def test_reports_are_written_by_the_ends_of_their_names(tmp_path):
    result = failing()
    for name in ("r.html", "r.HTM", "r.md", "r.json"):
        _reports.write(result, str(tmp_path / name))
    assert (tmp_path / "r.HTM").read_text() == (tmp_path / "r.html").read_text() == _report_html.render(result)
    assert json.loads((tmp_path / "r.json").read_text()) == result
    with pytest.raises(UsageProblem, match=r"\.html, \.md or \.json"):
        _reports.write(result, str(tmp_path / "r.pdf"))
    with pytest.raises(UsageProblem, match="there is no directory"):
        _reports.check(str(tmp_path / "none" / "r.html"))
    (tmp_path / "d.html").mkdir()
    with pytest.raises(EnvironmentProblem, match="d.html"):
        _reports.write(result, str(tmp_path / "d.html"))


def test_a_plot_of_one_size_or_of_nothing():
    axis = ("n", "t")
    assert _plots.times("t", axis, []) is None
    one = _plots.times("t", axis, [_plots.Series("a", "a", [(1000, sample.spread(5.0))])])
    assert one is not None and "polyline" not in one and one.count("<circle") == 2  # the legend's, and its own
    # What is one of a million is seen.
    bars = _plots.histogram("h", axis, ["0", "<=1"], [_plots.Bars("a", "a", [999999, 1])])
    assert 'height="1.5"><title>a, ≤1: 1 (0.0 %)' in bars


# --- the gate


def reasons(result: sample.Result, layers: Tuple[str, ...] = ALL, **demands: float) -> Tuple[Optional[bool], List[str]]:
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


def test_a_script_whose_runs_differ_by_more_than_what_is_missing_is_not_judged():
    passed, said = reasons(sample.passing(), e2e=0.105)
    assert passed is None and said == [
        "e2e is not judged: steps_per_second changed by +10 %, and the runs differ by more than what is missing to +10 %"
        " (p10 to p90: +9.0 % to +11 %). More runs would tell."
    ]


def test_float64_has_nothing_to_be_judged_by():
    result = sample.passing()
    wide = {**result["numerics"]["functions"][0], "dtype": "float64", "vs_float64": None, "no_truth": True}
    result["numerics"]["functions"].append(wide)
    said = ["affine float64: max_ulp is not judged, as nothing wider than float64 says what is right."]
    assert reasons(result, max_ulp=1) == (None, said)


def test_what_fails_without_any_demand():
    assert reasons(failing()) == (False, ["1 of 149 cases failed, the first is affine/float16/size/257."])
    broken = sample.passing()
    broken["e2e"]["error"] = "the operator never ran"
    assert reasons(broken, e2e=0.0) == (False, ["The end-to-end run failed: the operator never ran."])
    nothing = sample.passing()
    nothing["correctness"].update(passed=0, cases=[])
    assert reasons(nothing) == (False, ["No correctness case ran here (2 skipped)."])
    del nothing["correctness"], nothing["micro"]
    assert reasons(nothing) == (False, [f"The layer {layer} gave no result." for layer in ("correctness", "micro")])


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
    gate = _gate.judge(emulated, {"speedup": 1.0}, ALL)
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
    assert _results.spread([5.0, 1.0, 3.0, 2.0, 4.0]) == {"median": 3.0, "p10": 1.4, "p90": 4.6, "runs": 5}
    assert _results.spread([7.0]) == {"median": 7.0, "p10": 7.0, "p90": 7.0, "runs": 1}
    with pytest.raises(ValueError):
        _results.spread([])


# --- comparing


def test_a_comparison_names_what_changed():
    before, now = sample.passing(), failing()
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
