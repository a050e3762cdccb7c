"""The layer that says whether the operator is right: every case of the matrix, and for what fails its smallest form."""

from __future__ import annotations

import collections
import time
from typing import Any, Counter, Dict, List, Mapping, Optional, Set, Tuple

from .._errors import DcuopError
from . import _shrink
from ._cases import CHANGED, Case
from ._contract import Request
from ._matrix import chosen, matrix
from ._progress import Progress
from ._runner import Runner
from ._verdict import Verdict

#: Children that a function may end, and cases in which it may hang, before its other cases are left out.
_MOST_LOST = 12
_MOST_TIMEOUTS = 3
#: Seconds in all for making failing cases smaller, and for one run of a smaller form of a case that hung.
_SHRINK_SECONDS = 60.0
_HANG_SECONDS = 5.0


class Interrupted(KeyboardInterrupt):
    """Ctrl-C; `part` is of the cases that had run."""

    def __init__(self, part: Dict[str, Any], done: int, total: int) -> None:
        super().__init__()
        self.part = part
        self.done = done
        self.total = total


def cases(request: Request, repetition: int = 0) -> List[Case]:
    """Those that the options choose, in order; each repetition has other values. Raises UsageProblem when there is
    none."""
    return chosen(matrix(request, request.options.seed + repetition), request.options.case)


def run(runner: Runner, request: Request, progress: Progress) -> Dict[str, Any]:
    """The part "correctness" of the result. Raises DcuopError when the operator does not load, Interrupted."""
    since = time.monotonic()
    progress.start("correctness")
    progress.update("loading")
    runner.start()
    layer = _Layer(runner, request)
    results: Dict[str, Dict[str, Any]] = {}
    repetitions, done, total = max(1, request.options.repeat), 0, 0
    try:
        for repetition in range(repetitions):
            chosen_cases = cases(request, repetition)
            total = len(chosen_cases) * repetitions
            for case in chosen_cases:
                progress.update(case.id, done + 1, total)
                # The first fault of a case counts.
                if repetition == 0 or results[case.id]["status"] == "passed":
                    results[case.id] = layer.result(case, repetition)
                done += 1
    except KeyboardInterrupt as error:
        raise Interrupted(_part(results, since), done, total) from error
    progress.finish()
    return _part(results, since)


def _part(results: Mapping[str, Dict[str, Any]], since: float) -> Dict[str, Any]:
    counts = collections.Counter(result["status"] for result in results.values())
    return {
        "passed": counts["passed"],
        "failed": counts["failed"],
        "skipped": counts["skipped"],
        "seconds": time.monotonic() - since,
        "cases": list(results.values()),
    }


class _Layer:
    def __init__(self, runner: Runner, request: Request) -> None:
        self._runner = runner
        self._request = request
        self._lost: Counter[str] = collections.Counter()  # by function
        self._timeouts: Counter[str] = collections.Counter()
        self._shrunk: Set[Tuple[str, ...]] = set()
        self._shrink_left = _SHRINK_SECONDS
        self._unloaded = False

    def result(self, case: Case, repetition: int) -> Dict[str, Any]:
        verdict = self._run(case)
        if verdict.status == "failed" and repetition:
            verdict = verdict._replace(what=f"{verdict.what} (run {repetition + 1}: --seed {case.seed})")
        smallest = self._smallest(case, verdict) if verdict.status == "failed" else None
        return {
            "id": case.id,
            "group": case.group,
            "function": case.function,
            "dtype": case.dtype,
            "seed": case.seed,
            "status": verdict.status,
            "reason": verdict.reason,
            "what": verdict.what,
            "differing": verdict.differing,
            "differ": verdict.differ,
            "smallest": smallest,
            "seconds": verdict.seconds,
        }

    def _run(self, case: Case) -> Verdict:
        if self._timeouts[case.function] >= _MOST_TIMEOUTS:
            return Verdict("skipped", reason=f"not run: {_MOST_TIMEOUTS} cases before it hung")
        if self._lost[case.function] >= _MOST_LOST:
            return Verdict("skipped", reason=f"not run: {_MOST_LOST} cases before it ended their process")
        if self._unloaded:
            return Verdict("skipped", reason="not run: the operator does not load any more")
        try:
            verdict = self._runner.run(case)
        except DcuopError as error:
            # It did when the layer began.
            self._unloaded = True
            return Verdict("failed", "load", f"the operator did not load once more: {error.message}")
        if verdict.kind == "timeout":
            self._timeouts[case.function] += 1
        elif verdict.kind == "exit" or verdict.kind.startswith("signal"):
            self._lost[case.function] += 1
        return verdict

    def _smallest(self, case: Case, verdict: Verdict) -> Optional[Dict[str, Any]]:
        """Once for each sort of fault of a group: the others are most often the same fault."""
        sort = (case.function, case.dtype, case.group, case.check, verdict.kind)
        if case.check not in _shrink.SHRINKABLE or CHANGED in case.id or sort in self._shrunk or self._shrink_left <= 0:
            return None
        self._shrunk.add(sort)
        hung = verdict.kind == "timeout"
        since = time.monotonic()
        function = self._request.contract.function(case.function)

        def fails(candidate: Case) -> bool:
            limit = min(_HANG_SECONDS, self._request.options.timeout) if hung else None
            try:
                found = self._runner.run(candidate, limit)
            except DcuopError:
                # It does not load any more, which the next case finds.
                return False
            return found.status == "failed" and found.kind == verdict.kind

        seconds = min(self._shrink_left, 4 * _HANG_SECONDS if hung else _shrink.MOST_SECONDS)
        found = _shrink.smallest(case, function, fails, seconds=seconds)
        self._shrink_left -= time.monotonic() - since
        return {
            "id": found.case.id,
            "shapes": _shrink.shapes_of(found.case, function),
            "values": _shrink.values_of(found.case),
            "scalars": dict(found.case.scalars),
            "runs": found.runs,
        }
