"""Two results of one op: what changed from an earlier entry to this one."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Tuple

Json = Mapping[str, Any]

#: ULP are equal below this difference: the rest is rounding of the mean.
_SAME_ULP = 1e-6


def compare(now: Json, before: Json) -> Dict[str, Any]:
    """The "compare" of a result (docs/json.md). Times are compared only on the same device; one that stays inside
    the other's spread (10th to 90th percentile) is "no change"."""
    comparable = all(now.get(key) == before.get(key) for key in ("backend", "device"))
    note = "" if comparable else f"times are not compared: {before.get('device')} then, {now.get('device')} now"
    return {
        "entry": before.get("entry"),
        "when": before.get("when"),
        "note": note,
        "verdicts": _verdicts(now, before),
        "numerics": _numerics(now, before),
        "speed": _speed(now, before) if comparable else [],
        "e2e": _end_to_end(now, before) if comparable else None,
    }


def nothing_to_compare(note: str) -> Dict[str, Any]:
    """The "compare" of a result when there is no other one."""
    return {"entry": None, "when": None, "note": note, "verdicts": [], "numerics": [], "speed": [], "e2e": None}


def verdict(before: Json, now: Json, better: str = "lower") -> str:
    """Of two spreads of a quantity of which `better` ("lower", "higher") is good: "no change" where they meet, else
    "better" or "worse"."""
    if now["p10"] <= before["p90"] and before["p10"] <= now["p90"]:
        return "no change"
    return "better" if (now["median"] > before["median"]) == (better == "higher") else "worse"


def _verdicts(now: Json, before: Json) -> List[Dict[str, Any]]:
    one, other = _statuses(before), _statuses(now)
    if one is None or other is None:
        return []
    names = dict.fromkeys([*one, *other])
    changed = [
        {"id": name, "before": one.get(name, "absent"), "now": other.get(name, "absent")}
        for name in names
        if one.get(name) != other.get(name)
    ]
    # What broke comes first.
    return sorted(changed, key=lambda row: (row["now"] != "failed", row["before"] != "failed"))


def _statuses(result: Json) -> Optional[Dict[str, str]]:
    layer = result.get("correctness")
    return None if layer is None else {case["id"]: case["status"] for case in layer.get("cases", ())}


def _by(layer: Optional[Json], *keys: str) -> Dict[Tuple[Any, ...], Json]:
    return {tuple(row[key] for key in keys): row for row in (layer or {}).get("functions", ())}


def _numerics(now: Json, before: Json) -> List[Dict[str, Any]]:
    rows = []
    earlier = _by(before.get("numerics"), "function", "dtype")
    for key, row in _by(now.get("numerics"), "function", "dtype").items():
        one, other = (earlier.get(key) or {}).get("vs_float64"), row.get("vs_float64")
        if not one or not other:
            continue
        values = {
            name: (one.get(name), other.get(name))
            for name in ("max_ulp", "mean_ulp", "unmatched")
            if _differs(one.get(name), other.get(name))
        }
        follows = (_follows(earlier[key]), _follows(row))
        if values or follows[0] != follows[1]:
            rows.append(
                {
                    "function": key[0],
                    "dtype": key[1],
                    "before": {**{name: pair[0] for name, pair in values.items()}, "follows": follows[0]},
                    "now": {**{name: pair[1] for name, pair in values.items()}, "follows": follows[1]},
                }
            )
    return rows


def _differs(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return bool(one != other)
    return bool(abs(one - other) > _SAME_ULP)


def _follows(row: Json) -> Optional[str]:
    return (row.get("schedule") or {}).get("follows")


def _speed(now: Json, before: Json) -> List[Dict[str, Any]]:
    rows = []
    earlier = _by(before.get("micro"), "function", "dtype")
    for key, row in _by(now.get("micro"), "function", "dtype").items():
        points = {point["n"]: point for point in (earlier.get(key) or {}).get("points", ())}
        for point in row.get("points", ()):
            then = points.get(point["n"]) or {}
            if not then.get("candidate_us") or not point.get("candidate_us"):
                continue
            one, other = then["candidate_us"], point["candidate_us"]
            rows.append(
                {
                    "function": key[0],
                    "dtype": key[1],
                    "n": point["n"],
                    "before": one,
                    "now": other,
                    "change": other["median"] / one["median"] - 1.0 if one["median"] else None,
                    "verdict": verdict(one, other),
                    # The framework's code is the same: what changed it is the machine.
                    "reference": verdict(then["reference_us"], point["reference_us"])
                    if then.get("reference_us") and point.get("reference_us")
                    else None,
                }
            )
    return rows


def _end_to_end(now: Json, before: Json) -> Optional[Dict[str, Any]]:
    one, other = before.get("e2e") or {}, now.get("e2e") or {}
    if not one.get("operator") or not other.get("operator"):
        return None
    if (one.get("metric"), one.get("better")) != (other.get("metric"), other.get("better")):
        return None
    median = one["operator"]["median"]
    return {
        "metric": other["metric"],
        "before": one["operator"],
        "now": other["operator"],
        "change": other["operator"]["median"] / median - 1.0 if median else None,
        "verdict": verdict(one["operator"], other["operator"], other["better"]),
    }
