"""Finds the dcuop program and runs it for its JSON."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any, Dict, Iterator, Mapping, NamedTuple, Optional, Sequence

from ._errors import DcuopError, ProgramNotFoundError

_SCHEMA = 1


class Answer(NamedTuple):
    """What one run of the program said."""

    exit_code: int
    data: Dict[str, Any]


def find_program() -> str:
    """$DCUOP, else the one that was installed with this package, else the one on PATH."""
    named = os.environ.get("DCUOP")
    if named:
        found = shutil.which(named)
        if found is None:
            raise ProgramNotFoundError(
                f"DCUOP names {named}, which is no executable file", "Set DCUOP to the dcuop program, or unset it."
            )
        return found
    looked_at = ["$DCUOP"]
    for place in _installed_places():
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return place
        looked_at.append(place)
    found = shutil.which("dcuop")
    if found is None:
        raise ProgramNotFoundError(
            f"the dcuop program was not found (looked at {', '.join(looked_at)} and PATH)",
            "Build it with `make build` and set DCUOP=<checkout>/build/release/dcuop, or put it on PATH.",
        )
    return found


def _installed_places() -> Iterator[str]:
    """Where the wheel's script may lie: by where this package lies, as `pip install --prefix` and `--target` put
    it beside no interpreter; then by the interpreter, for an editable install."""
    site = Path(__file__).resolve().parents[1]
    if site.name in ("site-packages", "dist-packages"):
        yield str(site.parents[2] / "bin" / "dcuop")
    yield str(site / "bin" / "dcuop")
    yield os.path.join(sysconfig.get_path("scripts"), "dcuop")


def ask(
    arguments: Sequence[str],
    *,
    variables: Optional[Mapping[str, str]] = None,
    verbose: bool = False,
    timeout: Optional[float] = None,
    stdin: Optional[str] = None,
) -> Answer:
    """Runs dcuop, which answers in JSON on stdout whether it succeeds or not.

    Progress goes to stderr: shown when `verbose`, else kept for the case that there is no answer.
    """
    command = [find_program(), *arguments]
    try:
        # errors="replace": a path that is no UTF-8 must not hide the message that it stands in.
        result = subprocess.run(
            command,
            **({"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}),
            stdout=subprocess.PIPE,
            stderr=None if verbose else subprocess.PIPE,
            env={**os.environ, **(variables or {})},
            cwd=_directory(),
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except OSError as error:
        raise ProgramNotFoundError(f"{command[0]} cannot be started: {error.strerror}") from error
    try:
        data = json.loads(result.stdout)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise _no_answer(command, result.returncode, result.stderr or "")
    if data.get("schema", _SCHEMA) != _SCHEMA:
        raise DcuopError(
            f"{command[0]} answers in schema {data['schema']}, and this dcuop package reads schema {_SCHEMA}",
            "Use the program and the package of one release.",
            result.returncode,
        )
    return Answer(result.returncode, data)


def _directory() -> Optional[str]:
    """Another one for the program when this process's own was removed: its paths are absolute."""
    try:
        os.getcwd()
        return None
    except OSError:
        return "/"


def _no_answer(command: Sequence[str], exit_code: int, stderr: str) -> DcuopError:
    ended = f"was ended by signal {-exit_code}" if exit_code < 0 else f"ended with exit code {exit_code}"
    said = stderr.strip()
    return DcuopError(
        f"`{' '.join(command)}` {ended} and gave no JSON" + (f":\n{said[-2000:]}" if said else ""), "", exit_code
    )
