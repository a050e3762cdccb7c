"""Results that are kept: one file an entry, beside the cache's entries, for `--compare`.

What a result holds is said in docs/json.md. All else in this package that shows, judges or compares works on that
alone, as it was read from JSON.
"""

from __future__ import annotations

import json
import math
import os
import re
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ._contract import LAYERS

SCHEMA = 1  #: of results

Result = Dict[str, Any]

# A result of some hundred thousand cases; more is no file of ours.
_MOST_BYTES = 256 << 20
_ENTRY = re.compile(r"[0-9A-Za-z_.-]+")


class Kept(NamedTuple):
    """What was found, and remarks on what could not be used, one sentence each."""

    result: Optional[Result]
    notes: Tuple[str, ...] = ()


def spread(values: Sequence[float]) -> Dict[str, Any]:
    """Median, 10th and 90th percentile (between the nearest values, linearly) and number of `values`, in their unit;
    and "low" to "high", where the median of ever more such runs would lie. ValueError when there is none."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)

    def at(share: float) -> float:
        place = share * (len(ordered) - 1)
        below = math.floor(place)
        above = min(below + 1, len(ordered) - 1)
        return ordered[below] + (ordered[above] - ordered[below]) * (place - below)

    out = _outside_of_median(len(ordered))
    ends = {"low": ordered[out], "high": ordered[-1 - out]}
    return {"median": at(0.5), "p10": at(0.1), "p90": at(0.9), **ends, "runs": len(ordered)}


def _outside_of_median(count: int) -> int:
    """How many of `count` sorted values may be left out at each end so that those which remain enclose the true median
    with a confidence of 90 %, whatever the distribution: each is below it with probability 1/2 (Le Boudec, "Performance
    Evaluation of Computer and Communication Systems", 2010, theorem 2.1). Below five values it is less than 90 %, and all
    are taken."""
    out, tail = 0, 1
    while out < (count - 1) // 2 and 20 * (tail + math.comb(count, out + 1)) <= 1 << count:
        out += 1
        tail += math.comb(count, out)
    return out


def finite(value: Any) -> Any:
    """`value` with null for what JSON has no number for: NaN and the infinities."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): finite(inner) for key, inner in value.items()}
    return [finite(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def to_json(result: Mapping[str, Any], indent: Optional[int] = None) -> str:
    """The result as JSON text, ending with a newline."""
    return json.dumps(finite(result), ensure_ascii=False, indent=indent, allow_nan=False) + "\n"


def place(cache_dir: str, op: str, entry: str) -> Path:
    """The file that keeps the result of `entry`. ValueError for what cannot be a file's name there."""
    for name in (op, entry):
        if not _ENTRY.fullmatch(name) or name.startswith("."):
            raise ValueError(f"{name!r} cannot name a kept result")
    return Path(cache_dir) / "v1" / "verify" / op / f"{entry}.json"


def keep(result: Result, cache_dir: str) -> str:
    """Keeps `result`, with the layers that this run left out as an earlier run on the same entry measured them; they
    are named in "carried". Returns "" or one sentence on why it was not kept: the run itself is no worse for it."""
    try:
        path = place(cache_dir, result["op"], result["entry"])
        earlier = read(path).result
        _write(path, to_json(_completed(result, earlier)))
    except (OSError, ValueError) as error:
        return f"the result was not kept for --compare: {error}"
    return ""


def read(path: Path) -> Kept:
    """The result in `path`. One that is damaged, or of another schema, counts as absent, with a remark."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            return Kept(None, (f"{path} is too large for a kept result",))
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Kept(None)
    except (OSError, ValueError, RecursionError) as error:
        return Kept(None, (f"{path} cannot be read and counts as absent: {error}",))
    if not isinstance(data, dict) or data.get("schema") != SCHEMA or not isinstance(data.get("entry"), str):
        return Kept(None, (f"{path} is no result of schema {SCHEMA} and counts as absent",))
    return Kept(data)


def other(result: Mapping[str, Any], cache_dir: str, wanted: str = "") -> Kept:
    """The kept result to compare `result` with: of the entry that `wanted` begins, or the newest one of another entry
    of this op on the same backend."""
    try:
        directory = place(cache_dir, result["op"], "any").parent
        files = sorted(directory.glob("*.json"))
    except (OSError, ValueError) as error:
        return Kept(None, (str(error),))
    if wanted:
        return _named(files, wanted)
    found: List[Result] = []
    notes: Tuple[str, ...] = ()
    for file in files:
        if file.stem == result["entry"]:
            continue
        kept = read(file)
        notes += kept.notes
        if kept.result is not None and kept.result.get("backend") == result.get("backend"):
            found.append(kept.result)
    if not found:
        return Kept(None, (*notes, f"no result of another entry of {result['op']} on this backend is kept"))
    return Kept(max(found, key=lambda one: str(one.get("when", ""))), notes)


def _named(files: Sequence[Path], wanted: str) -> Kept:
    matching = [file for file in files if file.stem.startswith(wanted)]
    exact = [file for file in matching if file.stem == wanted]
    matching = exact or matching
    if len(matching) != 1:
        many = f"{len(matching)} kept results begin with {wanted}" if matching else f"no result of {wanted} is kept"
        known = ", ".join(file.stem for file in files[:10])
        return Kept(None, (f"{many}; kept: {known}" if known else many,))
    kept = read(matching[0])
    return kept if kept.result is not None or kept.notes else Kept(None, (f"{matching[0]} vanished",))


def _completed(result: Result, earlier: Optional[Mapping[str, Any]]) -> Result:
    if earlier is None:
        return result
    absent = [layer for layer in LAYERS if layer not in result and layer in earlier]
    when = {layer: earlier.get("carried", {}).get(layer, earlier.get("when")) for layer in absent}
    return {**result, **{layer: earlier[layer] for layer in absent}, "carried": when} if absent else result


def _write(path: Path, text: str) -> None:
    # Private: shapes and names of an operator are its owner's. The directory as well, which is ours alone.
    path.parent.mkdir(parents=True, exist_ok=True)
    os.chmod(path.parent, 0o700)
    descriptor, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=str(path.parent))  # mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, str(path))
    except BaseException:
        try:
            os.unlink(name)
        except OSError:
            pass
        raise
