"""What came of one case."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional


class Verdict(NamedTuple):
    """Of one run of one case; as JSON it is `_asdict()`."""

    status: str  #: "passed", "failed", "skipped"
    kind: str = ""  #: the sort of fault: "differs", "signal 11", "timeout", "exit", ...
    what: str = ""  #: one sentence on the fault
    reason: str = ""  #: why it was skipped
    differing: List[Dict[str, Any]] = []
    differ: Optional[Dict[str, Any]] = None
    seconds: float = 0.0
    lost: bool = False  #: the process that ran it is good for nothing more
