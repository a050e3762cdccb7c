"""Processes that outlive who started them, in a session of their own perhaps: they become this process's children, and
are ended."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from typing import AbstractSet, Set

#: prctl(2): orphaned descendants become children of this process, not of init.
_PR_SET_CHILD_SUBREAPER = 36
#: Seconds after which one that SIGKILL does not end is left: it waits for a device or a disk.
_PATIENCE = 10.0


def adopt(wanted: bool = True) -> None:
    """From now on; what this process forks does not inherit it."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0)


def children() -> Set[int]:
    """The processes whose parent this one is, those too that have ended and were not waited for."""
    found = set()
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                # Behind the name of the program, which may hold anything: state, parent.
                parent = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        if parent == os.getpid():
            found.add(int(name))
    return found


def end(spared: AbstractSet[int] = frozenset()) -> None:
    """Ends all children but those `spared`, and what these leave in turn."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        left = children() - spared
        if not left:
            return
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, os.WNOHANG)
            except (ProcessLookupError, ChildProcessError):
                # Waited for by whoever started it.
                pass
        time.sleep(0.001)
