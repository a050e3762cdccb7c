"""Answers of dcuop that this process need not ask for again.

A hit costs what it takes to start dcuop and to compare all that the answer depends on. The second is needed, the first is
not: after a hit dcuop asks itself the same once more, watched by the kernel, and keeps the answer with every path, variable
and file of the kernel that it looked at (src/cli/remember.cpp). libdcuop_recall.so compares the paths in this process.
Whatever differs or is missing, dcuop is asked.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import threading
import time
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

from ._cache import cache_directory

_LIBRARY = "libdcuop_recall.so"
#: Paths that one thread compares before another pays: starting it takes as long as a hundred.
_WORTH_A_THREAD = 1500
_MOST_THREADS = 4
# Between two tries to remember, for an answer that does not hold from one process to the next, and for one that cannot be
# remembered at all.
_PATIENCE_SECONDS = 60
_REFUSED_SECONDS = 3600
#: How often an entry's last use is noted, as in src/store/use.cpp.
_STAMP_SECONDS = 60


class Question(NamedTuple):
    """A run of dcuop, as far as it is not its files, and where its answer is kept."""

    file: str
    environment: Mapping[str, str]

    @classmethod
    def of(cls, command: Sequence[str], stdin: Optional[str], variables: Mapping[str, str]) -> Optional["Question"]:
        """None where answers are not remembered."""
        environment = {**os.environ, **variables}
        cache = cache_directory(environment)  # one that config.toml names is another, where nothing is remembered
        if cache is None or _library(command[0]) is None or environment.get("DCUOP_RECALL") == "never":
            return None
        try:
            here = os.getcwd()
        except OSError:
            return None
        asked = [command, stdin, here, os.uname().nodename, os.geteuid(), os.getegid(), os.getgroups()]
        digest = hashlib.sha256(json.dumps(asked).encode("utf-8", "surrogateescape")).hexdigest()[:32]
        return cls(os.path.join(cache, "v1", "memo", "answers", digest), environment)

    def options(self) -> List[str]:
        """For a run whose answer is to be remembered."""
        try:
            status = os.stat(self.file)
        except OSError:
            return ["--remember", self.file]
        rest = _PATIENCE_SECONDS if status.st_size > 0 else _REFUSED_SECONDS
        return ["--remember", self.file] if abs(time.time() - status.st_mtime) > rest else []

    def recall(self, program: str) -> Optional[Dict[str, Any]]:
        """The op, as dcuop would name it now; None when it has to be asked."""
        library = _library(program)
        pointer = library and library.dcuop_recall_open(os.fsencode(self.file))
        if not pointer:
            return None
        recalled = _Recalled(library, pointer)
        answer = json.loads(library.dcuop_recall_answer(pointer))
        # Another one may answer otherwise: a link to the program that leads elsewhere now, or a script that starts it.
        if answer.get("program") != os.path.realpath(program) or not self._has_variables(answer["variables"]):
            return None
        if not recalled.holds() or not all(_is_on_kernel(path, found) for path, found in answer["kernel_files"].items()):
            return None
        _note_use(answer)
        op: Dict[str, Any] = answer["op"]
        return op

    def _has_variables(self, asked: Mapping[str, Any]) -> bool:
        here = self.environment
        return all(here.get(name) == value for name, value in asked["names"].items()) and all(
            {name: value for name, value in here.items() if name.startswith(prefix)} == values
            for prefix, values in asked["prefixes"].items()
        )


_libraries: Dict[str, Any] = {}


def _library(program: str) -> Any:
    """Beside this package, as the wheel has it, else beside the program; None when it is not there or does not load."""
    if program not in _libraries:
        _libraries[program] = None
        for directory in (os.path.dirname(os.path.abspath(__file__)), os.path.dirname(os.path.realpath(program))):
            try:
                library = ctypes.CDLL(os.path.join(directory, _LIBRARY))
            except OSError:
                continue
            library.dcuop_recall_open.argtypes = [ctypes.c_char_p]
            library.dcuop_recall_open.restype = ctypes.c_void_p
            library.dcuop_recall_close.argtypes = [ctypes.c_void_p]
            library.dcuop_recall_close.restype = None
            library.dcuop_recall_paths.argtypes = [ctypes.c_void_p]
            library.dcuop_recall_paths.restype = ctypes.c_size_t
            library.dcuop_recall_holds.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t]
            library.dcuop_recall_holds.restype = ctypes.c_int
            library.dcuop_recall_answer.argtypes = [ctypes.c_void_p]
            library.dcuop_recall_answer.restype = ctypes.c_char_p
            _libraries[program] = library
            break
    return _libraries[program]


class _Recalled:
    """An open file of an answer. Whoever compares its paths refers to it: a signal's exception may end this thread's wait
    for the others, and they still read what it holds."""

    def __init__(self, library: Any, pointer: int) -> None:
        self._library = library
        self._pointer = pointer

    def __del__(self) -> None:
        self._library.dcuop_recall_close(self._pointer)

    def holds(self) -> bool:
        """Whether all paths are what they were; ctypes calls without the interpreter's lock."""
        count = self._library.dcuop_recall_paths(self._pointer)
        parts = max(1, min(count // _WORTH_A_THREAD, len(os.sched_getaffinity(0)), _MOST_THREADS))
        bounds = [count * part // parts for part in range(parts + 1)]
        held = [False] * parts

        def compare(part: int) -> None:
            held[part] = bool(self._library.dcuop_recall_holds(self._pointer, bounds[part], bounds[part + 1]))

        threads = []
        for part in range(1, parts):
            thread = threading.Thread(target=compare, args=(part,))
            try:
                thread.start()
                threads.append(thread)
            except RuntimeError:  # no more threads or memory, or the interpreter is ending
                compare(part)
        compare(0)
        for thread in threads:
            thread.join()
        return all(held)


def _is_on_kernel(path: str, found: Any) -> bool:
    """Whether a file of /proc or /sys says what it did: src/cli/answer_paths.hpp."""
    try:
        if found is None:
            return not os.path.lexists(path)
        if found is True:
            return os.path.exists(path)
        if isinstance(found, list):
            return sorted(os.listdir(path)) == found
        if isinstance(found, dict):
            return bool(os.readlink(path) == found["link"])
        with open(path, encoding="utf-8", newline="") as file:
            return file.read() == found
    except (OSError, UnicodeDecodeError):
        return False


def _note_use(answer: Mapping[str, Any]) -> None:
    """What a hit writes: when the entry was used last, which is what keeps it, and that it was a hit."""
    try:
        now = time.time()
        if abs(now - os.lstat(answer["stamp"]).st_mtime) > _STAMP_SECONDS:
            os.utime(answer["stamp"], (now, now), follow_symlinks=False)
    except OSError:
        pass  # an entry of a cache that is read-only to us has no stamp
    try:
        tally = os.open(answer["tally"], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    except OSError:
        return
    try:
        os.write(tally, b"%d\n" % answer["saved_ms"])
    except OSError:
        pass  # a full disk loses a number, and no load
    finally:
        os.close(tally)
