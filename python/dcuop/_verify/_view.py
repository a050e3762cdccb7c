"""A result as text for a terminal or a log; docs/verify.md shows it."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, Optional, TextIO

from ._format import padded, printable
from ._summary import BAD, GOOD, OPEN, command, row, shapes_text
from ._words import Words

Json = Mapping[str, Any]

#: Failed cases that are shown in full.
MOST_FAILURES = 10
_LAYERS = ("backend", "correctness", "numerics", "micro", "e2e", "compare", "gate")
_LABEL = 14
_INNER = 12
_COLOURS = {GOOD: "32", BAD: "31;1", OPEN: "33", "dim": "2"}


def colour_wanted(stream: TextIO) -> bool:
    """Whether `stream` is a terminal whose user wants colour (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def text(result: Json, language: str = "en", colour: bool = False, here: Optional[str] = None) -> str:
    """All rows of `result`, ending with a newline. Paths are shortened as seen from `here`, the working directory."""
    return "".join(layer_text(result, layer, language, colour, here) for layer in _LAYERS)


def layer_text(result: Json, layer: str, language: str = "en", colour: bool = False, here: Optional[str] = None) -> str:
    """The rows of one layer ("backend", "compare" and "gate" too), with its failed cases; "" where it did not run."""
    words = Words(language)
    found = row(result, layer, words)
    if found is None:
        return ""
    painted = _Paint(colour)
    lines = []
    for at, line in enumerate(found.lines):
        label = padded(words.say(layer), _LABEL) if at == 0 else " " * _LABEL
        shown = printable(line)
        if at == 0 and found.verdict in (GOOD, BAD, OPEN):
            shown = painted(shown, found.verdict)
        lines.append(label + shown)
    if layer == "correctness":
        lines += _failures(result, words, painted, os.getcwd() if here is None else here)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def failure(result: Json, case: Json, words: Words, colour: bool = False, here: str = "") -> List[str]:
    """The lines of one failed case: what went wrong, its smallest form, elements that differ, the command."""
    painted = _Paint(colour)
    lines = [f"  {painted(words.say('case_failed'), BAD)}  {printable(case['id'])}"]
    if case.get("what"):
        lines.append(f"    {printable(words.known(case['what']))}")
    for label, value in _details(result, case, words, here):
        lines.append(f"    {padded(label, _INNER)}{printable(value)}")
    return lines


def _details(result: Json, case: Json, words: Words, here: str) -> List[List[str]]:
    details: List[List[str]] = []
    if case.get("smallest"):
        details.append([words.say("smallest"), smallest_text(case["smallest"], words)])
    differ = case.get("differ")
    if differ:
        details.append([words.say("differs"), differ_text(differ, words)])
    details += [["", element_text(one, words)] for one in case.get("differing") or ()]
    directory = str(result.get("directory") or result.get("op", ""))
    details.append([words.say("again"), command(result, case, _shortened(directory, here))])
    return details


def smallest_text(smallest: Json, words: Words) -> str:
    shapes = shapes_text(smallest.get("shapes") or {})
    if smallest.get("values"):
        shapes += (", " if shapes else "") + words.say("values_are", values=words.known(_values(smallest["values"])))
    if not smallest.get("runs"):
        return shapes
    key = "smallest_at_once" if smallest["runs"] == 1 else "smallest_text"
    return words.say(key, shapes=shapes, runs=smallest["runs"])


def _values(values: Any) -> str:
    if isinstance(values, Mapping):
        return ", ".join(f"{name} {value}" for name, value in values.items())
    return str(values)


def differ_text(differ: Json, words: Words) -> str:
    key = "differs_nan" if differ.get("max_ulp") is None else "differs_text"
    return words.say(key, count=differ["count"], of=differ["of"], ulp=differ.get("max_ulp"))


def element_text(one: Json, words: Words) -> str:
    values: Dict[str, Any] = {
        "index": ", ".join(str(part) for part in one.get("index") or ()),
        "got": one["got"],
        "want": one["want"],
    }
    if one.get("ulp") is None:
        return words.say("element", **values)
    return words.say("element_ulp", ulp=one["ulp"], **values)


def _failures(result: Json, words: Words, painted: "_Paint", here: str) -> List[str]:
    failed = [case for case in result["correctness"].get("cases", ()) if case["status"] == "failed"]
    lines: List[str] = []
    for case in failed[:MOST_FAILURES]:
        lines += failure(result, case, words, painted.wanted, here)
    if len(failed) > MOST_FAILURES:
        lines.append("  " + words.say("more_failures", count=len(failed) - MOST_FAILURES))
    return lines


def _shortened(directory: str, here: str) -> str:
    """Relative to `here` where it lies there or below."""
    if here and (directory == here or directory.startswith(here.rstrip("/") + "/")):
        return os.path.relpath(directory, here)
    return directory


class _Paint:
    def __init__(self, wanted: bool) -> None:
        self.wanted = wanted

    def __call__(self, shown: str, how: str) -> str:
        return f"\x1b[{_COLOURS[how]}m{shown}\x1b[0m" if self.wanted else shown
