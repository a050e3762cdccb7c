"""python -m dcuop._verify REQUEST.json...: for each op runs the layers that are asked for, shows and keeps the result."""

from __future__ import annotations

import os
import sys
import time
from typing import Any, Callable, Dict, List, Mapping, Optional

from .._errors import DcuopError
from . import _compare, _correctness, _gate, _reports, _results, _view
from ._contract import LAYERS, Request
from ._progress import Progress
from ._runner import Runner
from ._words import Words

Show = Callable[[Mapping[str, Any], str], None]  #: a result and the layer whose rows are known now


def main(arguments: List[str]) -> int:
    """The exit code, of the first op whose is not 0: 0 the gate is passed, 1 it is not, 2 a wrong request or contract,
    3 no torch or device."""
    if not arguments:
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    try:
        codes = [_verify(path) for path in arguments]
        return next((code for code in codes if code != 0), 0)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read the rows has read enough. What is buffered goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _verify(path: str) -> int:
    try:
        request = Request.read(path)
        if request.options.list:
            return _list(request)
        for report in request.options.reports:
            _reports.check(report)
        with Progress(enabled=not request.options.quiet, translate=Words(request.language).known) as progress:
            return _finish(request, _measure(request, progress, _shown(request)), _shown(request))
    except DcuopError as error:
        print(f"dcuop: {error}", file=sys.stderr)
        return error.exit_code if error.exit_code in (2, 3, 5) else 1


def _list(request: Request) -> int:
    words = Words(request.language)
    for case in _correctness.cases(request):
        print(case.id + (f"   ({words.known(case.skip)})" if case.skip else ""))
    return 0


def _measure(request: Request, progress: Progress, show: Show) -> Dict[str, Any]:
    """The result, but for the gate: a part for each layer that ran. A layer that breaks off is said and left out."""
    since = time.monotonic()
    with Runner(request) as runner:
        try:
            runner.start()
        except KeyboardInterrupt:
            progress.note("dcuop: interrupted while the operator was being loaded; nothing was run")
            raise
        result = head(request, runner.facts)
        show(result, "backend")
        for layer in LAYERS:
            if layer not in request.options.layers:
                continue
            try:
                part = _part(runner, layer, request, progress)
            except KeyboardInterrupt as error:
                progress.note(_interrupted(layer, error))
                if isinstance(error, _correctness.Interrupted):
                    show({**result, layer: error.part}, layer)
                raise
            if part is not None:
                result[layer] = part
                progress.finish()
                show(result, layer)
    result["seconds"] = time.monotonic() - since
    return result


def _part(runner: Runner, layer: str, request: Request, progress: Progress) -> Optional[Dict[str, Any]]:
    if layer == "correctness":
        return _correctness.run(runner, request, progress)
    try:
        return runner.layer(layer, progress)
    except DcuopError as error:
        progress.note(f"dcuop: {layer}: {error}")
        return None


def _interrupted(layer: str, error: KeyboardInterrupt) -> str:
    of = f" after {error.done} of {error.total} cases" if isinstance(error, _correctness.Interrupted) else ""
    return f"dcuop: interrupted in the layer {layer}{of}; the result is not kept"


def head(request: Request, facts: Mapping[str, str]) -> Dict[str, Any]:
    """What is measured, on what, and when."""
    return {
        "schema": _results.SCHEMA,
        "op": request.name,
        "directory": str(request.directory),
        "entry": request.op.get("entry"),
        "backend": request.backend,
        "backend_origin": request.backend_origin,
        "emulated": not request.has_device,
        "arch": list(request.op.get("archs") or ()),
        "device": facts.get("device"),
        "torch": facts.get("torch"),
        "python": facts.get("python"),
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "seed": request.options.seed,
        "seconds": 0.0,
        "build": dict(request.build or {}),
    }


def _finish(request: Request, result: Dict[str, Any], show: Show) -> int:
    """Judges and keeps the result, writes what was asked for; the exit code."""
    options = request.options
    if options.compare is not None:
        kept = _results.other(result, request.cache_dir, options.compare)
        note = "; ".join(kept.notes)
        result["compare"] = (
            _compare.nothing_to_compare(note) if kept.result is None else _compare.compare(result, kept.result)
        )
        show(result, "compare")
    result["gate"] = _gate.judge(result, request.raw["contract"].get("gate") or {}, options.layers)
    show(result, "gate")
    # A part of the cases is no result of the operator.
    if request.cache_dir and result["entry"] and options.case is None:
        problem = _results.keep(result, request.cache_dir)
        if problem:
            print(f"dcuop: {Words(request.language).known(problem)}", file=sys.stderr)
    for report in options.reports:
        _reports.write(result, report, request.language)
    if options.json:
        sys.stdout.write(_results.to_json(result))
    sys.stdout.flush()
    return _gate.exit_code(result["gate"])


def _shown(request: Request) -> Show:
    """Prints rows as soon as they are known; nothing for --json, which is one text."""
    colour = _view.colour_wanted(sys.stdout)
    here = os.getcwd()

    def show(result: Mapping[str, Any], layer: str) -> None:
        if not request.options.json:
            sys.stdout.write(_view.layer_text(result, layer, request.language, colour, here))
            sys.stdout.flush()

    return show


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
