#!/usr/bin/env python3
"""What do dcuop's commands take on a cache with 1,000, 10,000 and 100,000 entries?

Fills a cache for each size (build/.../fill_cache makes the entries through libdcuop's own store), then runs
the commands on all of them in turn, so that each meets the same machine, and prints the medians in
milliseconds. A hit and a dry run of a miss must not grow with the cache; what walks it may.

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
from typing import Dict, List, Sequence, Tuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = '#include "value.h"\nextern "C" int value() { return VALUE; }\n'
MANIFEST = '[op]\nname = "scale"\nkind = "plain"\nabi = "none"\n\n[build]\nsources = ["op.cpp"]\n'


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
        self.run("build", str(self.hit))
        self.run("key", str(self.miss))

    def run(self, *arguments: str, limit: str = "1T") -> float:
        start = time.perf_counter()
        done = subprocess.run([self.dcuop, *arguments], env={**self.environment, "DCUOP_MAX_SIZE": limit},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        wall = time.perf_counter() - start
        if done.returncode != 0:
            sys.exit(f"dcuop {' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")
        return wall

    def commands(self) -> Dict[str, Tuple[str, ...]]:
        return {
            "hit": ("build", str(self.hit)),
            "dry run of a miss": ("build", "--dry-run", str(self.miss)),
            "list": ("list",),
            "stats": ("cache", "stats"),
            "prune": ("cache", "prune"),
        }

    def prune_a_tenth(self) -> float:
        """A limit such that about a tenth of it has to go."""
        listing = json.loads(subprocess.run([self.dcuop, "cache", "stats", "--json"], env=self.environment, check=True,
                                            stdout=subprocess.PIPE, text=True).stdout)
        before = listing["entries"]
        size = listing["entry_bytes"] + listing["object_bytes"] + listing["other_bytes"]
        wall = self.run("cache", "prune", limit=str(size * 99 // 100))
        after = json.loads(subprocess.run([self.dcuop, "cache", "stats", "--json"], env=self.environment, check=True,
                                          stdout=subprocess.PIPE, text=True).stdout)["entries"]
        if not 0.05 * before < before - after < 0.2 * before:
            sys.exit(f"prune took {before - after} of {before} entries where a tenth was expected")
        return wall


def write_op(directory: Path, value: int) -> Path:
    directory.mkdir()
    (directory / "dcuop.toml").write_text(MANIFEST)
    (directory / "op.cpp").write_text(SOURCE)
    (directory / "value.h").write_text(f"#define VALUE {value}\n")
    return directory


def measure(caches: Sequence[Cache], runs: int) -> Dict[int, Dict[str, float]]:
    walls: Dict[int, Dict[str, List[float]]] = {cache.count: {} for cache in caches}
    for _ in range(runs):
        for name in caches[0].commands():
            for cache in caches:
                walls[cache.count].setdefault(name, []).append(cache.run(*cache.commands()[name]))
    result = {count: {name: 1000 * statistics.median(times) for name, times in of_count.items()}
              for count, of_count in walls.items()}
    for cache in caches:
        result[cache.count]["prune 10 %"] = 1000 * cache.prune_a_tenth()
    return result


def table(result: Dict[int, Dict[str, float]]) -> str:
    counts = sorted(result)
    lines = ["| ms | " + " | ".join(f"{count:,}" for count in counts) + " |", "| --- |" + " ---: |" * len(counts)]
    for name in result[counts[0]]:
        lines.append(f"| {name} | " + " | ".join(f"{result[count][name]:,.1f}" for count in counts) + " |")
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
