"""Starts the processes that run the operator. torch is imported here, once: a new process takes milliseconds.

Nothing is computed here that has values, so that no thread of torch's is lost in a fork. A process for each message;
it gets the three descriptors that come with it (commands, answers, output). Its number is answered, and its wait status
when it has ended, by itself or because the socket said so or was closed. What it started itself ends with it, in whatever
session that is.
"""

from __future__ import annotations

import array
import ctypes
import json
import os
import select
import signal
import socket
import sys
from typing import Any, Dict, List, NoReturn, Optional

from . import _orphans

#: prctl(2): the signal for when the parent is gone.
_PR_SET_PDEATHSIG = 1
_DESCRIPTORS = 3

START, KILL = b"s", b"k"


def send_descriptors(control: socket.socket, descriptors: List[int]) -> None:
    """Asks for a process. (socket.send_fds is of Python 3.9.)"""
    control.sendmsg([START], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))])


def main() -> int:
    """sys.argv[1]: the number of a stream socket's descriptor."""
    control = socket.socket(fileno=int(sys.argv[1]))
    woken, wake = os.pipe()
    for descriptor in (woken, wake):
        os.set_blocking(descriptor, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    _import()
    _orphans.adopt()
    while True:
        descriptors = _receive(control)
        if descriptors is None:
            return 0
        pid = os.fork()
        if pid == 0:
            control.close()
            os.close(woken)
            _become_worker(descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        _tell(control, {"pid": pid})
        _tell(control, {"status": _wait(pid, control, woken)})


def _import() -> None:
    try:
        import torch  # pylint: disable=import-outside-toplevel

        from . import _attempt  # noqa: F401  pylint: disable=unused-import,import-outside-toplevel

        # The first tensor without memory imports 900 modules more: 2 to 5 s with torch 2.11 to 2.15.
        torch.empty(2, device="meta").mul(2)
    except Exception:  # pylint: disable=broad-except
        # The worker will meet it again, and say so.
        pass


def _receive(control: socket.socket) -> Optional[List[int]]:
    room = socket.CMSG_LEN(_DESCRIPTORS * array.array("i").itemsize)
    data, ancillary, _, _ = control.recvmsg(1, room)
    for level, kind, content in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            return list(array.array("i", content))
    # A request to end a process that has ended meanwhile.
    return None if not data else _receive(control)


def _become_worker(descriptors: List[int]) -> NoReturn:
    code = 1
    try:
        server = os.getppid()
        os.setsid()
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        commands, answers, output = descriptors
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        if os.getppid() == server:
            from ._worker import work  # pylint: disable=import-outside-toplevel

            code = work(commands, answers)
    except BaseException:  # pylint: disable=broad-except
        sys.excepthook(*sys.exc_info())
    finally:
        # Without what was registered to be done at this interpreter's exit.
        os._exit(code)


def _wait(pid: int, control: socket.socket, woken: int) -> int:
    """The wait status of a process that has ended; ended here when the socket says so, or is closed."""
    listening: List[Any] = [control, woken]
    while True:
        ready = select.select(listening, [], [])[0]
        if woken in ready:
            os.read(woken, 4096)
        if control in ready:
            if not control.recv(1):
                listening.remove(control)
            _kill(pid)
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            # Before it is waited for: until then the number of its group is nobody else's.
            _kill(pid)
            status = os.waitpid(pid, 0)[1]
            _orphans.end()
            return status


def _kill(pid: int) -> None:
    """The process and those that it started."""
    os.kill(pid, signal.SIGKILL)
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        # Ended before it had a group of its own.
        pass


def _tell(control: socket.socket, what: Dict[str, int]) -> None:
    try:
        control.sendall((json.dumps(what) + "\n").encode("ascii"))
    except OSError:
        sys.exit(0)
