"""The micro layer: how long a call takes beside the framework's own path, and what that is worth."""

from __future__ import annotations

import functools
import math
import time
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import torch

from ._clock import LONG_US, calls_for, clock_of, warm_up
from ._contract import LEADING, Function, Request
from ._expressions import evaluate
from ._format import first_line
from ._inputs import plain_arguments
from ._layouts import Unfit
from ._pieces import Lost, Pieces
from ._results import spread
from ._target import Arguments, Target, copied

#: Seconds that a size may take; then there are fewer runs, but no fewer than these.
_BUDGET, _BUDGET_EMULATED = 20.0, 4.0
_LEAST_RUNS = 3
#: Microseconds that a sample takes at most, where a single call does not take more.
_LONG_SAMPLE_US = 200000.0
#: Elements above which an emulated grid, whose times say nothing, is not timed unless there is no smaller size.
MOST_EMULATED = 1 << 18
#: Microseconds of calls before the first sample: a device that was idle raises its clocks meanwhile.
_WARM_US = 100000.0


class _Works(NamedTuple):
    """The same call in three ways; None for what cannot be done here, and why."""

    candidate: Callable[[], Any]
    reference: Optional[Callable[[], Any]]
    copy: Optional[Callable[[], Any]]
    why: str
    restores: Mapping[int, Callable[[], Any]]  #: by the work's id: what gives back an argument that it writes


class _Restoring:
    """A clock before whose samples what calls write in place is what it was: it would drift to infinities."""

    def __init__(self, clock: Any, restores: Mapping[int, Callable[[], Any]]) -> None:
        self._clock = clock
        self._restores = restores

    def measure(self, work: Callable[[], Any], calls: int) -> float:
        restore = self._restores.get(id(work))
        if restore is not None:
            restore()
        return float(self._clock.measure(work, calls))


def run(
    target: Target, request: Request, progress: Any, pieces: Optional[Pieces] = None, clock: Any = None
) -> Dict[str, Any]:
    """The "micro" of a result (docs/json.md). `clock` has measure(work, calls) and a name; default: the device's, or
    the host's. What fails is said in the result."""
    since = time.monotonic()
    pieces = pieces if pieces is not None else Pieces()
    progress.start("micro")
    clock = clock if clock is not None else clock_of(target.device)
    bench = _Bench(target, request, clock)
    work = [(function, dtype) for function in request.contract.functions for dtype in function.dtypes]
    rows: List[Dict[str, Any]] = []
    for function, dtype in work:
        points: List[Dict[str, Any]] = []
        for elements in sorted(set(request.contract.micro.sizes)):
            progress.update(f"{function.name} {dtype}, {elements} elements", len(rows), len(work))
            if bench.emulated and points and elements > MOST_EMULATED:
                points.append({**untimed(elements), "unknown": "not timed: it would be long, and the grid is emulated"})
            elif any("lost" in point for point in points):
                points.append({**untimed(elements), "unknown": "not timed: a smaller size ended its process"})
            else:
                find = functools.partial(bench.point, function, dtype, elements)
                points.append(pieces.get(f"{function.name}/{dtype}/{elements}", find, functools.partial(_lost, elements)))
        rows.append({"function": function.name, "dtype": dtype, "points": points, **bench.break_even(points)})
    progress.finish()
    return {
        "emulated": bench.emulated,
        "clock": clock.name,
        "build_seconds": (request.build or {}).get("seconds"),
        "functions": rows,
        "seconds": time.monotonic() - since,
    }


def untimed(elements: int) -> Dict[str, Any]:
    """A point of which nothing is known yet."""
    names = ("candidate_us", "reference_us", "copy_us", "inner", "speedup", "bytes", "flops", "gbps", "gflops")
    return {"n": elements, **dict.fromkeys((*names, "copy_gbps", "of_copy")), "unknown": ""}


def _lost(elements: int, lost: Lost) -> Dict[str, Any]:
    return {**untimed(elements), "unknown": lost.why, "lost": lost.kind}


class _Bench:
    def __init__(self, target: Target, request: Request, clock: Any) -> None:
        self.emulated = not request.has_device
        self._target = target
        self._request = request
        self._clock = clock

    def point(self, function: Function, dtype: str, elements: int) -> Dict[str, Any]:
        """One size of one function: an element of "points"."""
        point = untimed(elements)
        try:
            arguments = plain_arguments(function, dtype, elements, self._target.device, seed=self._request.options.seed)
            first = arguments[function.tensors[0].name]
            point["n"] = first.numel()
            self._count(function, arguments, point)
            with torch.no_grad():
                works = self._works(
                    function, dtype, arguments, point["bytes"] or 2 * first.numel() * first.element_size()
                )
                self._time(works, point)
        except Unfit as error:
            _add_reason(point, str(error))
        except Exception as error:  # pylint: disable=broad-except
            _add_reason(point, f"the function failed: {first_line(error)}")
            # Memory that others have is no fault of the function.
            if "out of memory" not in str(error):
                point["failed"] = True
        finally:
            if self._target.device.type == "cuda":
                torch.cuda.empty_cache()
        return point

    def _count(self, function: Function, arguments: Arguments, point: Dict[str, Any]) -> None:
        names = counts(function, arguments)
        for key, text in (("bytes", function.bytes), ("flops", function.flops)):
            if text is not None:
                try:
                    point[key] = evaluate(text, names)
                except ValueError as error:
                    _add_reason(point, f"{key}: {error}")

    def _works(self, function: Function, dtype: str, arguments: Arguments, traffic: float) -> _Works:
        paths = [
            functools.partial(path, **copied(arguments))
            for path in (self._target.callable(function), self._target.formula(function))
        ]
        restores: Dict[int, Callable[[], Any]] = {}
        if function.inplace is not None:
            for path in paths:
                restores[id(path)] = functools.partial(path.keywords[function.inplace].copy_, arguments[function.inplace])
        candidate = paths[0]
        reference: Optional[Callable[[], Any]] = paths[1]
        why = ""
        try:
            assert reference is not None
            reference()
            self._target.at("the operator")
        except Exception as error:  # pylint: disable=broad-except
            reference = None
            why = f"the formula does not run in {dtype} on {self._target.device.type}: {first_line(error)}"
        copy = None
        if not self.emulated:
            # As many bytes read and written as the call has.
            source = torch.empty(max(1, int(traffic / 2)), dtype=torch.uint8, device=self._target.device)
            copy = functools.partial(torch.empty_like(source).copy_, source)
        return _Works(candidate, reference, copy, why, restores)

    def _time(self, works: _Works, point: Dict[str, Any]) -> None:
        clock = _Restoring(self._clock, works.restores)
        names = zip(works[:3], ("the operator", "the formula", "a copy"))
        said = {id(work): functools.partial(self._target.at, name) for work, name in names}
        timed = [work for work in works[:3] if work is not None]
        for work in timed:
            said[id(work)]()
            warm_up(clock, work, 0.0 if self.emulated else _WARM_US)
        compared = [works.candidate, *([works.reference] if works.reference is not None else [])]
        own = {}
        for work in compared:
            said[id(work)]()
            own[id(work)] = calls_for(clock, work)
        # The same number of calls in a sample of each, unless the slower one would take too long for that.
        most = max(own.values())
        calls = {}
        for work in compared:
            said[id(work)]()
            each = clock.measure(work, own[id(work)]) / own[id(work)]
            calls[id(work)] = most if most * each <= _LONG_SAMPLE_US else own[id(work)]
        if works.copy is not None:
            calls[id(works.copy)] = calls_for(clock, works.copy)
        samples = self._interleaved(clock, timed, calls)
        candidate = samples[id(works.candidate)]
        point.update(inner=calls[id(works.candidate)], candidate_us=spread(candidate))
        _add_reason(point, works.why)
        if works.reference is not None:
            reference = samples[id(works.reference)]
            point["reference_us"] = spread(reference)
            point["speedup"] = spread([one / other for one, other in zip(reference, candidate)])
        _rates(point, samples[id(works.copy)] if works.copy is not None else None)

    def _interleaved(self, clock: Any, works: Sequence[Any], calls: Mapping[int, int]) -> Dict[int, List[float]]:
        """Times a call, in the order of the runs: the works take turns, and the first of a run is the last of the next,
        so that what drifts meets all of them alike."""
        samples: Dict[int, List[float]] = {id(work): [] for work in works}
        left = (_BUDGET_EMULATED if self.emulated else _BUDGET) * 1e6
        wanted = max(1, self._request.contract.micro.runs)
        for run_ in range(wanted):
            took = 0.0
            # Once a run: whoever reads it wakes up, beside what is timed.
            self._target.at("the operator or the formula, timed")
            for work in works if run_ % 2 == 0 else works[::-1]:
                if took > LONG_US:
                    # Calls have a limit, not runs.
                    self._target.at("the operator or the formula, timed")
                sample = clock.measure(work, calls[id(work)])
                samples[id(work)].append(sample / calls[id(work)])
                took += sample
            left -= took
            if left < took and run_ + 1 >= min(_LEAST_RUNS, wanted):
                break
        return samples

    def break_even(self, points: Sequence[Mapping[str, Any]]) -> Dict[str, Any]:
        """After how many calls of the largest size the build has paid: "break_even_calls" and its kin."""
        found: Dict[str, Any] = {"break_even_calls": None, "never_pays": False, "break_even_undecided": False}
        found.update(break_even_why="", unknown="")
        build = (self._request.build or {}).get("seconds")
        point = max(points, key=lambda one: one["n"], default=None)
        if not any(each["candidate_us"] for each in points):
            found["unknown"] = next((each["unknown"] for each in points if each["unknown"]), "no sizes")
        if self.emulated:
            found["break_even_why"] = "the grid is emulated: nothing says when a build pays on a device"
        elif build is None:
            found["break_even_why"] = "how long the build took is not known"
        elif point is None or not point["reference_us"] or not point["candidate_us"]:
            found["break_even_why"] = (point or {}).get("unknown") or "there is no reference to compare with"
        else:
            saved = point["reference_us"]["median"] - point["candidate_us"]["median"]
            if point["speedup"]["high"] <= 1.0:
                found.update(never_pays=True, break_even_why="a call is no faster than the reference's")
            elif saved > 0 and point["speedup"]["low"] > 1.0:
                found["break_even_calls"] = math.ceil(build * 1e6 / saved)
            else:
                why = "the runs do not tell whether a call is faster than the reference's"
                found.update(break_even_undecided=True, break_even_why=why)
        return found


def counts(function: Function, arguments: Arguments) -> Dict[str, float]:
    """What `bytes` and `flops` may name: n and size of the first tensor, and every dimension's name. Where a dimension
    is called n or size, these remain the first tensor's."""
    names: Dict[str, float] = {}
    # What is broadcast may have size 1 where others with that name have more: they say it, where there are any.
    for argument in sorted(function.tensors, key=lambda one: not one.broadcast):
        value = arguments[argument.name]
        # From both ends, as "..." may stand for any number.
        at = argument.shape.index(LEADING) if LEADING in argument.shape else len(argument.shape)
        pairs: List[Tuple[str, int]] = list(zip(argument.shape[:at], value.shape))
        pairs += list(zip(reversed(argument.shape[at + 1 :]), reversed(value.shape)))
        names.update({name: float(size) for name, size in pairs if not name.isdigit()})
    first = arguments[function.tensors[0].name]
    return {**names, "n": float(first.numel()), "size": float(first.element_size())}


def _add_reason(point: Dict[str, Any], why: str) -> None:
    point["unknown"] = "; ".join(one for one in (point["unknown"], why) if one)


def _rates(point: Dict[str, Any], copies: Optional[Sequence[float]]) -> None:
    us = point["candidate_us"]["median"]
    if point["bytes"]:
        point["gbps"] = point["bytes"] / us / 1e3
    if point["flops"]:
        point["gflops"] = point["flops"] / us / 1e3
    if copies is not None:
        point["copy_us"] = spread(copies)
        if point["bytes"]:
            point["copy_gbps"] = point["bytes"] / point["copy_us"]["median"] / 1e3
            point["of_copy"] = point["gbps"] / point["copy_gbps"]
