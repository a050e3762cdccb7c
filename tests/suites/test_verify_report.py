"""What a result of `dcuop verify` becomes: text, reports, the gate, the kept file, the comparison. Runs no operator."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import pytest
import verify_sample as sample
from conftest import ROOT
from html_page import Page

sys.path.insert(0, str(ROOT / "python"))
# pylint: disable=wrong-import-position
from dcuop._errors import EnvironmentProblem, UsageProblem  # noqa: E402
from dcuop._verify import (  # noqa: E402
    _compare,
    _format,
    _plots,
    _report_html,
    _report_md,
    _reports,
    _view,
    _words,
)

# Closes each context that a value is put into: an element, an attribute, a style, a comment, a Markdown cell, code.
HOSTILE = (
    "</td><script>alert(1)</script>\"'><img src=x onerror=alert(2)>|`*_[a](http://x)\x1b[31m\u202e&amp;]]>--><style>"
)


# --- the text view


def test_the_view_of_a_result_that_passes():
    assert _view.text(sample.passing(), here="/kernels").splitlines() == [
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
    lines = _view.text(sample.failing(), here="/kernels").splitlines()
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
    result = {**sample.failing(), "seed": 7, "directory": "/my ops/affine", "backend": "host"}
    assert "dcuop verify '/my ops/affine' --backend host --seed 7 --case " in _view.text(result, here="/kernels")


def test_only_the_first_failures_are_shown_in_full():
    result = sample.failing()
    result["correctness"]["cases"] += [sample.failed_case(f"affine/float16/size/{n}") for n in range(300, 311)]
    text = _view.text(result)
    assert text.count("FAILED  affine") == _view.MOST_FAILURES
    assert "2 more failed; --report FILE.html shows them all" in text


def test_times_of_an_emulated_grid_are_called_so():
    text = _view.text(sample.judged(sample.emulated(), speedup=0.9))
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
    assert "\x1b" not in _view.text(sample.failing())
    assert "\x1b[31;1mFAILED\x1b[0m" in _view.text(sample.failing(), colour=True)


def test_a_result_cannot_steer_the_terminal():
    result = sample.failing()
    result["correctness"]["cases"][-1].update(what="\x1b]0;title\x07\u202e", id="a/b/\x1b[2Jc")
    text = _view.text(result, colour=False)
    assert not [character for character in text if not character.isprintable() and character != "\n"]
    assert "\\x1b]0;title\\x07\\u202e" in text


def test_each_sentence_is_there_in_both_languages_with_the_same_places():
    for key, (english, chinese) in _words._TABLE.items():
        places = [sorted(re.findall(r"\{[^}]*\}", sentence)) for sentence in (english, chinese)]
        assert places[0] == places[1], key


def test_the_view_in_chinese():
    text = _view.text(sample.failing(), language="zh", here="/kernels")
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
    for result in (sample.passing(), sample.failing(), sample.emulated()):
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
    text = Page(_report_html.render(sample.failing())).text
    order = ["FAILED", "1 of 149 cases failed", "Failed cases", "Got", "dcuop verify /kernels/ops/affine", "Numerics"]
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
    result = sample.failing()
    result["compare"] = _compare.compare(result, sample.passing())
    expected = {tag for tag, _ in Page(_report_html.render(result, language)).tags}
    page = Page(_report_html.render(hostile(result), language))
    assert {tag for tag, _ in page.tags} == expected
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on") or name == "src"]
    shown = HOSTILE.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")
    assert "affine" + shown in page.text and "\x1b" not in page.text and "\u202e" not in page.text


def test_nothing_of_a_result_is_taken_for_markdown():
    text = _report_md.render(hostile(sample.failing()))
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
    text = _report_html.render(sample.failing(), "zh")
    assert '<html lang="zh-Hans">' in text and "失败的用例" in text


def test_a_result_of_one_layer_becomes_every_report():
    for layer in sample.ALL:
        head = {name: value for name, value in sample.passing().items() if name not in sample.ALL}
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
    result = sample.failing()
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
