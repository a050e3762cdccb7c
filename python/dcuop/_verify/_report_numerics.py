"""The numerics of a result, as a part of the HTML report."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional, Sequence

from . import _format, _plots
from ._html import Column, Content, Markup, details, figure, joined, section, table, tag
from ._summary import BAD, GOOD, schedule_text, where
from ._words import Words

Json = Mapping[str, Any]


def numerics(result: Json, words: Words) -> Optional[Markup]:
    layer = result.get("numerics")
    if layer is None:
        return None
    shown = [_numerics_of(one, words) for one in layer.get("functions", ())]
    return section(words.say("numerics"), *(shown or [tag("p", words.say("nothing"))]))


def _numerics_of(one: Json, words: Words) -> Markup:
    parts: List[Content] = [tag("h3", tag("code", where(one)))]
    if one.get("unknown"):
        return joined([*parts, tag("p", words.say("numerics_unknown", why=one["unknown"]))])  # type: ignore[list-item]
    if one.get("inputs"):
        inputs = words.say("inputs", inputs=words.known(one["inputs"]), count=one["elements"])
        parts.append(tag("p", inputs, style="faint"))
    parts.append(_errors(one, words))
    if one.get("framework") == "emulated":
        parts.append(tag("p", words.say("framework_emulated", dtype=one["dtype"]), style="faint"))
    plot = _histogram(one, words)
    schedule = tag("div", *_schedule(one, words))
    parts.append(tag("div", *([plot] if plot else []), schedule, style="beside"))
    parts += _special(one, words)
    if one.get("deterministic") is not None:
        key, style = ("all_yes", GOOD) if one["deterministic"] else ("not_deterministic", BAD)
        parts.append(tag("p", words.say(key), style=style))
    return tag("div", *parts)


_AGAINST = (("vs_float64", "float64", "a"), ("vs_framework", "framework_path", "b"))


def _errors(one: Json, words: Words) -> Markup:
    columns = [Column(words.say("error_against"))]
    columns += [Column(words.say(key), "num") for key in ("max", "max_all", "mean", "not_comparable")]
    cells: List[Sequence[Content]] = []
    unknown: List[Markup] = []
    for key, name, _ in _AGAINST:
        measured = one.get(key)
        if measured:
            cells.append(
                (
                    words.say(name),
                    _format.ulp(measured.get("max_ulp")),
                    _format.ulp(measured.get("max_ulp_all", measured.get("max_ulp"))),
                    _format.ulp(measured.get("mean_ulp")),
                    _format.count(measured.get("unmatched", 0)),
                )
            )
        elif one.get(f"{key}_unknown"):
            text = words.say("labelled", label=words.say(name), text=one[f"{key}_unknown"])
            unknown.append(tag("p", text, style="faint"))
    return joined([*([table(columns, cells)] if cells else []), *unknown, *_worst(one, words)])


def _worst(one: Json, words: Words) -> List[Markup]:
    worst = (one.get("vs_float64") or {}).get("worst")
    if not worst:
        return []
    text = f"{worst['arguments']}: {worst['got']}, float64 {worst['want']} ({_format.ulp(worst['ulp'])} ULP)"
    return [tag("p", words.say("worst"), " ", tag("code", text), style="faint")]


def _histogram(one: Json, words: Words) -> Optional[Markup]:
    series, labels = [], []  # type: List[_plots.Bars], List[str]
    for key, name, style in _AGAINST:
        histogram = (one.get(key) or {}).get("histogram")
        if histogram:
            labels = [label for label, _ in histogram]
            series.append(_plots.Bars(words.say(name), style, [n for _, n in histogram]))
    if not series:
        return None
    title = words.say("histogram", where=where(one))
    svg = _plots.histogram(title, (words.say("histogram_axis"), words.say("share_axis")), labels, series)
    return figure(title, svg)


def _schedule(one: Json, words: Words) -> List[Content]:
    schedule = one.get("schedule")
    if not schedule:
        return []
    parts: List[Content] = [tag("p", tag("strong", words.say("candidates"), ": "), schedule_text(schedule, words))]
    if schedule.get("also"):
        names = ", ".join(words.schedule(name) for name in schedule["also"])
        parts.append(tag("p", words.say("also", names=names), style="faint"))
    if schedule.get("candidates"):
        columns = [Column(words.say("candidates")), Column(words.say("agrees"), "num")]
        cells = [
            [words.schedule(each["name"]), "?" if each.get("same") is None else _format.exact_share(each["same"])]
            for each in schedule["candidates"]
        ]
        if any(each.get("why") for each in schedule["candidates"]):
            columns.append(Column(words.say("reason"), "wrap"))
            cells = [[*row, words.known(each.get("why", ""))] for row, each in zip(cells, schedule["candidates"])]
        parts.append(table(columns, cells))
    return parts


def _special(one: Json, words: Words) -> List[Content]:
    special = sorted(one.get("special") or (), key=lambda each: bool(each["same"]))
    if not special:
        return []
    columns = [Column(words.say("input"), "value"), Column(words.say("operator"), "value")]
    columns += [Column(words.say("framework"), "value"), Column(words.say("same"))]
    cells = [
        (
            words.known(each["input"]),
            words.known(each["got"]),
            words.known(each["framework"]),
            tag("span", words.say("yes" if each["same"] else "no"), style=GOOD if each["same"] else BAD),
        )
        for each in special
    ]
    differing = sum(not each["same"] for each in special)
    title = words.say("specials") + f": {len(special)}"
    if differing:
        key = words.say("special_differ", count=differing, of=len(special), first=words.known(special[0]["input"]))
        return [details(key, table(columns, cells), open_=True)]
    return [details(f"{title}. {words.say('special_same')}", table(columns, cells))]
