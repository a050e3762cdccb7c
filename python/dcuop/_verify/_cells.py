"""What the cells of a report's tables say, in HTML and Markdown alike."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional

from . import _format
from ._words import Words

Json = Mapping[str, Any]


def spread_text(stat: Optional[Json]) -> str:
    """1.20 ms (1.10 – 1.30), all in the median's unit"""
    if not stat:
        return "–"
    factor, _ = _format.unit_of_time(stat["median"])
    low, high = (_format.number(stat[name] / factor) for name in ("p10", "p90"))
    return f"{_format.microseconds(stat['median'])} ({low} – {high})"


def ratio_text(stat: Optional[Json]) -> str:
    """1.93x (1.88 – 1.97)"""
    if not stat:
        return "–"
    return f"{_format.number(stat['median'])}x ({_format.number(stat['p10'])} – {_format.number(stat['p90'])})"


def times_titles(words: Words) -> List[str]:
    keys = ("size", "operator", "reference", "ratio", "bandwidth", "copy", "share_of_copy", "flops", "runs")
    return [words.say(key) for key in keys]


def times_cells(point: Json) -> List[str]:
    """One row of a table of times, in the order of `times_titles`."""

    def shown(key: str, write: Any) -> str:
        return "–" if point.get(key) is None else write(point[key])

    return [
        _format.size(point["n"]),
        spread_text(point.get("candidate_us")),
        spread_text(point.get("reference_us")),
        ratio_text(point.get("speedup")),
        shown("gbps", _format.number),
        shown("copy_gbps", _format.number),
        shown("of_copy", _format.percent),
        shown("gflops", _format.number),
        str((point.get("candidate_us") or {}).get("runs", "–")),
    ]


def shapes_of(call: Json) -> str:
    return " ".join(str(list(shape)) for shape in call.get("shapes") or ())


def metric_titles(layer: Json, words: Words) -> List[str]:
    return [words.say("path"), str(layer["metric"]), "p10 – p90", words.say("runs"), words.say("better_by")]


def metric_rows(layer: Json, words: Words) -> List[List[str]]:
    """The metric of an end-to-end script on each path."""
    change = layer["change"]
    changed = f"{_format.change(change['median'])} ({_format.change(change['p10'])} – {_format.change(change['p90'])})"
    return [
        [
            words.say(path),
            _format.number(layer[path]["median"]),
            f"{_format.number(layer[path]['p10'])} – {_format.number(layer[path]['p90'])}",
            str(layer[path]["runs"]),
            shown,
        ]
        for path, shown in (("reference", ""), ("operator", changed))
    ]


def counts_rows(layer: Json, words: Words) -> List[List[str]]:
    """What one counted run did on each path, and the difference."""
    counts = layer.get("counts") or {}
    found = []
    for key, difference in (layer.get("added") or {}).items():
        each = [(counts.get(path) or {}).get(key) for path in ("reference", "operator")]
        shown = ["?" if value is None else _format.count(value) for value in each]
        found.append([words.say(f"row_{key}"), *shown, f"{difference:+,}"])
    memory = layer.get("peak_memory") or {}
    if memory.get("reference") is not None and memory.get("operator") is not None:
        difference = memory["operator"] - memory["reference"]
        sign = "+" if difference >= 0 else ""
        shown = [_format.memory(memory[path]) for path in ("reference", "operator")]
        found.append([words.say("row_memory"), *shown, sign + _format.memory(difference)])
    return found


def environment(result: Json, words: Words) -> List[List[str]]:
    """Names and values of what the result was got with."""
    build = result.get("build") or {}
    built = [words.say("build_hit" if build["hit"] else "build_made")] if build.get("hit") is not None else []
    if build.get("seconds") is not None:
        built.insert(0, words.say("build_text", seconds=build["seconds"]))
    pairs = [
        ("env_op", result.get("directory") or result.get("op")),
        ("env_entry", result.get("entry")),
        ("backend", result.get("backend")),
        ("env_device", words.known(result.get("device") or "")),
        ("env_arch", ", ".join(result.get("arch") or ())),
        ("env_torch", result.get("torch")),
        ("env_python", result.get("python")),
        ("env_build", ", ".join(built)),
        ("env_when", result.get("when")),
        ("env_seed", result.get("seed")),
        ("env_seconds", _format.seconds(result["seconds"]) if result.get("seconds") else None),
    ]
    return [[words.say(key), str(value)] for key, value in pairs if value not in (None, "")]
