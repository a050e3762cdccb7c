"""A result as Markdown (GitHub's tables), for a pull request or an issue: what failed comes first."""

from __future__ import annotations

import re
from typing import Any, List, Mapping, Sequence

from . import _format
from ._cells import counts_rows, environment, metric_rows, metric_titles, shapes_of, times_cells, times_titles
from ._summary import command, rows, schedule_text, skipped_by_reason, where
from ._view import differ_text, element_text, smallest_text
from ._words import Words

Json = Mapping[str, Any]

#: Failed cases that are shown in full.
_MOST_FAILURES = 50
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&$])")


def render(result: Json, language: str = "en") -> str:
    """The document. Nothing of `result` is taken for Markdown or HTML."""
    words = Words(language)
    parts = [
        _header(result, words),
        _failures(result, words),
        _numerics(result, words),
        _micro(result, words),
        _e2e(result, words),
        _skipped(result, words),
        _heading(words.say("environment")) + _table(["", ""], environment(result, words)),
    ]
    return "\n".join(part for part in parts if part)


def escaped(text: Any) -> str:
    """One line of text that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", _format.printable(" ".join(str(text).split())))


def code(text: Any) -> str:
    """`text`, whatever it holds, as code in a line or in a table's cell."""
    shown = _format.printable(" ".join(str(text).split()))
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    blank = " " if "`" in shown else ""
    # GitHub takes the backslash away again even inside code, in tables; elsewhere there is none to see.
    return f"{fence}{blank}{shown}{blank}{fence}"


def _heading(text: str) -> str:
    return f"## {escaped(text)}\n\n"


def _table(titles: Sequence[str], cells: Sequence[Sequence[Any]], codes: Sequence[int] = ()) -> str:
    """`codes`: the columns whose cells are code."""

    def cell(at: int, text: Any) -> str:
        return code(text).replace("|", "\\|") if at in codes and str(text) else escaped(text)

    lines = ["| " + " | ".join(escaped(title) for title in titles) + " |", "|" + " --- |" * len(titles)]
    lines += ["| " + " | ".join(cell(at, text) for at, text in enumerate(row)) + " |" for row in cells]
    return "\n".join(lines) + "\n"


def _header(result: Json, words: Words) -> str:
    cells: List[List[str]] = []
    for row in sorted(rows(result, words), key=lambda one: one.layer != "gate"):
        for at, line in enumerate(row.lines):
            cells.append([words.say(row.layer) if at == 0 else "", line])
    return f"# {escaped(words.say('title', op=result.get('op', '?')))}\n\n" + _table(["", ""], cells)


def _failures(result: Json, words: Words) -> str:
    failed = [case for case in (result.get("correctness") or {}).get("cases", ()) if case["status"] == "failed"]
    if not failed:
        return ""
    text = _heading(words.say("failures"))
    for case in failed[:_MOST_FAILURES]:
        lines = [f"- {code(case['id'])}: {escaped(words.known(case.get('what', '')))}"]
        if case.get("smallest"):
            lines.append(
                "  - "
                + escaped(
                    words.say("labelled", label=words.say("smallest"), text=smallest_text(case["smallest"], words))
                )
            )
        if case.get("differ"):
            lines.append(
                "  - "
                + escaped(words.say("labelled", label=words.say("differs"), text=differ_text(case["differ"], words)))
            )
        lines += [f"  - {code(element_text(one, words))}" for one in case.get("differing") or ()]
        again = command(result, case, str(result.get("directory") or result.get("op")))
        lines.append(f"  - {words.say('again')}: {code(again)}")
        text += "\n".join(lines) + "\n"
    if len(failed) > _MOST_FAILURES:
        text += "- " + escaped(words.say("more_failures", count=len(failed) - _MOST_FAILURES)) + "\n"
    return text


def _numerics(result: Json, words: Words) -> str:
    functions = [one for one in (result.get("numerics") or {}).get("functions", ()) if not one.get("unknown")]
    if not functions:
        return ""
    titles = ["function", "error_against", "max", "max_all", "mean", "not_comparable"]
    cells: List[List[str]] = []
    lines: List[str] = []
    for one in functions:
        for key, name in (("vs_float64", "float64"), ("vs_framework", "framework_path")):
            measured = one.get(key)
            if measured:
                figures = [measured.get("max_ulp"), measured.get("max_ulp_all"), measured.get("mean_ulp")]
                unmatched = _format.count(measured.get("unmatched", 0))
                cells.append([where(one), words.say(name), *(_format.ulp(figure) for figure in figures), unmatched])
        if one.get("inputs"):
            inputs = words.say("inputs", inputs=words.known(one["inputs"]), count=one["elements"])
            lines.append(f"- {code(where(one))}: {escaped(inputs)}")
        if one.get("schedule"):
            lines.append(f"- {code(where(one))}: {escaped(schedule_text(one['schedule'], words))}")
            lines += [
                f"  - {escaped(words.schedule(each['name']))}: {escaped(_format.exact_share(each['same']))}"
                for each in one["schedule"].get("candidates", ())
                if each.get("same") is not None
            ]
        lines += [
            f"- {code(where(one))}, {code(words.known(each['input']))}: {code(words.known(each['got']))},"
            f" {words.say('framework')} {code(words.known(each['framework']))}"
            for each in one.get("special", ())
            if not each["same"]
        ]
    text = _heading(words.say("numerics")) + _table([words.say(key) for key in titles], cells, codes=(0,))
    return text + ("\n" + "\n".join(lines) + "\n" if lines else "")


def _micro(result: Json, words: Words) -> str:
    layer = result.get("micro") or {}
    cells = [[where(one), *times_cells(point)] for one in layer.get("functions", ()) for point in one.get("points", ())]
    if not cells:
        return ""
    note = escaped(words.say("emulated_note")) + "\n\n" if layer.get("emulated") else ""
    table = _table([words.say("function"), *times_titles(words)], cells, codes=(0,))
    return _heading(words.say("micro")) + note + table


def _e2e(result: Json, words: Words) -> str:
    layer = result.get("e2e") or {}
    text = ""
    if layer.get("change"):
        text = _table(metric_titles(layer, words), metric_rows(layer, words))
    counts = counts_rows(layer, words)
    if counts:
        text += ("\n" if text else "") + _table(
            [words.say(key) for key in ("in_one_run", "reference", "operator", "difference")], counts
        )
    if layer.get("calls"):
        cells = [[one["function"], _format.count(one["count"]), shapes_of(one)] for one in layer["calls"]]
        titles = [words.say(key) for key in ("function", "count", "shapes")]
        text += ("\n" if text else "") + _table(titles, cells, codes=(0,))
    return _heading(words.say("e2e")) + text if text else ""


def _skipped(result: Json, words: Words) -> str:
    groups = skipped_by_reason(result.get("correctness") or {})
    if not groups:
        return ""
    cells = [[words.known(reason), _format.count(len(cases))] for reason, cases in groups.items()]
    return _heading(words.say("skipped_cases")) + _table([words.say("reason"), words.say("count")], cells)
