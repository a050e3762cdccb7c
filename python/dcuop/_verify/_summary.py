"""A result in a few lines, a row a layer: what the text view and the reports begin with."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ._format import seconds, ulp
from ._words import Words

Json = Mapping[str, Any]

GOOD, BAD, OPEN, PLAIN = "good", "bad", "open", "plain"


class Row(NamedTuple):
    """One layer: its verdict, and a line a function or reason."""

    layer: str
    verdict: str  #: GOOD, BAD, OPEN or PLAIN
    lines: Tuple[str, ...]


def rows(result: Json, words: Words) -> List[Row]:
    """The rows of `result` from the backend to the gate; a layer that did not run has none."""
    found = [row(result, layer, words) for layer in _ROWS]
    return [one for one in found if one is not None]


def row(result: Json, layer: str, words: Words) -> Optional[Row]:
    """The row of "backend", a layer, "compare" or "gate"; None where it did not run."""
    if layer != "backend" and layer not in result:
        return None
    verdict, lines = _ROWS[layer](result, words)
    return Row(layer, verdict, tuple(lines))


def command(result: Json, case: Json, directory: str) -> str:
    """What runs this one case again, for a shell; `directory` is how the operator's directory is called there."""
    words = ["dcuop", "verify", directory, "--backend", str(result.get("backend", "auto"))]
    seed = case.get("seed", result.get("seed"))
    if seed:
        words += ["--seed", str(seed)]
    smallest = case.get("smallest") or {}
    return " ".join(shlex.quote(word) for word in [*words, "--case", str(smallest.get("id") or case["id"])])


def shapes_text(shapes: Mapping[str, Sequence[int]]) -> str:
    return ", ".join(f"{name} {list(shape)}" for name, shape in shapes.items())


def where(row_: Json) -> str:
    """The function and dtype that a row of a layer is about."""
    return f"{row_['function']} {row_['dtype']}"


def skipped_by_reason(layer: Json) -> Dict[str, List[Json]]:
    """The skipped cases under their reasons, the commonest first."""
    skipped = [case for case in layer.get("cases", ()) if case["status"] == "skipped"]
    order = Counter(str(case.get("reason", "")) for case in skipped)
    return {reason: [case for case in skipped if case.get("reason", "") == reason] for reason, _ in order.most_common()}


def special_lines(numerics: Json, words: Words) -> List[str]:
    special = numerics.get("special") or ()
    differing = [one for one in special if not one["same"]]
    if not special:
        return []
    if not differing:
        return [words.say("special_same")]
    first = "{}: {}, {}".format(*(words.known(differing[0][key]) for key in ("input", "got", "framework")))
    return [words.say("special_differ", count=len(differing), of=len(special), first=first)]


def schedule_text(schedule: Json, words: Words) -> str:
    if schedule.get("follows"):
        return words.schedule(schedule["follows"])
    measured = [one for one in schedule.get("candidates", ()) if one.get("same") is not None]
    if not measured:
        return words.say("schedule_unknown", why=schedule.get("why") or words.say("nothing"))
    closest = max(measured, key=lambda one: one["same"])
    return words.say("schedule_none", count=len(measured), name=words.schedule(closest["name"]), share=closest["same"])


def _backend(result: Json, words: Words) -> Tuple[str, List[str]]:
    def bracketed(text: str) -> str:
        return words.say("in_brackets", text=text) if text else ""

    origin = bracketed(str(result.get("backend_origin") or ""))
    backend = result.get("backend", "?")
    if result.get("emulated"):
        return PLAIN, [words.say("backend_emulated", backend=backend, origin=origin)]
    arch = bracketed(", ".join(result.get("arch") or ()))
    return PLAIN, [
        words.say("backend_device", backend=backend, device=result.get("device", "?"), arch=arch, origin=origin)
    ]


def _took(layer: Json) -> str:
    return f"  {seconds(layer['seconds'])}" if layer.get("seconds") else ""


def _correctness(result: Json, words: Words) -> Tuple[str, List[str]]:
    layer = result["correctness"]
    text = words.say("cases", **{name: layer[name] for name in ("passed", "failed", "skipped")})
    reasons = list(skipped_by_reason(layer))[:2]
    if any(reasons):
        text += words.say("in_brackets", text="; ".join(words.known(reason) for reason in reasons))
    verdict = BAD if layer["failed"] else GOOD if layer["passed"] else OPEN
    return verdict, [text + _took(layer)]


def _numerics(result: Json, words: Words) -> Tuple[str, List[str]]:
    functions = result["numerics"].get("functions", ())
    lines = [_numerics_line(one, words) for one in functions]
    return _verdict_of(functions), _named(functions, lines) or [words.say("nothing")]


def _verdict_of(measured: Sequence[Json]) -> str:
    return BAD if any(one.get("lost") or one.get("failed") for one in measured) else PLAIN


def _numerics_line(one: Json, words: Words) -> str:
    if one.get("unknown"):
        return words.say("numerics_unknown", why=one["unknown"])
    parts = []
    measured = one.get("vs_float64")
    if measured:
        outside = measured.get("max_ulp_all")
        # Only what is another number to read.
        beyond = outside is not None and measured["max_ulp"] is not None and ulp(outside) != ulp(measured["max_ulp"])
        key = "max_ulp_outside" if beyond else "max_ulp"
        parts.append(words.say(key, ulp=measured["max_ulp"], all=outside))
        if measured["unmatched"]:
            parts.append(words.say("unmatched", count=measured["unmatched"]))
    else:
        parts.append(words.say("vs_float64_unknown", why=one.get("vs_float64_unknown") or "?"))
        if one.get("vs_framework"):
            parts.append(words.say("max_ulp_framework", ulp=one["vs_framework"]["max_ulp"]))
    if one.get("schedule"):
        parts.append(schedule_text(one["schedule"], words))
    parts += special_lines(one, words)
    if one.get("deterministic") is False:
        parts.append(words.say("not_deterministic"))
    return " · ".join(parts)


def _micro(result: Json, words: Words) -> Tuple[str, List[str]]:
    functions = result["micro"].get("functions", ())
    emulated = bool(result["micro"].get("emulated"))
    lines = [_micro_line(one, emulated, words) for one in functions]
    return _verdict_of([point for one in functions for point in one.get("points", ())]), _named(functions, lines) or [words.say("nothing")]


def _micro_line(one: Json, emulated: bool, words: Words) -> str:
    measured = [point for point in one.get("points", ()) if point.get("candidate_us")]
    if not measured:
        why = one.get("unknown") or next((point.get("unknown") for point in one.get("points", ())), None)
        return words.say("numerics_unknown", why=why or "?")
    point = max(measured, key=lambda each: each["n"])
    if emulated:
        return words.say("emulated_time", us=point["candidate_us"]["median"], n=point["n"])
    if not point.get("speedup"):
        return words.say(
            "time_alone", us=point["candidate_us"]["median"], n=point["n"], why=point.get("unknown") or "?"
        )
    speedup = point["speedup"]
    parts = [words.say("speedup", speedup=speedup["median"], n=point["n"], p10=speedup["p10"], p90=speedup["p90"])]
    if point.get("of_copy") is not None:
        parts.append(words.say("of_copy", share=point["of_copy"]))
    if one.get("break_even_calls") is not None:
        parts.append(words.say("pays", calls=one["break_even_calls"]))
    elif one.get("never_pays"):
        parts.append(words.say("pays_never"))
    return " · ".join(parts)


def _e2e(result: Json, words: Words) -> Tuple[str, List[str]]:
    layer = result["e2e"]
    if not layer:
        return PLAIN, [words.say("no_script")]
    lines = []
    if layer.get("error"):
        lines.append(words.say("error", text=layer["error"]))
    parts = []
    if layer.get("change"):
        change = layer["change"]
        key, share = ("e2e_better" if change["median"] >= 0 else "e2e_worse"), abs(change["median"])
        parts.append(words.say(key, metric=layer["metric"], share=share, p10=change["p10"], p90=change["p90"]))
        if layer.get("emulated"):
            parts.append(words.say("e2e_emulated"))
    if layer.get("calls"):
        parts.append(words.say("e2e_calls", count=sum(call["count"] for call in layer["calls"])))
    parts += _added(layer, words)
    if layer.get("counts_why"):
        parts.append(words.known(layer["counts_why"]))
    return BAD if layer.get("error") else PLAIN, lines + ([" · ".join(parts)] if parts else [])


def _added(layer: Json, words: Words) -> List[str]:
    added = layer.get("added") or {}
    parts = []
    for key, sign in (("e2e_added", 1), ("e2e_saved", -1)):
        what = [words.say(name, count=sign * number) for name, number in added.items() if sign * number > 0]
        if what:
            parts.append(words.say(key, what=", ".join(what)))
    memory = layer.get("peak_memory") or {}
    if memory.get("reference") and memory.get("operator"):
        more = memory["operator"] - memory["reference"]
        # Of a whole process less is noise.
        if abs(more) > 0.01 * memory["reference"]:
            parts.append(words.say("peak_memory", sign="+" if more > 0 else "", bytes=more))
    return parts


def _gate(result: Json, words: Words) -> Tuple[str, List[str]]:
    gate = result["gate"]
    verdict, key = {True: (GOOD, "gate_passed"), False: (BAD, "gate_failed"), None: (OPEN, "gate_open")}[gate["passed"]]
    said = [words.say(one["key"], **one["values"]) for one in [*gate["reasons"], *gate["not_judged"]]]
    return verdict, [words.say(key), *said]


def _compare(result: Json, words: Words) -> Tuple[str, List[str]]:
    compared = result["compare"]
    if not compared.get("entry"):
        return PLAIN, [words.known(compared.get("note") or "?")]
    changed = compared["verdicts"]
    worse = any(one["now"] == "failed" for one in changed)
    first = words.say("against", entry=compared["entry"], when=compared["when"])
    lines = [f"{first}: " + words.say("compare_verdicts" if changed else "compare_same", count=len(changed))]
    lines += [f"{one['id']}: {words.known(one['before'])} → {words.known(one['now'])}" for one in changed[:10]]
    lines += ["…"] if len(changed) > 10 else []
    lines += [
        words.say("compare_numerics", where=where(one), what=numerics_change(one)) for one in compared["numerics"]
    ]
    lines += [_speed_line(one, words) for one in compared["speed"]]
    if compared.get("e2e"):
        one = compared["e2e"]
        lines.append(
            words.say(
                "compare_e2e",
                metric=one["metric"],
                before=one["before"]["median"],
                now=one["now"]["median"],
                change=one["change"],
                verdict=words.known(one["verdict"]),
            )
        )
    lines += [words.known(compared["note"])] if compared["note"] else []
    return BAD if worse else PLAIN, lines


def numerics_change(one: Json) -> str:
    """What a row of a comparison's numerics says: "max_ulp 0.5 → 1"."""
    parts = []
    for name, before in one["before"].items():
        now = one["now"].get(name)
        if before != now:
            shown = [
                "–" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
                for value in (before, now)
            ]
            parts.append(f"{name} {shown[0]} → {shown[1]}")
    return ", ".join(parts)


def _speed_line(one: Json, words: Words) -> str:
    text = words.say(
        "compare_speed",
        where=where(one),
        n=one["n"],
        before=one["before"]["median"],
        now=one["now"]["median"],
        change=one["change"],
        verdict=words.known(one["verdict"]),
    )
    if one["verdict"] != "no change" and one.get("reference") not in (None, "no change"):
        text += words.say("in_brackets", text=words.say("compare_machine", verdict=words.known(one["reference"])))
    return text


def _named(functions: Sequence[Json], lines: List[str]) -> List[str]:
    """With the names in front where there are several."""
    if len(functions) < 2:
        return lines
    return [f"{where(one)}: {line}" for one, line in zip(functions, lines)]


_ROWS = {
    "backend": _backend,
    "correctness": _correctness,
    "numerics": _numerics,
    "micro": _micro,
    "e2e": _e2e,
    "compare": _compare,
    "gate": _gate,
}
