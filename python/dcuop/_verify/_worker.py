"""The process that runs the operator: loads it, runs cases as they come, answers in JSON lines on its own descriptor.

What the operator prints goes to stdout and stderr, which are not a part of this.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import platform
import resource
import traceback
from typing import Any, Dict, Optional, TextIO

from .._errors import DcuopError, OpLoadError
from ._cases import Case
from ._contract import Request
from ._pieces import Pieces


def work(commands: int, answers: int) -> int:
    """Until there are no more commands: 0; 1 when this process is good for nothing more, which was answered. The first
    command is what to load: {"request": ..., "watch_memory": ...}."""
    faulthandler.enable()
    # A crash is a verdict; a file of some GiB for each would fill the disk.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with os.fdopen(commands, encoding="utf-8") as lines, os.fdopen(answers, "w", encoding="utf-8") as replies:
        for descriptor in (commands, answers):
            # The operator's own children have no part in it.
            os.set_inheritable(descriptor, False)
        first = json.loads(lines.readline())
        worker = _Work(replies)
        if not worker.load(Request.from_json(first["request"]), bool(first["watch_memory"])):
            return 1
        for line in lines:
            if not worker.do(json.loads(line)):
                return 1
    return 0


class _Work:
    def __init__(self, answers: TextIO) -> None:
        self._answers = answers
        self._request: Any = None
        self._target: Any = None
        self._bench: Any = None

    def answer(self, data: Dict[str, Any]) -> None:
        self._answers.write(json.dumps(data) + "\n")
        self._answers.flush()

    def load(self, request: Request, watch_memory: bool) -> bool:
        """False when there is nothing to run, which was answered."""
        try:
            import torch  # pylint: disable=import-outside-toplevel

            from ._checks import Bench  # pylint: disable=import-outside-toplevel
            from ._memory import FreshMemory  # pylint: disable=import-outside-toplevel
            from ._target import Target  # pylint: disable=import-outside-toplevel

            self._request = request
            self._target = Target.load(request)
            if watch_memory:
                self._bench = Bench(self._target, FreshMemory(self._target.device))
        except (Exception, SystemExit) as error:  # pylint: disable=broad-except
            self.answer({"error": _error(error)})
            return False
        facts = {"device": self._target.device_name, "torch": torch.__version__, "python": platform.python_version()}
        self.answer({"ready": facts})
        return True

    def do(self, command: Dict[str, Any]) -> bool:
        """False when this process is good for nothing more, which was answered."""
        if "layer" in command:
            return self._run_layer(str(command["layer"]), command["known"])
        from ._attempt import attempt  # pylint: disable=import-outside-toplevel

        verdict = attempt(self._bench, Case.from_json(command["case"]))
        self.answer({"verdict": verdict._asdict()})
        return not verdict.lost

    def _run_layer(self, name: str, known: Dict[str, Any]) -> bool:
        pieces = Pieces(known, self.answer)
        self._target.at = pieces.at
        try:
            layer = importlib.import_module(f"._{name}", __package__)
            result = layer.run(self._target, self._request, _Telling(self), pieces)
        except (Exception, SystemExit) as error:  # pylint: disable=broad-except
            # The account of it is for those who look after the layer.
            traceback.print_exc()
            what = error.message if isinstance(error, DcuopError) else f"{type(error).__name__}: {error}"
            self.answer({"error": {"message": f"it broke off: {what}", "hint": "", "exit_code": 1}})
            return False
        self.answer({"result": result})
        return True


class _Telling:
    """A Progress whose calls the parent makes."""

    def __init__(self, work: _Work) -> None:
        self._work = work

    def start(self, text: str) -> None:
        self._work.answer({"progress": ["start", text]})

    def update(self, what: str = "", done: Optional[int] = None, total: Optional[int] = None) -> None:
        self._work.answer({"progress": ["update", what, done, total]})

    def finish(self) -> None:
        self._work.answer({"progress": ["finish"]})

    def note(self, line: str) -> None:
        self._work.answer({"progress": ["note", line]})

    def close(self) -> None:
        """The parent's own stays open."""


def _error(error: BaseException) -> Dict[str, Any]:
    if isinstance(error, DcuopError):
        return {"message": error.message, "hint": error.hint, "exit_code": error.exit_code}
    if isinstance(error, OpLoadError):
        return {"message": str(error), "hint": "", "exit_code": 3}
    return {"message": f"the operator's files do not load: {type(error).__name__}: {error}", "hint": "", "exit_code": 2}
