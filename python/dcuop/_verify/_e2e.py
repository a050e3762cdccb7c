"""The end-to-end layer: a script of the operator's, with the operator and without, in processes of its own."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

from . import _orphans
from ._contract import EndToEnd, Request
from ._results import spread
from ._runner import SCRIPT_CASES

PATHS = ("reference", "operator")
#: Bytes of a script's output that are read from the end.
_MOST_OUTPUT = 1 << 20


class Broken(Exception):
    """Why a run gave nothing, in a sentence without a full stop."""


class _Run(NamedTuple):
    """How a process ended."""

    code: Optional[int]  #: None: it was ended, as it took too long
    stdout: str
    stderr: str


def run(target: Any, request: Request, progress: Any, pieces: Any = None) -> Dict[str, Any]:
    """The "e2e" of a result (docs/json.md); empty where the contract declares no script. A script that fails, or that
    does not use the operator, is an "error" there."""
    del target, pieces  # The script loads the operator itself, in processes that have a limit.
    wanted = request.contract.e2e
    if wanted is None:
        return {}
    since = time.monotonic()
    progress.start("end to end")
    result: Dict[str, Any] = {
        "script": wanted.script,
        "metric": wanted.metric,
        "better": wanted.better,
        "runs": wanted.runs,
        "emulated": not request.has_device,
        "error": "",
    }
    with tempfile.TemporaryDirectory(prefix="dcuop-verify-") as scratch:
        script = _Script(request, wanted, scratch)
        try:
            _count(script, result, progress)
            _time(script, result, progress)
        except Broken as error:
            result["error"] = str(error)
    progress.finish()
    result["seconds"] = time.monotonic() - since
    return result


def changes(reference: Sequence[float], operator: Sequence[float], better: str) -> List[float]:
    """How much better each run with the operator was than the one without it that ran beside it: 0.1 for ten per cent
    more of what is better "higher", or for what then needs ten per cent more of what is better "lower"."""
    pairs = zip(reference, operator) if better == "higher" else zip(operator, reference)
    return [other / one - 1.0 for one, other in pairs]


def metric_in(output: str, name: str) -> float:
    """The number under `name` in the last line of `output` that is a JSON object with it. Broken where there is none,
    or it is not above zero."""
    for line in reversed(output.splitlines()):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(found, dict) or name not in found:
            continue
        value = found[name]
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value <= 0:
            raise Broken(f"it printed {json.dumps(value)} as {name}, which is no number above 0")
        return float(value)
    raise Broken(f'it printed no line {{"{name}": number}}')


class _Script:
    """The script, to be run on either path."""

    def __init__(self, request: Request, wanted: EndToEnd, scratch: str) -> None:
        self.wanted = wanted
        self.directory = request.directory
        self.path = request.directory / wanted.script
        self._scratch = scratch
        self._seconds = SCRIPT_CASES * request.options.timeout
        self._environment = {**os.environ, **request.environment()}
        package = str(Path(__file__).resolve().parents[2])
        paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._environment["PYTHONPATH"] = os.pathsep.join(paths)

    def plain(self, path: str) -> float:
        """The metric of one run."""
        done = self._run([str(self.path)], path)
        self._check(done, path)
        try:
            return metric_in(done.stdout, self.wanted.metric)
        except Broken as error:
            raise Broken(f"{self.wanted.script} on the {path} path: {error}") from error

    def counted(self, path: str) -> Dict[str, Any]:
        """What one run did: {"calls", "counts", "peak_memory", "why"}; without torch's operations where the script does
        not run while they are watched."""
        why = ""
        done = _Run(None, "", "")
        for more in ([], ["--calls-only"]):
            file = os.path.join(self._scratch, f"{path}{len(more)}.json")
            command = ["-m", f"{__package__}._e2e_child", str(self.path), str(self.directory), file, *more]
            done = self._run(command, path)
            if done.code == 0 and os.path.exists(file):
                counts: Dict[str, Any] = json.loads(Path(file).read_text(encoding="utf-8"))
                return {**counts, "why": why}
            if done.code is None:
                # It would be no quicker to hang once more.
                break
            why = f"conversions, copies and synchronisations are not known: the script {_end_of(done)} when they were counted"
        self._check(done, path)
        raise Broken(f"{self.wanted.script} on the {path} path ended without a word on what it did")

    def _check(self, done: _Run, path: str) -> None:
        if done.code != 0:
            raise Broken(f"{self.wanted.script} {_end_of(done)} on the {path} path{_last_line(done.stderr)}")

    def _run(self, arguments: Sequence[str], path: str) -> _Run:
        # To files, not pipes: a child of the script's own that outlives it would keep a pipe open.
        with tempfile.TemporaryFile(dir=self._scratch) as out, tempfile.TemporaryFile(dir=self._scratch) as err:
            before = _orphans.children()
            _orphans.adopt()
            try:
                code = self._code_of(arguments, path, out, err)
            finally:
                # They would take time from the next run.
                _orphans.end(before)
                _orphans.adopt(False)
            return _Run(code, _end_of_file(out), _end_of_file(err))


    def _code_of(self, arguments: Sequence[str], path: str, out: Any, err: Any) -> Optional[int]:
        with subprocess.Popen(
            [sys.executable, *arguments],
            env={**self._environment, "DCUOP_VERIFY_PATH": path},
            cwd=str(self.directory),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
        ) as process:
            try:
                return process.wait(self._seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                return None
            except BaseException:
                process.kill()
                raise


def _count(script: _Script, result: Dict[str, Any], progress: Any) -> None:
    """One run of each path, which also fills the caches for those that are timed."""
    if not script.path.is_file():
        raise Broken(f"there is no {script.path}")
    done: Dict[str, Dict[str, Any]] = {}
    for path in PATHS:
        progress.update(f"{script.wanted.script}, counted, {path}")
        done[path] = script.counted(path)
    calls = {path: sum(call["count"] for call in done[path]["calls"]) for path in PATHS}
    counts = {path: done[path]["counts"] for path in PATHS}
    memory = {path: done[path]["peak_memory"] for path in PATHS}
    result.update(
        calls=done["operator"]["calls"],
        counts=counts,
        added=_differences(counts),
        counts_why=done["operator"]["why"] or done["reference"]["why"],
        peak_memory={path: memory[path]["bytes"] for path in PATHS},
    )
    result["peak_memory"]["kind"] = memory["operator"]["kind"]
    if memory["reference"]["kind"] != memory["operator"]["kind"]:
        result["peak_memory"] = None
    if not calls["operator"]:
        raise Broken(
            f"{script.wanted.script} never called the operator on the operator path: no function of what dcuop.load_op"
            f" returns for {script.directory}"
        )
    if calls["reference"]:
        raise Broken(f"{script.wanted.script} called the operator {calls['reference']} times on the reference path too")


def _differences(counts: Mapping[str, Mapping[str, Any]]) -> Dict[str, int]:
    reference, operator = counts["reference"], counts["operator"]
    return {
        name: operator[name] - reference[name]
        for name in operator
        if operator[name] is not None and reference.get(name) is not None
    }


def _time(script: _Script, result: Dict[str, Any], progress: Any) -> None:
    """The timed runs, in the order A B B A, so that what drifts meets both alike."""
    values: Dict[str, List[float]] = {path: [] for path in PATHS}
    for number in range(script.wanted.runs):
        for path in PATHS if number % 2 == 0 else PATHS[::-1]:
            done = sum(map(len, values.values()))
            progress.update(f"{script.wanted.script}, {path}", done, len(PATHS) * script.wanted.runs)
            values[path].append(script.plain(path))
    for path in PATHS:
        result[path] = {**spread(values[path]), "values": values[path]}
    result["change"] = spread(changes(values["reference"], values["operator"], script.wanted.better))


def _end_of(done: _Run) -> str:
    if done.code is None:
        return "took too long and was ended"
    return f"was ended by signal {-done.code}" if done.code < 0 else f"ended with {done.code}"


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f": {lines[-1][:300]}" if lines else ""


def _end_of_file(file: Any) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _MOST_OUTPUT))
    return str(file.read().decode("utf-8", "replace"))
