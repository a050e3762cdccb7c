"""Writes a result to the files that --report names."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Mapping

from .._errors import EnvironmentProblem, UsageProblem
from . import _report_html, _report_md
from ._results import to_json

_FORMATS = {
    ".html": _report_html.render,
    ".htm": _report_html.render,
    ".md": _report_md.render,
    ".json": lambda result, _: to_json(result, indent=2),
}


def check(path: str) -> None:
    """Raises UsageProblem for a report that cannot be written: told before hours of measuring, not after."""
    if Path(path).suffix.lower() not in _FORMATS:
        raise UsageProblem(f"--report {path}: the end of the name says the format: .html, .md or .json", "", 2)
    if not Path(path).absolute().parent.is_dir():
        raise UsageProblem(f"--report {path}: there is no directory {Path(path).absolute().parent}", "", 2)


def write(result: Mapping[str, Any], path: str, language: str = "en") -> None:
    """Writes the report, in the format that the name's end says. Raises UsageProblem for another end,
    EnvironmentProblem when the file cannot be written."""
    check(path)
    text = _FORMATS[Path(path).suffix.lower()](result, language)
    try:
        Path(path).write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise EnvironmentProblem(f"--report {path}: {error.strerror or error}", "", 3) from error
