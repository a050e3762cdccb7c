"""The pieces that a layer's work has, a row or a point each, so that one which hangs or crashes is lost alone.

The process that runs a layer tells of each piece that it begins and finds, and between them of each call that it makes.
When it is lost, its successor gets what was found, and for the piece that was begun how it ended.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional

Json = Dict[str, Any]


class Lost(NamedTuple):
    """How the process that worked at a piece ended."""

    kind: str  #: that of a verdict: "timeout", "signal 11", "exit"
    why: str

    def to_json(self) -> Json:
        return {"lost": self.kind, "why": self.why}


class Pieces:
    """`known`: by key, a piece that was found, or a Lost as JSON."""

    def __init__(
        self, known: Optional[Mapping[str, Json]] = None, tell: Callable[[Json], None] = lambda message: None
    ) -> None:
        self._known = dict(known or {})
        self._tell = tell

    def get(self, key: str, find: Callable[[], Json], lost: Callable[[Lost], Json]) -> Json:
        """What `find` gives, which has to be JSON; where that ended the process, what `lost` makes of it."""
        known = self._known.get(key)
        if known is None:
            self._tell({"begun": key})
            known = find()
            self._tell({"piece": key, "found": known})
        return lost(Lost(str(known["lost"]), str(known["why"]))) if set(known) == {"lost", "why"} else known

    def at(self, step: str) -> None:
        """What is called next: "the formula"."""
        self._tell({"step": step})
