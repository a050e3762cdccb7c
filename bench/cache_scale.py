#!/usr/bin/env python3
"""What do dcuop's commands take on a cache with 1,000, 10,000 and 100,000 entries?

Fills a cache for each size (build/.../fill_cache makes the entries through libdcuop's own store), then runs
the commands on all of them in turn, so that each meets the same machine, and prints medians in milliseconds:
of wall time and, in parentheses, of processor time, which a busy machine disturbs less. A hit and a dry run of
a miss must not grow with the cache; what walks it may.

`prune` is the walk that finds nothing to remove; `prune 10 %` is measured once a size, as it changes the cache.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Dict, List, NamedTuple, Sequence, Tuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = '#include "value.h"\nextern "C" int value() { return VALUE; }\n'
MANIFEST = '[op]\nname = "scale"\nkind = "plain"\nabi = "none"\n\n[build]\nsources = ["op.cpp"]\n'


class Times(NamedTuple):
    """Milliseconds."""

    wall: float
    processor: float


class Cache:
    """A cache with `count` entries, and an op that it holds and one that it does not."""

    def __init__(self, directory: Path, count: int, programs: Path) -> None:
        self.count = count
        self.dcuop = str(programs / "dcuop")
        self.root = directory / f"cache{count}"
        self.hit = write_op(directory / f"hit{count}", 1)
        self.miss = write_op(directory / f"miss{count}", 2)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("DCUOP_")},
            "DCUOP_CACHE_DIR": str(self.root),
            "DCUOP_MAX_SIZE": "1T",
        }
        start = time.perf_counter()
        subprocess.run([str(programs / "fill_cache"), str(self.root), str(count), "scale", str(self.hit)], check=True)
        print(f"filled {count:,} entries in {time.perf_counter() - start:.0f} s", file=sys.stderr)
        self.run("cache", "prune")  # counts it, so that no build below starts that beside the measurement
        self.run("build", str(self.hit))
        self.run("key", str(self.miss))

    def run(self, *arguments: str, limit: str = "1T") -> Times:
        start = time.perf_counter()
        process = subprocess.Popen([self.dcuop, *arguments], env={**self.environment, "DCUOP_MAX_SIZE": limit},
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"dcuop {' '.join(arguments)}: exit code {process.returncode}")
        return Times(1000 * wall, 1000 * (usage.ru_utime + usage.ru_stime))

    def commands(self) -> Dict[str, Tuple[str, ...]]:
        return {
            "hit": ("build", str(self.hit)),
            "dry run of a miss": ("build", "--dry-run", str(self.miss)),
            "list": ("list",),
            "stats": ("cache", "stats"),
            "prune": ("cache", "prune"),
        }

    def ask(self, *arguments: str) -> Dict[str, int]:
        done = subprocess.run([self.dcuop, *arguments, "--json"], env=self.environment, stdout=subprocess.PIPE,
                              text=True, check=True)
        return json.loads(done.stdout)

    def prune_a_tenth(self) -> Times:
        """A limit such that about a tenth of it has to go."""
        size = self.ask("cache", "prune")["bytes_left"]
        before = self.ask("cache", "stats")["entries"]
        wall = self.run("cache", "prune", limit=str(size * 99 // 100))
        after = self.ask("cache", "stats")["entries"]
        if not 0.05 * before < before - after < 0.2 * before:
            sys.exit(f"prune took {before - after} of {before} entries where a tenth was expected")
        return wall


def write_op(directory: Path, value: int) -> Path:
    directory.mkdir()
    (directory / "dcuop.toml").write_text(MANIFEST)
    (directory / "op.cpp").write_text(SOURCE)
    (directory / "value.h").write_text(f"#define VALUE {value}\n")
    return directory


def measure(caches: Sequence[Cache], runs: int) -> Dict[int, Dict[str, Times]]:
    all_times: Dict[int, Dict[str, List[Times]]] = {cache.count: {} for cache in caches}
    for number in range(1, runs + 1):
        for name in caches[0].commands():
            for cache in caches:
                all_times[cache.count].setdefault(name, []).append(cache.run(*cache.commands()[name]))
        print(f"run {number} of {runs}", file=sys.stderr)
    result = {count: {name: median(times) for name, times in of_count.items()} for count, of_count in all_times.items()}
    for cache in caches:
        result[cache.count]["prune 10 %"] = cache.prune_a_tenth()
    return result


def median(times: Sequence[Times]) -> Times:
    return Times(statistics.median(one.wall for one in times), statistics.median(one.processor for one in times))


def table(result: Dict[int, Dict[str, Times]]) -> str:
    counts = sorted(result)
    lines = ["| ms | " + " | ".join(f"{count:,}" for count in counts) + " |", "| --- |" + " ---: |" * len(counts)]
    for name in result[counts[0]]:
        cells = [f"{result[count][name].wall:,.1f} ({result[count][name].processor:,.1f})" for count in counts]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", nargs="*", type=int, default=[1_000, 10_000, 100_000])
    parser.add_argument("--runs", type=int, default=7, help="of each command (default 7, at least 5)")
    parser.add_argument("--programs", type=Path, default=ROOT / "build" / "release", help="has dcuop and fill_cache")
    parser.add_argument("--directory", type=Path, help="where to make the caches (default: TMPDIR)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not (options.programs / "fill_cache").exists():
        sys.exit(f"cmake --build {options.programs} --target fill_cache dcuop")
    directory = Path(tempfile.mkdtemp(prefix="dcuop-scale-", dir=options.directory))
    try:
        caches = [Cache(directory, count, options.programs) for count in options.counts]
        result = measure(caches, max(options.runs, 5))
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    print(json.dumps(result, indent=2) if options.json else table(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
