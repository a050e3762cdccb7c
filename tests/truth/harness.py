#!/usr/bin/env python3
"""Compares `dcuop doctor` with what really happens, case by case, and with what `ldd -r` lets one see.

Ends with one line of counts, and with 1 when a healthy file gets an error, a verdict differs, or anything else fails
that is not in known_gaps.toml. `--report` writes the table of docs/doctor-truth.md.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Dict, List, Optional

import tomllib

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

import loading  # noqa: E402
import recipes_device  # noqa: E402,F401
import recipes_files  # noqa: E402,F401
import recipes_healthy  # noqa: E402,F401
import recipes_libraries  # noqa: E402,F401
import recipes_messages  # noqa: E402,F401
import recipes_running  # noqa: E402,F401
import recipes_torch  # noqa: E402,F401
from workshop import PYTHON, RECIPES, Made, Workshop  # noqa: E402

WITH_AND_WITHOUT_TORCH = {
    "yes": (True, True),
    "after torch": (True, False),
    "before torch": (False, True),
    "no": (False, False),
}


@dataclasses.dataclass(frozen=True)
class Expected:
    name: str
    kind: str
    loads: str
    launches: bool = True
    root: tuple = ()
    names: tuple = ()
    shows: tuple = ()
    also: tuple = ()

    @property
    def healthy(self) -> bool:
        return self.kind == "healthy"

    @property
    def verdict(self) -> str:
        """With torch imported first, as the doctor judges it."""
        if not WITH_AND_WITHOUT_TORCH[self.loads][0]:
            return "does_not_load"
        return "loads" if self.launches else "loads_cannot_launch"


@dataclasses.dataclass(frozen=True)
class Table:
    kinds: Dict[str, dict]
    cases: Dict[str, Expected]


def table() -> Table:
    rows: Dict[str, List[dict]] = {"kind": [], "case": []}
    for file in sorted((HERE / "cases").glob("*.toml")):
        for key, found in tomllib.loads(file.read_text("utf-8")).items():
            rows[key] += found
    cases = {}
    for row in rows["case"]:
        lists = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
        assert row["name"] not in cases, row["name"]
        assert row["loads"] in WITH_AND_WITHOUT_TORCH, row["name"]
        cases[row["name"]] = Expected(**lists)
    assert set(cases) == set(RECIPES), set(cases) ^ set(RECIPES)
    return Table({kind["id"]: kind for kind in rows["kind"]}, cases)


def known_gaps() -> Dict[str, str]:
    """Case -> why it is known to fail."""
    document = tomllib.loads((HERE / "known_gaps.toml").read_text("utf-8"))
    return {gap["case"]: gap["why"] for gap in document.get("gap", [])}


@dataclasses.dataclass
class Result:
    expected: Expected
    made: Made
    outcomes: Dict[bool, loading.Outcome]
    verdict: str
    findings: List[dict]
    headline: str
    ldd: str
    ldd_complains: bool
    doctor_seconds: float
    problems: List[str] = dataclasses.field(default_factory=list)  #: one a line, "what: detail"

    @property
    def same_verdict(self) -> bool:
        return not any(problem.startswith(("verdict", "reality", "doctor")) for problem in self.problems)

    @property
    def right_cause(self) -> bool:
        return not self.problems

    def errors(self) -> List[dict]:
        return [finding for finding in self.findings if finding["severity"] == "error"]

    def warnings(self) -> List[dict]:
        """Of the file: the machine here has no GPU, and may be warned of."""
        return [finding for finding in self.findings if finding["severity"] == "warning"]


def ask_doctor(made: Made, binary: Path, scratch: Path, message: str) -> dict:
    asked = ["--torch-extensions"] if made.jit_cache else ["--message", "-"] if made.command else [made.file]
    own = {"DCUOP_CACHE_DIR": str(scratch / "dcuop-cache"), "DCUOP_PYTHON": PYTHON}
    kept = {name: os.environ[name] for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS") if name in os.environ}
    command = [str(binary), "doctor", "--json", *asked, *made.arguments]
    done = loading.run(made, command, {**own, **kept}, text=message, stderr=subprocess.PIPE)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = {"error": {"message": f"exit status {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}"}}
    if (made.jit_cache or made.command) and "findings" in answer:
        bad = [finding for finding in answer["findings"] if finding["severity"] != "note"]
        answer["verdict"] = "does_not_load" if bad else "loads"
    return answer


def ask_ldd(made: Made) -> "subprocess.CompletedProcess[str]":
    if made.command:
        return subprocess.CompletedProcess([], 0, "nothing that it could be asked about")
    return loading.run(made, ["ldd", "-r", made.file])


def contains(text: str, words) -> List[str]:
    """The words that the text lacks."""
    lower = text.lower()
    return [word for word in words if word.lower() not in lower]


def root_of(findings: List[dict], expected: Expected) -> Optional[dict]:
    """The most severe finding. Notes stand side by side: the machine's are among them, none is the first."""
    told = [finding for finding in findings if finding["severity"] != "note"]
    if told:
        return told[0]
    return next((finding for finding in findings if finding["rule"] in expected.root), None)


def judge(result: Result) -> None:
    expected = result.expected
    say = result.problems.append
    for torch_first, outcome in result.outcomes.items():
        if outcome.loaded != WITH_AND_WITHOUT_TORCH[expected.loads][0 if torch_first else 1]:
            what = "loads" if outcome.loaded else f"does not load ({outcome.message})"
            say(f"reality: {what} {'with' if torch_first else 'without'} torch, the table says {expected.loads}")
    if result.verdict != expected.verdict:
        say(f"verdict: {result.verdict}, it is {expected.verdict}: {result.headline}")
    if expected.healthy and result.errors():
        say(f"false alarm: {result.errors()[0]['rule']} {result.errors()[0]['cause']}")
    for finding in result.findings:
        if "dcuop build OP" in finding["fix"] and "(OP: " not in finding["fix"]:
            say(f"fix: what OP stands for is not said: {finding['rule']} {finding['fix']}")
    judge_cause(result, say)


def judge_cause(result: Result, say) -> None:
    expected = result.expected
    if expected.healthy and not expected.root:
        return
    root = root_of(result.findings, expected)
    if root is None:
        say(f"cause: none found, it is {' or '.join(expected.root)}")
        return
    wanted = expected.root
    if root["rule"] not in wanted and "*" not in wanted:
        say(f"cause: {root['rule']} {root['cause']}; it is {' or '.join(wanted)}")
        return
    unnamed = contains(f"{result.headline} {root['cause']}", expected.names)
    if unnamed:
        say(f"sentence: does not name {', '.join(unnamed)}: {root['rule']} {root['cause']}")
    same = [finding for finding in result.findings if finding["rule"] == root["rule"]]
    shown = " ".join(
        f"{finding['cause']} {finding['fix']} "
        + " ".join(f"{row['label']} {row['text']}" for row in finding["evidence"])
        for finding in same
    )
    unseen = contains(shown, expected.shows)
    if unseen:
        say(f"evidence: does not show {', '.join(unseen)}: {root['rule']} {root['cause']}")
    rules = {finding["rule"] for finding in result.findings}
    for rule in expected.also:
        if rule not in rules:
            say(f"second cause: {rule} is not found")


def examine(expected: Expected, workshop: Workshop, server: loading.TorchServer, binary: Path) -> Result:
    made = workshop.case(expected.name)
    if made.impossible:
        return Result(expected, made, {}, "", [], "", "", False, 0, [f"not made: {made.impossible}"])
    said = ""
    if made.command:
        outcome, said = loading.of_command(made)
        outcomes = {True: outcome}
    else:
        outcomes = loading.measure(made, server, [True, False])
    start = time.monotonic()
    answer = ask_doctor(made, binary, workshop.root, said)
    seconds = time.monotonic() - start
    ldd = ask_ldd(made)
    complains = (
        ldd.returncode != 0
        or re.search(r"undefined symbol|not found|not a dynamic|Inconsistency", ldd.stdout) is not None
    )
    result = Result(
        expected,
        made,
        outcomes,
        answer.get("verdict", "none"),
        answer.get("findings", []),
        answer.get("headline", ""),
        ldd.stdout,
        complains,
        seconds,
    )
    if "error" in answer:
        result.problems.append(f"doctor: {answer['error']['message']}")
    else:
        judge(result)
    return result


@dataclasses.dataclass
class Counts:
    cases: int = 0
    faulty: int = 0
    same_verdict: int = 0
    right_cause: int = 0
    false_alarms: int = 0
    warnings_on_healthy: int = 0
    ldd_sees: int = 0
    ldd_false_alarms: int = 0

    def add(self, result: Result) -> None:
        self.cases += 1
        self.same_verdict += result.same_verdict
        healthy = result.expected.healthy
        if healthy:
            self.false_alarms += bool(result.errors())
            self.warnings_on_healthy += bool(result.warnings())
            self.ldd_false_alarms += result.ldd_complains
        else:
            self.faulty += 1
            self.right_cause += result.right_cause
            self.ldd_sees += result.ldd_complains

    def line(self) -> str:
        healthy = self.cases - self.faulty
        return (
            f"{self.cases} cases ({self.faulty} faulty, {healthy} healthy): same verdict {self.same_verdict}/{self.cases}, "
            f"right cause {self.right_cause}/{self.faulty}, false alarms {self.false_alarms}/{healthy} "
            f"(with a warning {self.warnings_on_healthy}); ldd -r complains of {self.ldd_sees}/{self.faulty} faulty and "
            f"{self.ldd_false_alarms}/{healthy} healthy"
        )


def count(results: List[Result]) -> Counts:
    counts = Counts()
    for result in results:
        if not result.made.impossible:
            counts.add(result)
    return counts


def show(result: Result, gaps: Dict[str, str], verbose: bool) -> None:
    if result.problems or verbose:
        mark = "ok" if not result.problems else "known gap" if result.expected.name in gaps else "FAILED"
        print(f"{mark:9} {result.expected.name} ({result.expected.kind})")
        for problem in result.problems:
            print(f"            {problem}")
    if verbose:
        for torch_first, outcome in result.outcomes.items():
            print(
                f"            {'with' if torch_first else 'without'} torch: {'loads' if outcome.loaded else outcome.message}"
            )
        print(f"            doctor: {result.verdict}: {result.headline}")
        for finding in result.findings:
            print(f"            {finding['severity']} {finding['rule']} {finding['cause']}")
            for row in finding["evidence"] if verbose > 1 else ():
                print(f"                {row['label']}: {row['text']}")


def passed(results: List[Result], gaps: Dict[str, str]) -> bool:
    """A gap may be known in the cause that is named, never in the verdict on a healthy file."""
    good = True
    for result in results:
        known = result.expected.name in gaps
        alarmed = result.expected.healthy and bool(result.problems)
        good = good and not alarmed and (known or not result.problems or bool(result.made.impossible))
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help="these alone (default: all)")
    parser.add_argument("--dcuop", type=Path, default=ROOT / "build" / "release" / "dcuop")
    parser.add_argument(
        "--work", type=Path, default=ROOT / "build" / "doctor-truth", help="where the files are made and kept"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--report", type=Path, help="write the table here")
    parser.add_argument("-v", "--verbose", action="count", default=0)
    arguments = parser.parse_args()
    expectations = table()
    gaps = known_gaps()
    chosen = [expectations.cases[name] for name in arguments.cases or expectations.cases]
    chosen.sort(key=lambda expected: not expected.healthy)  # the long compiles first: these have torch's headers
    workshop = Workshop(arguments.work)
    workshop.root.mkdir(parents=True, exist_ok=True)
    server = loading.TorchServer(str(workshop.root))
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(lambda expected: workshop.case(expected.name), chosen))
        results = list(
            pool.map(lambda expected: examine(expected, workshop, server, arguments.dcuop.resolve()), chosen)
        )
    server.close()
    for result in results:
        show(result, gaps, arguments.verbose)
    for stale in sorted(set(gaps) & {result.expected.name for result in results if not result.problems}):
        print(f"mended    {stale} is in known_gaps.toml and does not fail any more")
    if arguments.report:
        import report

        report.write(arguments.report, expectations, results, gaps, count(results))
    print(count(results).line())
    return 0 if passed(results, gaps) else 1


if __name__ == "__main__":
    sys.exit(main())
