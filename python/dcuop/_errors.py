"""The exceptions: one for each exit code of dcuop, and one for a file that does not load."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Type


class Finding(NamedTuple):
    """What `dcuop doctor` found; `dcuop rule <rule>` explains it."""

    rule: str
    severity: str
    cause: str
    evidence: Tuple[Tuple[str, str], ...]
    fix: str

    @classmethod
    def from_json(cls, data: Dict[str, Any]) -> "Finding":
        evidence = tuple((line.get("label", ""), line.get("text", "")) for line in data.get("evidence", ()))
        return cls(
            rule=data.get("rule", ""),
            severity=data.get("severity", ""),
            cause=data.get("cause", ""),
            evidence=evidence,
            fix=data.get("fix", ""),
        )


class DcuopError(RuntimeError):
    """dcuop could not do what was asked. `str(error)` is the message, and the hint below it when there is one."""

    def __init__(self, message: str, hint: str = "", exit_code: int = 1, log: Optional[Path] = None) -> None:
        lines = [message, hint, f"command and full log: {log}" if log else ""]
        super().__init__("\n".join(line.rstrip("\n") for line in lines if line))
        self.message = message
        self.hint = hint
        self.exit_code = exit_code  #: of the program; -N when signal N ended it
        self.log = log  #: the full build log, when there is one


class BuildError(DcuopError):
    """The operator does not compile or link (exit code 1)."""


class UsageProblem(DcuopError):
    """A wrong argument, manifest or setting (exit code 2)."""


class EnvironmentProblem(DcuopError):
    """No compiler, no torch, no arch, a cache that cannot be written (exit code 3)."""


class LockTimeoutError(DcuopError):
    """Another process was still building it when the lock timeout passed (exit code 4)."""


class BuildForbiddenError(DcuopError):
    """It is not in the cache, and DCUOP_BUILD=never forbids building it (exit code 5)."""


class ProgramNotFoundError(DcuopError):
    """The dcuop program itself was not found, or could not be started."""


class OpLoadError(ImportError):
    """The file is there and does not load. `findings` are the doctor's, the most severe first."""

    def __init__(self, message: str, *, name: str, path: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(message, name=name, path=path)
        self.findings: List[Finding] = list(findings)


_BY_EXIT_CODE: Dict[int, Type[DcuopError]] = {
    1: BuildError,
    2: UsageProblem,
    3: EnvironmentProblem,
    4: LockTimeoutError,
    5: BuildForbiddenError,
}


def error_from_json(data: Dict[str, Any], exit_code: int) -> DcuopError:
    """The exception for an "error" object of dcuop's JSON."""
    code = data.get("exit_code", exit_code)
    log = data.get("log")
    return _BY_EXIT_CODE.get(code, DcuopError)(
        data.get("message", f"dcuop failed with exit code {code}"),
        data.get("hint", ""),
        code,
        Path(log) if log else None,
    )
