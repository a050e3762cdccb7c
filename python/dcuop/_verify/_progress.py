"""How a long run shows that it lives: one live line on a terminal, now and then a line elsewhere. On stderr."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from typing import Any, Callable, Optional, TextIO

#: Seconds between two lines where there is no terminal.
HEARTBEAT_SECONDS = 10.0
#: Seconds between two drawings of the live line.
_REDRAW_SECONDS = 0.1
# Below this, a line that is gone at once would only flicker.
_QUIET_SECONDS = 0.3


class Progress:
    """`start` a part of the run, `update` it, `finish` it; `note` prints a line that stays. From one thread.

    A thread of its own draws, so that the age is right while the caller waits.
    """

    def __init__(
        self,
        stream: Optional[TextIO] = None,
        enabled: bool = True,
        heartbeat: float = HEARTBEAT_SECONDS,
        translate: Callable[[str], str] = str,
    ) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._live = enabled and self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._enabled = enabled
        self._heartbeat = heartbeat
        self._translate = translate
        self._lock = threading.Lock()
        self._text = ""
        self._count = ""
        self._what = ""
        self._since = 0.0
        self._drawn = False
        self._stop = threading.Event()
        self._thread: Optional[threading.Thread] = None

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def start(self, text: str) -> None:
        """A part of the run: "correctness"."""
        with self._lock:
            self._text, self._count, self._what, self._since = self._translate(text), "", "", time.monotonic()
        if self._enabled and self._thread is None:
            self._thread = threading.Thread(target=self._draw_on, name="dcuop-progress", daemon=True)
            self._thread.start()

    def update(self, what: str = "", done: Optional[int] = None, total: Optional[int] = None) -> None:
        """What it is at now: "affine/float16/size/257", the 12th of 160."""
        with self._lock:
            self._what = self._translate(what)
            if done is not None:
                self._count = f" [{done}/{total}]" if total is not None else f" [{done}]"

    def finish(self) -> None:
        with self._lock:
            self._erase()
            self._text = ""

    def note(self, line: str) -> None:
        """A line that stays, above the live one."""
        with self._lock:
            self._erase()
            self._write(self._translate(line) + "\n")

    def close(self) -> None:
        self.finish()
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _draw_on(self) -> None:
        beat = time.monotonic()
        while not self._stop.wait(_REDRAW_SECONDS if self._live else min(self._heartbeat, 0.5)):
            now = time.monotonic()
            with self._lock:
                if not self._text or now - self._since < _QUIET_SECONDS:
                    continue
                if self._live:
                    self._draw(now)
                elif now - max(beat, self._since) >= self._heartbeat:
                    beat = now
                    self._write(self._line(now) + "\n")

    def _line(self, now: float) -> str:
        return f"{self._text}{self._count} {self._what}".rstrip() + f"  {now - self._since:.0f}s"

    def _draw(self, now: float) -> None:
        width = shutil.get_terminal_size().columns - 1
        self._write("\r\x1b[2K" + self._line(now)[:width])
        self._drawn = True

    def _erase(self) -> None:
        if self._drawn:
            self._write("\r\x1b[2K")
            self._drawn = False

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            # Whoever read it is gone; the run itself is worth finishing.
            self._enabled = False
