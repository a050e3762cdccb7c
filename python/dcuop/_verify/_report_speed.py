"""Times, the end-to-end run and the comparison of a result, as parts of the HTML report."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional, Sequence

from . import _format, _plots
from ._cells import counts_rows, metric_rows, metric_titles, shapes_of, spread_text, times_cells, times_titles
from ._html import Column, Content, Markup, figure, joined, section, table, tag
from ._summary import BAD, GOOD, numerics_change, rows, where
from ._words import Words

Json = Mapping[str, Any]


def micro(result: Json, words: Words) -> Optional[Markup]:
    layer = result.get("micro")
    if layer is None:
        return None
    parts: List[Content] = []
    if layer.get("emulated"):
        parts.append(tag("p", words.say("emulated_note"), style="note"))
    functions = layer.get("functions", ())
    parts += [_micro_of(one, words) for one in functions] or [tag("p", words.say("nothing"))]
    facts_ = [words.say("band_note")] if functions else []
    if layer.get("clock"):
        facts_.append(words.say("clock", clock=layer["clock"]))
    if layer.get("build_seconds") is not None:
        facts_.append(words.say("build_time", seconds=layer["build_seconds"]))
    return section(words.say("micro"), *parts, tag("p", " ".join(facts_), style="faint"))


def _micro_of(one: Json, words: Words) -> Markup:
    parts: List[Content] = [tag("h3", tag("code", where(one)))]
    if one.get("unknown"):
        parts.append(tag("p", words.say("numerics_unknown", why=one["unknown"])))
    points = one.get("points", ())
    series = [
        _plots.Series(words.say(name), style, [(point["n"], point[key]) for point in points if point.get(key)])
        for name, key, style in (("operator", "candidate_us", "a"), ("reference", "reference_us", "b"))
    ]
    title = words.say("time_plot", where=where(one))
    svg = _plots.times(
        title, (words.say("size_axis"), words.say("time_axis")), [each for each in series if each.points]
    )
    if svg:
        parts.append(figure(title, svg))
    if points:
        parts.append(_times_table(points, words))
    if one.get("break_even_calls") is not None:
        parts.append(tag("p", words.say("pays", calls=one["break_even_calls"])))
    elif one.get("break_even_why"):
        why = words.known(one["break_even_why"])
        shown = words.say("labelled", label=words.say("pays_never"), text=why) if one.get("never_pays") else why
        parts.append(tag("p", shown, style="faint"))
    return tag("div", *parts)


def _times_table(points: Sequence[Json], words: Words) -> Markup:
    columns = [Column(title, "num") for title in times_titles(words)]
    reasons = dict.fromkeys(point["unknown"] for point in points if point.get("unknown"))
    notes = [tag("p", words.known(reason), style="faint") for reason in reasons]
    return joined([table(columns, [times_cells(point) for point in points]), *notes])


def end_to_end(result: Json, words: Words) -> Optional[Markup]:
    if "e2e" not in result:
        return None
    layer = result["e2e"]
    if not layer:
        return section(words.say("e2e"), tag("p", words.say("no_script"), style="faint"))
    parts: List[Content] = []
    if layer.get("error"):
        parts.append(tag("p", words.say("error", text=layer["error"]), style=BAD))
    if layer.get("emulated"):
        parts.append(tag("p", words.say("e2e_emulated"), style="note"))
    if layer.get("change"):
        titles = metric_titles(layer, words)
        parts.append(
            table([Column(titles[0]), *(Column(title, "num") for title in titles[1:])], metric_rows(layer, words))
        )
    parts += _counts(layer, words)
    if layer.get("counts_why"):
        parts.append(tag("p", words.known(layer["counts_why"]), style="faint"))
    if layer.get("calls"):
        columns = [
            Column(words.say("function")),
            Column(words.say("count"), "num"),
            Column(words.say("shapes"), "wrap"),
        ]
        cells = [(one["function"], _format.count(one["count"]), shapes_of(one)) for one in layer["calls"]]
        parts += [tag("h3", words.say("calls_of")), table(columns, cells)]
    return section(words.say("e2e"), *parts)


def _counts(layer: Json, words: Words) -> List[Content]:
    found = counts_rows(layer, words)
    titles = [words.say(key) for key in ("reference", "operator", "difference")]
    columns = [Column(words.say("in_one_run")), *(Column(title, "num") for title in titles)]
    return [table(columns, found)] if found else []


def comparison(result: Json, words: Words) -> Optional[Markup]:
    compared = result.get("compare")
    if not compared:
        return None
    if not compared.get("entry"):
        return section(words.say("compare"), tag("p", words.known(compared.get("note", "")), style="faint"))
    parts: List[Content] = [tag("p", words.say("against", entry=compared["entry"], when=compared["when"]))]
    columns = [Column(words.say(key)) for key in ("before", "now")]
    if compared["verdicts"]:
        cells: List[Sequence[Content]] = [
            (tag("code", one["id"]), words.known(one["before"]), _status(one["now"], words))
            for one in compared["verdicts"]
        ]
        parts.append(table([Column(words.say("case")), *columns], cells))
    else:
        parts.append(tag("p", words.say("compare_same")))
    parts += [tag("p", f"{where(one)}: {numerics_change(one)}") for one in compared["numerics"]]
    if compared["speed"]:
        more = [Column(words.say("change"), "num"), Column(words.say("verdict"))]
        cells = [
            (
                tag("code", where(one)),
                _format.size(one["n"]),
                spread_text(one["before"]),
                spread_text(one["now"]),
                _format.change(one["change"]),
                words.known(one["verdict"]),
            )
            for one in compared["speed"]
        ]
        parts.append(table([Column(words.say("function")), Column(words.say("size"), "num"), *columns, *more], cells))
    shown = [row for row in rows({"compare": {**compared, "speed": [], "verdicts": [], "numerics": []}}, words)]
    parts += [tag("p", line) for row in shown if row.layer == "compare" for line in row.lines[1:]]
    return section(words.say("compare"), *parts)


def _status(status: str, words: Words) -> Markup:
    style = {"failed": BAD, "passed": GOOD}.get(status, "")
    return tag("span", words.known(status), style=style)
