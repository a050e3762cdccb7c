"""docs/doctor-truth.md: a row per class of failure, counted."""

from __future__ import annotations

import datetime
import platform
from pathlib import Path
from typing import Dict, List

INTRODUCTION = """# What the doctor is right about

`make doctor-truth` makes the files of `tests/truth` with real compilers and the real torch, lets a child Python import or
open each of them, and compares: does `dcuop doctor` say the same (verdict), does its first finding name the cause in words
that the case demands (cause), and does `ldd -r` complain of anything at all. What is expected of each case stands in
`tests/truth/cases/`, written before the doctor saw it (of B4 a rule was added later, and then its id). There is no GPU
where it runs: that a kernel cannot be launched is known by how a case is made, whether it loads is measured, with torch
imported first and without.

Of C9, F2, I9 and I10 no file tells: there a command that really fails (pip, an import, a call of torch.ops, load_inline) is
run, and the doctor is given what it said (`--message`). C5b is warned of and loads: that the older revision is called is
known by its name, what it does is not measured. Of C8 the runtime is a stub that opens nothing.

The first run, before what it showed was mended: same verdict 160/184, right cause 113/143, false alarms 0/41.

The classes are those of a collection of 105 public reports on extensions that do not load or not launch; the link is to
one report of each.
"""


def _reports(kind: dict) -> str:
    count = len(kind["reports"])
    text = "-" if count == 0 else f"{count}"
    return f"[{text}]({kind['link']})" if kind["link"] else text


def _row(kind: dict, results: List, gaps: Dict[str, str]) -> str:
    title = f"| {kind['id']} {kind['title']} | {_reports(kind)} |"
    if not results:
        return f"{title} - | - | - | - | not made: {kind['not_made']} |"
    count = len(results)
    known = "; ".join(
        f"{result.expected.name}: {gaps[result.expected.name]}" for result in results if result.expected.name in gaps
    )
    failed = ", ".join(
        result.expected.name for result in results if result.problems and result.expected.name not in gaps
    )
    remark = "; ".join(part for part in (known, f"FAILED {failed}" if failed else "") if part)
    verdicts = sum(result.same_verdict for result in results)
    causes = sum(result.right_cause for result in results)
    ldd = sum(result.ldd_complains for result in results)
    return f"{title} {count} | {verdicts} | {causes} | {ldd} | {remark} |"


def write(path: Path, table, results: List, gaps: Dict[str, str], counts) -> None:
    by_kind: Dict[str, List] = {}
    for result in results:
        if not result.made.impossible:
            by_kind.setdefault(result.expected.kind, []).append(result)
    healthy = by_kind.get("healthy", [])
    date = datetime.date.today().isoformat()
    lines = [
        INTRODUCTION,
        f"{date}, {platform.system()} {platform.machine()}, glibc {platform.libc_ver()[1]}: {counts.line()}.",
        "",
    ]
    lines += [
        "| class | reports | cases | same verdict | right cause | `ldd -r` complains | gaps |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [_row(kind, by_kind.get(kind["id"], []), gaps) for kind in table.kinds.values()]
    alarms = sum(bool(result.errors()) for result in healthy)
    agreeing = sum(result.same_verdict for result in healthy)
    ldd = sum(result.ldd_complains for result in healthy)
    lines += [
        "",
        "## Healthy files",
        "",
        f"{len(healthy)} files that load (and launch where they have device code): {agreeing} said to, {alarms} with an error "
        f"finding, {sum(bool(result.warnings()) for result in healthy)} with a warning. `ldd -r` complains of {ldd}: it knows "
        "neither Python nor what torch has loaded.",
        "",
        ", ".join(f"`{result.expected.name.removeprefix('healthy_')}`" for result in healthy) + ".",
        "",
    ]
    skipped = [result for result in results if result.made.impossible]
    if skipped:
        lines += [
            "Not made on this machine: "
            + "; ".join(f"{result.expected.name} ({result.made.impossible})" for result in skipped)
            + ".",
            "",
        ]
    path.write_text("\n".join(lines), "utf-8")
