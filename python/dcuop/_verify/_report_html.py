"""A result as one HTML file: no script, nothing fetched; what failed comes first."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence

from . import _format
from ._cells import environment
from ._html import Column, Content, Markup, details, facts, joined, page, section, table, tag
from ._report_numerics import numerics
from ._report_speed import comparison, end_to_end, micro
from ._report_style import STYLE
from ._summary import BAD, GOOD, OPEN, command, rows, skipped_by_reason
from ._view import differ_text, smallest_text
from ._words import Words

Json = Mapping[str, Any]

#: Rows of passed cases, and of skipped ones of a reason, that a report lists.
_MOST_ROWS = 2000


def render(result: Json, language: str = "en") -> str:
    """The page. `result` is as docs/json.md says; nothing of it is taken for HTML."""
    words = Words(language)
    sections = [
        _header(result, words),
        _failures(result, words),
        numerics(result, words),
        micro(result, words),
        end_to_end(result, words),
        comparison(result, words),
        _skipped(result, words),
        _environment(result, words),
        _passed(result, words),
    ]
    title = words.say("title", op=result.get("op", "?"))
    return page(title, {"zh": "zh-Hans"}.get(words.language, "en"), STYLE, joined(one for one in sections if one))


def _header(result: Json, words: Words) -> Markup:
    passed = (result.get("gate") or {}).get("passed", "absent")
    style, key = {True: (GOOD, "gate_passed"), False: (BAD, "gate_failed"), None: (OPEN, "gate_open")}.get(
        passed, ("", "gate_none")
    )
    shown = []
    # The verdict and its reasons first.
    for row in sorted(rows(result, words), key=lambda one: one.layer != "gate"):
        # A comparison has its own section.
        lines = row.lines[:1] if row.layer == "compare" else row.lines
        said = [tag("p", line, style=row.verdict if at == 0 else "") for at, line in enumerate(lines)]
        when = (result.get("carried") or {}).get(row.layer)
        if when:
            said.append(tag("p", words.say("carried", when=when), style="faint"))
        shown.append((words.say(row.layer), joined(said)))
    line = " · ".join(words.known(str(result[name])) for name in ("backend", "device", "when") if result.get(name))
    title = words.say("title", op=result.get("op", "?"))
    return tag(
        "header",
        tag("h1", title, " ", tag("span", words.say(key), style=f"badge {style}")),
        tag("p", line, style="faint"),
        facts(shown, style="summary"),
    )


def _cases(result: Json, status: str) -> List[Json]:
    return [case for case in (result.get("correctness") or {}).get("cases", ()) if case["status"] == status]


def _failures(result: Json, words: Words) -> Optional[Markup]:
    if "correctness" not in result:
        return None
    failed = _cases(result, "failed")
    shown = [_failure(result, case, words) for case in failed]
    return section(words.say("failures"), *(shown or [tag("p", words.say("none_here"), style=GOOD)]))


def _failure(result: Json, case: Json, words: Words) -> Markup:
    parts: List[Content] = [tag("h3", tag("code", case["id"])), tag("p", words.known(case.get("what", "")))]
    if case.get("smallest"):
        parts.append(
            tag("p", words.say("labelled", label=words.say("smallest"), text=smallest_text(case["smallest"], words)))
        )
    if case.get("differ"):
        parts.append(
            tag("p", words.say("labelled", label=words.say("differs"), text=differ_text(case["differ"], words)))
        )
    differing = case.get("differing") or ()
    if differing:
        columns = [
            Column(words.say("index"), "value"),
            Column(words.say("got"), "num"),
            Column(words.say("want"), "num"),
            Column("ULP", "num"),
        ]
        cells = [
            (
                ", ".join(str(part) for part in one.get("index") or ()),
                one["got"],
                one["want"],
                "" if one.get("ulp") is None else _format.ulp(one["ulp"]),
            )
            for one in differing
        ]
        parts.append(table(columns, cells))
    parts.append(tag("code", command(result, case, str(result.get("directory") or result.get("op"))), style="command"))
    return tag("article", *parts, style="case")


def _skipped(result: Json, words: Words) -> Optional[Markup]:
    groups = skipped_by_reason(result.get("correctness") or {})
    if not groups:
        return None
    parts = [
        details(f"{words.known(reason) or '?'}: {_format.count(len(cases))}", *_case_table(cases, words))
        for reason, cases in groups.items()
    ]
    return section(words.say("skipped_cases"), *parts)


def _passed(result: Json, words: Words) -> Optional[Markup]:
    passed = _cases(result, "passed")
    if not passed:
        return None
    groups: Dict[str, List[Json]] = {}
    for case in passed:
        groups.setdefault(str(case.get("group", "")), []).append(case)
    parts = [
        details(f"{group}: {_format.count(len(cases))}", *_case_table(cases, words)) for group, cases in groups.items()
    ]
    return section(words.say("passed_cases"), tag("div", *parts, style="screen"))


def _case_table(cases: Sequence[Json], words: Words) -> List[Content]:
    columns = [Column(words.say("case"), "value"), Column(words.say("time"), "num")]
    cells = [(case["id"], _format.seconds(case.get("seconds") or 0.0)) for case in cases[:_MOST_ROWS]]
    shown: List[Content] = [table(columns, cells)]
    if len(cases) > _MOST_ROWS:
        shown.append(tag("p", words.say("more_rows", count=len(cases) - _MOST_ROWS), style="faint"))
    return shown


def _environment(result: Json, words: Words) -> Markup:
    return section(words.say("environment"), facts(environment(result, words)))
