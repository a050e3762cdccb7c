"""Whether a result is good enough: what fails always, and what [verify.gate] demands."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ._words import Words

Json = Mapping[str, Any]

#: What a demand needs, by the layer that measures it.
_LAYER_OF = {"max_ulp": "numerics", "speedup": "micro", "break_even": "micro", "e2e": "e2e"}
# Those that judge times, which on an emulated grid say nothing of a device.
_TIMES = ("speedup", "break_even", "e2e")


class _Said(NamedTuple):
    demand: str
    key: str  #: of the sentence in _words.py
    values: Dict[str, Any]

    def to_json(self) -> Dict[str, Any]:
        text = Words("en").say(self.key, **self.values)
        return {"demand": self.demand, "key": self.key, "values": self.values, "text": text}


def judge(result: Json, demands: Json, layers: Sequence[str]) -> Dict[str, Any]:
    """The "gate" of a result: {"passed", "reasons", "not_judged", "demands"}.

    `demands` are those of [verify.gate], `layers` those that were asked for. "passed" is false for any reason; null
    when nothing failed but a demand could not be judged here: its layer was not asked for, it is one of time and the grid
    is emulated, one of ULP and the result float64, or one whose runs are too few and differ too much to tell. A demand
    that could have been measured and was not is a reason.
    """
    reasons: List[_Said] = [*_correctness(result, layers), *_broken(result, layers)]
    open_: List[_Said] = []
    for demand, limit in demands.items():
        if demand not in _LAYER_OF or limit is None:
            continue
        if _LAYER_OF[demand] not in layers:
            open_.append(_Said(demand, "gate_not_asked", {"demand": demand, "layer": _LAYER_OF[demand]}))
        elif result.get("emulated") and demand in _TIMES:
            open_.append(_Said(demand, "gate_emulated", {"demand": demand}))
        else:
            reasons += _JUDGES[demand](result, limit)
            open_ += _undecided(result, demand, limit)
    passed: Optional[bool] = False if reasons else None if open_ else True
    return {
        "passed": passed,
        "reasons": [said.to_json() for said in reasons],
        "not_judged": [said.to_json() for said in open_],
        "demands": {name: limit for name, limit in demands.items() if limit is not None},
    }


def exit_code(gate: Json) -> int:
    """1 for a gate that failed; 0 for one that passed, and where what could be judged here passed."""
    return 1 if gate["passed"] is False else 0


def _correctness(result: Json, layers: Sequence[str]) -> List[_Said]:
    layer = result.get("correctness")
    if "correctness" not in layers or layer is None:
        return []
    if layer["failed"]:
        first = next((case["id"] for case in layer.get("cases", ()) if case["status"] == "failed"), "")
        of = layer["failed"] + layer["passed"]
        return [_Said("correctness", "gate_failed_cases", {"failed": layer["failed"], "of": of, "first": first})]
    if not layer["passed"]:
        return [_Said("correctness", "gate_no_case", {"skipped": layer["skipped"]})]
    return []


def _broken(result: Json, layers: Sequence[str]) -> List[_Said]:
    """Layers that broke off, calls that failed, ended their process or did not end, results that are not the same each
    time though the contract says so, and an end-to-end script that failed."""
    said = [_Said(layer, "gate_no_layer", {"layer": layer}) for layer in layers if layer not in result]
    said += [one for layer in layers for one in _lost(result, layer)]
    if "numerics" in layers:
        said += [
            _Said("numerics", "gate_not_deterministic", {"where": _where(row)})
            for row in (result.get("numerics") or {}).get("functions", ())
            if row.get("deterministic") is False and row.get("deterministic_demanded")
        ]
    e2e = result.get("e2e") or {}
    if "e2e" in layers and e2e.get("error"):
        said.append(_Said("e2e", "gate_e2e_error", {"why": e2e["error"]}))
    return said


def _lost(result: Json, layer: str) -> List[_Said]:
    found = []
    for row in (result.get(layer) or {}).get("functions", ()):
        values = {"layer": layer, "where": _where(row)}
        if row.get("lost") or row.get("failed"):
            found.append(_Said(layer, "gate_lost", {**values, "why": row["unknown"]}))
        for point in row.get("points", ()):
            if point.get("lost") or point.get("failed"):
                found.append(_Said(layer, "gate_lost_at", {**values, "n": point["n"], "why": point["unknown"]}))
    return found


def _not_measured(demand: str, where: str, why: Optional[str]) -> _Said:
    if not why:
        return _Said(demand, "gate_not_measured", {"demand": demand})
    where = f" ({where})" if where else ""
    return _Said(demand, "gate_not_measured_why", {"demand": demand, "where": where, "why": why.rstrip(".")})


def _functions(result: Json, demand: str) -> Tuple[List[Json], List[_Said]]:
    rows = list((result.get(_LAYER_OF[demand]) or {}).get("functions", ()))
    return rows, [] if rows else [_not_measured(demand, "", None)]


def _where(row: Json) -> str:
    return f"{row['function']} {row['dtype']}"


def _max_ulp(result: Json, limit: float) -> List[_Said]:
    rows, said = _functions(result, "max_ulp")
    for row in rows:
        measured = row.get("vs_float64")
        if not measured or measured.get("max_ulp") is None:
            if not row.get("exact_dtype") and not row.get("no_truth"):
                said.append(_not_measured("max_ulp", _where(row), row.get("vs_float64_unknown") or row.get("unknown")))
        elif measured["max_ulp"] > limit or measured["unmatched"]:
            key = "gate_unmatched" if measured["unmatched"] else "gate_max_ulp"
            values = {"where": _where(row), "ulp": measured["max_ulp"], "limit": limit, "count": measured["unmatched"]}
            said.append(_Said("max_ulp", key, values))
    return said


def _undecided(result: Json, demand: str, limit: float) -> List[_Said]:
    """What was measured and does not tell: ULP of float64, and times whose true median may well meet the demand."""
    if demand == "max_ulp":
        rows, _ = _functions(result, "max_ulp")
        return [_Said("max_ulp", "gate_no_truth", {"where": _where(row)}) for row in rows if row.get("no_truth")]
    if demand == "speedup":
        rows, _ = _functions(result, "speedup")
        points = [(row, _largest(row)) for row in rows]
        return [
            _Said("speedup", "gate_speedup_noise", _speedup_values(row, point, limit))
            for row, point in points
            if point is not None and point.get("speedup") and _may_be(point["speedup"], limit)
        ]
    if demand == "break_even":
        rows, _ = _functions(result, "break_even")
        return [
            _Said("break_even", "gate_break_even_noise", {"where": _where(row), "limit": limit})
            for row in rows
            if row.get("break_even_undecided")
        ]
    e2e = result.get("e2e") or {}
    if demand == "e2e" and e2e.get("change") and not e2e.get("error") and _may_be(e2e["change"], limit):
        return [_Said("e2e", "gate_e2e_noise", _e2e_values(e2e, limit))]
    return []


def _may_be(stat: Json, limit: float) -> bool:
    """Whether a median below the limit may be one of too few runs alone."""
    return bool(stat["median"] < limit <= stat["high"])


def _largest(row: Json) -> Optional[Json]:
    return max(row.get("points", ()), key=lambda one: one["n"], default=None)


def _speedup(result: Json, limit: float) -> List[_Said]:
    rows, said = _functions(result, "speedup")
    for row in rows:
        point = _largest(row)
        if point is None or not point.get("speedup"):
            why = row.get("unknown") or (point or {}).get("unknown")
            said.append(_not_measured("speedup", _where(row), why))
        elif max(point["speedup"]["median"], point["speedup"]["high"]) < limit:
            said.append(_Said("speedup", "gate_speedup", _speedup_values(row, point, limit)))
    return said


def _speedup_values(row: Json, point: Json, limit: float) -> Dict[str, Any]:
    stat = point["speedup"]
    return {"where": _where(row), "speedup": stat["median"], **_ends(stat), "limit": limit, "n": point["n"]}


def _break_even(result: Json, limit: float) -> List[_Said]:
    rows, said = _functions(result, "break_even")
    for row in rows:
        calls = row.get("break_even_calls")
        if calls is None and row.get("never_pays"):
            said.append(_Said("break_even", "gate_never_pays", {"where": _where(row), "limit": limit}))
        elif calls is None and not row.get("break_even_undecided"):
            why = row.get("unknown") or row.get("break_even_why")
            said.append(_not_measured("break_even", _where(row), why))
        elif calls is not None and calls > limit:
            said.append(_Said("break_even", "gate_break_even", {"where": _where(row), "calls": calls, "limit": limit}))
    return said


def _e2e(result: Json, limit: float) -> List[_Said]:
    e2e = result.get("e2e") or {}
    if e2e.get("error"):
        return []  # said already
    if not e2e.get("change"):
        return [_not_measured("e2e", "", None if e2e else "no script is declared in [verify.e2e]")]
    change = e2e["change"]
    if max(change["median"], change["high"]) >= limit:
        return []
    return [_Said("e2e", "gate_e2e", _e2e_values(e2e, limit))]


def _e2e_values(e2e: Json, limit: float) -> Dict[str, Any]:
    change = e2e["change"]
    return {"metric": e2e["metric"], "change": change["median"], **_ends(change), "limit": limit}


def _ends(stat: Json) -> Dict[str, Any]:
    return {name: stat[name] for name in ("p10", "p90", "low", "high", "runs")}


_JUDGES = {"max_ulp": _max_ulp, "speedup": _speedup, "break_even": _break_even, "e2e": _e2e}
