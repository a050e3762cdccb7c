"""What really happens: a child Python imports or opens the file, with torch imported first and without.

Most children are forked from one Python that has torch already: what a child then does is the same, and costs
milliseconds. A case with variables, limits or mounts of its own gets a Python of its own.
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import threading
from subprocess import STDOUT
from typing import Dict, List, Optional

from workshop import PYTHON, Made

CHILD = r"""
import ctypes, importlib.machinery, importlib.util, json, os, sys

def load(path, way, module):
    if way == "import":
        loader = importlib.machinery.ExtensionFileLoader(module, path)
        spec = importlib.util.spec_from_file_location(module, path, loader=loader)
        loader.exec_module(importlib.util.module_from_spec(spec))
    else:
        ctypes.CDLL(path, mode=os.RTLD_NOW)

def attempt(job):
    try:
        load(job["file"], job["way"], job["module"])
        print("LOADED", flush=True)
    except BaseException as problem:
        print(f"FAILED {type(problem).__name__}: {problem}", flush=True)
    os._exit(0)

def serve():
    import torch
    print("ready", flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if child == 0:
            with open(job["output"], "w") as output:
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
            attempt(job)
        print(os.waitpid(child, 0)[1], flush=True)

if sys.argv[1] == "serve":
    serve()
else:
    try:
        if sys.argv[1] == "torch":
            import torch
    except BaseException as problem:
        print(f"FAILED import torch: {type(problem).__name__}: {problem}", flush=True)
        os._exit(0)
    attempt(json.loads(sys.argv[2]))
"""

BARE = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LANG": "C.UTF-8",
    "HOME": "/nonexistent",
    "PYTHONDONTWRITEBYTECODE": "1",
}


@dataclasses.dataclass(frozen=True)
class Outcome:
    loaded: bool
    message: str  #: what Python or the loader said, or the signal


def module_of(made: Made) -> str:
    return made.module or os.path.basename(made.file).split(".")[0]


def _job(made: Made) -> Dict[str, str]:
    return {"file": made.file, "way": made.way, "module": module_of(made)}


def outcome(output: str, status: int) -> Outcome:
    """`status` as subprocess says it: negative for a signal."""
    lines = [line for line in output.splitlines() if line.strip()]
    if "LOADED" in lines and status == 0:
        return Outcome(True, "")
    if status < 0:
        return Outcome(False, f"{signal.Signals(-status).name} {lines[-1] if lines else ''}".strip())
    for line in lines:
        if line.startswith("FAILED "):
            return Outcome(False, line[7:])
    return Outcome(False, lines[-1] if lines else f"exit status {status}")


def run(
    made: Made, command: List[str], environment: Optional[Dict[str, str]] = None, *, text: str = "", stderr: int = STDOUT
) -> "subprocess.CompletedProcess[str]":
    """As the case wants it: behind its prefix, with its variables; `text` is what stdin gives."""
    return subprocess.run(
        [*made.prefix, *command],
        env={**BARE, **(environment or {}), **made.env},
        input=text,
        stdout=subprocess.PIPE,
        stderr=stderr,
        encoding="utf-8",
        errors="replace",
        timeout=300,
        check=False,
    )


def in_own_process(made: Made, torch_first: bool) -> Outcome:
    done = run(made, [PYTHON, "-c", CHILD, "torch" if torch_first else "bare", json.dumps(_job(made))])
    status = done.returncode
    # Behind a shell or prlimit a signal comes as 128 and its number.
    return outcome(done.stdout, 128 - status if status > 128 else status)


def of_command(made: Made) -> "tuple[Outcome, str]":
    """What came of a command, and all that it said."""
    done = run(made, made.command)
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    return Outcome(done.returncode == 0, "" if done.returncode == 0 else lines[-1] if lines else ""), done.stdout


class TorchServer:
    """One Python with torch, forked for each file."""

    def __init__(self, scratch: str):
        self.scratch = scratch
        self.lock = threading.Lock()
        self.process: Optional["subprocess.Popen[str]"] = None

    def load(self, made: Made) -> Outcome:
        with self.lock:
            if self.process is None:
                self.process = subprocess.Popen(
                    [PYTHON, "-c", CHILD, "serve"],
                    env=BARE,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    encoding="utf-8",
                )
                assert self.process.stdout.readline() == "ready\n", "torch cannot be imported"
            output = os.path.join(self.scratch, f"loading-{os.getpid()}.out")
            self.process.stdin.write(json.dumps({**_job(made), "output": output}) + "\n")
            self.process.stdin.flush()
            status = os.waitstatus_to_exitcode(int(self.process.stdout.readline()))
            with open(output, encoding="utf-8", errors="replace") as text:
                said = text.read()
            os.unlink(output)
            return outcome(said, status)

    def close(self) -> None:
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()


def measure(made: Made, server: TorchServer, ways: List[bool]) -> Dict[bool, Outcome]:
    """Outcome by whether torch was imported first."""
    own = made.env or made.prefix
    return {
        torch_first: server.load(made) if torch_first and not own else in_own_process(made, torch_first)
        for torch_first in ways
    }
