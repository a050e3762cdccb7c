"""A Python that has imported torch already, forked for each piece of code: the import alone takes a second.

What runs sees its own environment, directory and arguments, and ends as every Python does. It differs from `python -c`
in that torch is there before the code's first line: what depends on who imports torch, and when, needs a Python of
its own (conftest.in_python).
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
import textwrap
import threading
from pathlib import Path
from typing import Dict, Mapping, Optional, Sequence

SERVER = r"""
import json, os, sys, types
import torch

def become(job):
    os.chdir(job["directory"])
    os.environ.clear()
    os.environ.update(job["environment"])
    sys.argv = ["-c", *job["arguments"]]
    for number, name in enumerate(("/dev/null", job["stdout"], job["stderr"])):
        file = os.open(name, os.O_RDWR)
        os.dup2(file, number)
        os.close(file)
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__builtins__ = __builtins__
    return compile(job["code"], "<string>", "exec"), main.__dict__

def serve():
    print("ready", flush=True)
    while True:
        line = jobs.readline()
        if not line:
            os._exit(0)
        child = os.fork()
        if child == 0:
            jobs.close()
            return become(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)

jobs = os.fdopen(os.dup(0), encoding="utf-8")
code, names = serve()
try:
    exec(code, names)
except Exception as error:
    error.__traceback__ = error.__traceback__.tb_next
    sys.excepthook(type(error), error, error.__traceback__)
    sys.exit(1)
"""


class WarmPython:
    def __init__(self, interpreter: str, paths: Sequence[Path]) -> None:
        self.command = [interpreter, "-c", SERVER]
        self.own = {"PYTHONPATH": ":".join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1"}
        self.lock = threading.Lock()
        self.process: Optional["subprocess.Popen[str]"] = None

    def __call__(
        self,
        code: str,
        environment: Mapping[str, str],
        *arguments: object,
        cwd: Optional[Path] = None,
        timeout: float = 300,
    ) -> "subprocess.CompletedProcess[str]":
        """As conftest.in_python, with torch imported."""
        with self.lock, tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as err:
            job: Dict[str, object] = {
                "code": textwrap.dedent(code),
                "environment": {**environment, **self.own},
                "directory": str(cwd or Path.cwd()),
                "arguments": [str(argument) for argument in arguments],
                "stdout": out.name,
                "stderr": err.name,
            }
            status = self._ask(json.dumps(job), timeout)
            said = [Path(file.name).read_text(encoding="utf-8") for file in (out, err)]
        return subprocess.CompletedProcess([*self.command[:2], code], status, *said)

    def _ask(self, job: str, timeout: float) -> int:
        if self.process is None:
            self.process = subprocess.Popen(
                self.command,
                env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", **self.own},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
            )
            assert self._line(timeout) == "ready", "torch cannot be imported"
        assert self.process.stdin is not None
        self.process.stdin.write(job + "\n")
        self.process.stdin.flush()
        return int(self._line(timeout))

    def _line(self, timeout: float) -> str:
        assert self.process is not None and self.process.stdout is not None
        if not select.select([self.process.stdout], [], [], timeout)[0]:
            self.close()
            raise subprocess.TimeoutExpired(self.command[:2], timeout)
        return self.process.stdout.readline().strip()

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
