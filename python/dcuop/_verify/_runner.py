"""Runs cases in processes that may crash or hang: then that is the verdict, and the next case gets a new one."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import Any, Dict, List, Optional, Tuple

from .._errors import DcuopError, error_from_json
from ._cases import Case
from ._contract import Request
from ._forkserver import KILL, send_descriptors
from ._pieces import Lost
from ._verdict import Verdict

#: Seconds for torch's import and the operator's, at least: from a cold disk that has taken most of a minute.
_START_SECONDS = 180.0
#: A run of an end-to-end script may take as long as this many cases.
SCRIPT_CASES = 10
#: Seconds in which a process that was killed has to be gone.
_END_SECONDS = 60.0
#: For processes whose memory is watched: what is free is not kept beside malloc's lists, where it would not be filled
#: (https://www.gnu.org/software/libc/manual/html_node/Memory-Allocation-Tunables.html).
_TUNABLES = ("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0")
# Not with -m: a json.py in the working directory would be run.
_FORKSERVER = """
import sys
sys.path = [path for path in sys.path if path]
from dcuop._verify._forkserver import main
sys.exit(main())
"""
#: Bytes of what a process printed that are kept: the end.
_KEPT_OUTPUT = 65536


class Runner:
    """One process at a time, started when it is needed. `with Runner(...)`: it leaves none behind."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._servers: Dict[bool, _Server] = {}  # by whether memory is watched
        self._worker: Optional[_Worker] = None
        self.facts: Dict[str, str] = {}  #: "device", "torch", "python"; known once the operator is loaded

    def __enter__(self) -> "Runner":
        return self

    def __exit__(self, *_: Any) -> None:
        self._worker = None
        for server in self._servers.values():
            server.end()
        self._servers.clear()

    def start(self) -> None:
        """Raises DcuopError when the operator does not load."""
        self._started()

    def run(self, case: Case, timeout: Optional[float] = None) -> Verdict:
        """A verdict, whatever the operator does; after `timeout` seconds, by default the request's, it is that. Raises
        as start() does."""
        if case.skip:
            return Verdict("skipped", reason=case.skip)
        worker = self._started()
        limit = timeout if timeout is not None else self._request.options.timeout
        since = time.monotonic()
        answer = worker.ask({"case": case.to_json()}, limit)
        if answer is None:
            self._worker = None
            return _lost(worker, limit, time.monotonic() - since)
        verdict = Verdict(**answer["verdict"])
        if verdict.lost:
            self._end_worker()
        return verdict

    def layer(self, name: str, progress: Any) -> Dict[str, Any]:
        """The result of a layer's run(target, request, progress, pieces), in processes whose memory is not watched. A
        piece of it that hangs or crashes is lost alone. Raises DcuopError when the layer breaks off."""
        known: Dict[str, Any] = {}
        while True:
            self._end_worker()
            worker = self._started(watch_memory=False)
            worker.send({"layer": name, "known": known})
            found = _LayerAnswers(worker, known, progress).read(self._limit_of_layer(name))
            if found is not None:
                self._end_worker()
                if "error" in found:
                    raise error_from_json(found["error"], 1)
                result: Dict[str, Any] = found["result"]
                return result
            self._worker = None

    def _limit_of_layer(self, name: str) -> float:
        """Seconds between two words of it: a call of numerics or micro, a script's whole run of e2e, which has a limit
        of its own."""
        timeout = self._request.options.timeout
        return SCRIPT_CASES * timeout + _END_SECONDS if name == "e2e" else timeout

    def _end_worker(self) -> None:
        if self._worker is not None:
            self._worker.end()
            self._worker = None

    def _started(self, watch_memory: bool = True) -> "_Worker":
        if self._worker is None:
            if watch_memory not in self._servers:
                self._servers[watch_memory] = _Server(self._request, watch_memory)
            worker = _Worker(self._servers[watch_memory])
            limit = max(_START_SECONDS, self._request.options.timeout)
            answer = worker.ask({"request": self._request.raw, "watch_memory": watch_memory}, limit)
            if answer is None:
                raise DcuopError(f"{self._request.name} does not load: {_lost(worker, limit, 0.0).what}", "", 1)
            if "error" in answer:
                worker.end()
                raise error_from_json(answer["error"], 1)
            self.facts = dict(answer["ready"])
            self._worker = worker
        return self._worker


class _LayerAnswers:
    """What a process that runs a layer tells; pieces are put into `known`."""

    def __init__(self, worker: "_Worker", known: Dict[str, Any], progress: Any) -> None:
        self._worker = worker
        self._known = known
        self._progress = progress
        self._begun: Optional[str] = None
        self._step = ""

    def read(self, limit: float) -> Optional[Dict[str, Any]]:
        """Its last answer, "result" or "error"; None when it was lost with a piece, which is known then."""
        while True:
            answer = self._worker.receive(limit)
            if answer is None:
                lost = _lost(self._worker, limit, 0.0)
                why = f"{self._step}: {lost.what}" if self._step else lost.what
                if self._begun is None:
                    return {"error": {"message": f"it broke off: {why}", "hint": "", "exit_code": 1}}
                self._known[self._begun] = Lost(lost.kind, why).to_json()
                return None
            if "result" in answer or "error" in answer:
                return answer
            self._note(answer)

    def _note(self, answer: Dict[str, Any]) -> None:
        if "progress" in answer:
            call, *arguments = answer["progress"]
            getattr(self._progress, call)(*arguments)
        elif "step" in answer:
            self._step = answer["step"]
        elif "found" in answer:
            self._known[answer["piece"]] = answer["found"]
            self._begun, self._step = None, ""
        else:
            self._begun, self._step = answer["begun"], ""


class _Server:
    """The fork server: see there."""

    def __init__(self, request: Request, watch_memory: bool) -> None:
        environment = {**os.environ, **request.environment()}
        if watch_memory:
            known = environment.get(_TUNABLES[0])
            environment[_TUNABLES[0]] = f"{known}:{_TUNABLES[1]}" if known else _TUNABLES[1]
        package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        known = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = package + (os.pathsep + known if known else "")
        self.control, theirs = socket.socketpair()
        with theirs:
            # A session of its own: Ctrl-C is ours to deal with, and closing the socket ends it.
            self._process = subprocess.Popen(  # pylint: disable=consider-using-with
                [sys.executable, "-c", _FORKSERVER, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env=environment,
                start_new_session=True,
            )
        self._unread = b""
        self._answered = False

    def answer(self, limit: float) -> Dict[str, int]:
        """Raises DcuopError when there is none within `limit` seconds."""
        deadline = time.monotonic() + limit
        while b"\n" not in self._unread:
            left = deadline - time.monotonic()
            more = b""
            if left > 0 and select.select([self.control], [], [], left)[0]:
                more = self.control.recv(4096)
            if not more:
                raise DcuopError("the process that starts those which run the operator does not answer", "", 1)
            self._unread += more
        self._answered = True
        line, _, self._unread = self._unread.partition(b"\n")
        answer: Dict[str, int] = json.loads(line)
        return answer

    def end(self) -> None:
        """With what it has started."""
        self.control.close()
        if not self._answered:
            # It still imports torch, for many seconds on a busy machine, and has started nothing that it had to end.
            self._process.kill()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class _Worker:
    """A process that runs the operator, and the pipes to it."""

    def __init__(self, server: _Server) -> None:
        self._server = server
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        self._output_end, output = os.pipe()
        try:
            send_descriptors(server.control, [commands, answers, output])
        finally:
            for descriptor in (commands, answers, output):
                os.close(descriptor)
        self._unread = b""
        self._output = b""
        self._reader = threading.Thread(target=self._drain, name="dcuop-output", daemon=True)
        self._reader.start()
        self.timed_out = False
        self.status: Optional[int] = None  #: its wait status, once it has ended
        server.answer(_START_SECONDS)

    def ask(self, command: Dict[str, Any], limit: float) -> Optional[Dict[str, Any]]:
        """The answer; None when the process ended, or was ended because `limit` seconds had passed."""
        self.send(command)
        return self.receive(limit)

    def send(self, command: Dict[str, Any]) -> None:
        text = (json.dumps(command) + "\n").encode("utf-8")
        try:
            while text:
                text = text[os.write(self._commands, text) :]
        except BrokenPipeError:
            # It has ended; receive() will find that.
            pass

    def receive(self, limit: Optional[float]) -> Optional[Dict[str, Any]]:
        deadline = None if limit is None else time.monotonic() + limit
        while b"\n" not in self._unread:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            # The server tells of its end: a process that it started itself may hold the pipe open.
            sources: List[Any] = [self._answers, self._server.control]
            ready = select.select(sources, [], [], left)[0]
            if not ready:
                self.timed_out = True
            more = os.read(self._answers, 65536) if self._answers in ready else b""
            if not more:
                self.end()
                return None
            self._unread += more
        line, _, self._unread = self._unread.partition(b"\n")
        answer: Dict[str, Any] = json.loads(line)
        return answer

    @property
    def last_words(self) -> str:
        """The last line that it printed, but for Python's own account of a crash."""
        text = self._output.decode("utf-8", "replace").split("Fatal Python error")[0]
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return lines[-1][:200] if lines else ""

    def end(self) -> None:
        """Ends it, with its children; may be called again."""
        if self.status is not None:
            return
        os.close(self._commands)
        if self._ended_by_itself():
            self.status = self._server.answer(_END_SECONDS)["status"]
        else:
            self._server.control.sendall(KILL)
            self.status = self._server.answer(_END_SECONDS)["status"]
        self._reader.join(_END_SECONDS)
        os.close(self._answers)

    def _ended_by_itself(self) -> bool:
        """Without commands it does, unless something holds it up."""
        patience = 0.0 if self.timed_out else 2.0
        return bool(select.select([self._server.control], [], [], patience)[0])

    def _drain(self) -> None:
        with os.fdopen(self._output_end, "rb", buffering=0) as stream:
            while True:
                some = stream.read(65536)
                if not some:
                    return
                self._output = (self._output + some)[-_KEPT_OUTPUT:]


def _lost(worker: _Worker, limit: float, seconds: float) -> Verdict:
    words = f'; its last words: "{worker.last_words}"' if worker.last_words else ""
    if worker.timed_out:
        return Verdict("failed", "timeout", f"it did not end within {limit:g} s{words}", seconds=seconds)
    kind, what = _end_of(worker.status or 0)
    return Verdict("failed", kind, what + words, seconds=seconds)


def _end_of(status: int) -> Tuple[str, str]:
    """The sort of fault, and a sentence, for a wait status."""
    if os.WIFEXITED(status):
        return "exit", f"the process ended by itself, with exit code {os.WEXITSTATUS(status)}"
    number = os.WTERMSIG(status)
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = "unknown"
    hint = "; memory may have run out" if number == signal.SIGKILL else ""
    return f"signal {number}", f"the process was ended by signal {number} ({name}){hint}"
