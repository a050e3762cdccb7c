#!/usr/bin/env python3
"""How long does `dcuop superkernel plan --simulate` take for the largest scopes that it reads?

Three scopes of vector operators that each wait for one another 64 times: all right, every other one a core short, and a
usual one beside them. Prints the median of wall and processor time, and the most memory that a run took.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEAD = 'backend = "ge"\nplatform = {{ product = "A3", aic = 24, aiv = {cores} }}\n'
OPERATOR = """
[[operator]]
name = "op{index}"
kernel_type = "AIV_ONLY"
block_num = {blocks}
sync = {{ all = "plain", all_count = {syncs} }}
"""


def scope(operators: int, syncs: int, cores: int, short: int) -> str:
    return HEAD.format(cores=cores) + "".join(
        OPERATOR.format(index=index, blocks=cores - (short if index % 2 else 0), syncs=syncs)
        for index in range(operators)
    )


def measure(dcuop: str, path: Path, runs: int) -> str:
    walls, processors, most = [], [], 0
    for _ in range(runs):
        start = time.perf_counter()
        process = subprocess.Popen(
            [dcuop, "superkernel", "plan", str(path), "--simulate"], stdout=subprocess.PIPE, text=True
        )
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        walls.append(time.perf_counter() - start)
        processors.append(usage.ru_utime + usage.ru_stime)
        most = max(most, usage.ru_maxrss)
        assert os.waitstatus_to_exitcode(status) in (0, 1), status
        assert "predicates and simulation agree" in said, said[-500:]
    return (
        f"wall {statistics.median(walls):.2f} s, processor {statistics.median(processors):.2f} s, {most / 1024:.0f} MiB"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    dcuop = os.environ.get("DCUOP", str(ROOT / "build" / "release" / "dcuop"))
    with tempfile.TemporaryDirectory(prefix="dcuop-bench-") as directory:
        path = Path(directory) / "scope.toml"
        for operators, syncs, cores, short in ((20, 2, 48, 0), (512, 64, 1000, 0), (512, 64, 1000, 1)):
            path.write_text(scope(operators, syncs, cores, short), encoding="utf-8")
            kind = "every other a core short" if short else "all right"
            print(f"{operators} operators, {syncs} SyncAll, {cores} cores, {kind}: {measure(dcuop, path, options.runs)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
