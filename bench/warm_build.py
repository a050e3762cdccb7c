#!/usr/bin/env python3
"""How long does `dcuop build ops/affine` take when there is nothing to do?

Runs it and `true` in turn, so that both meet the same machine, and prints the median of each. `true` is the
floor: what starting any process costs from here. A hit that starts a process, or is no hit, is an error.
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
from typing import Dict, List, Sequence

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("op", nargs="?", type=Path, default=ROOT / "ops" / "affine")
    parser.add_argument("--runs", type=int, default=50, help="of each program (default 50, at least 20)")
    parser.add_argument("--arch", default=os.environ.get("DCUOP_ARCH", "gfx906"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    runs = max(options.runs, 20)
    dcuop = os.environ.get("DCUOP", str(ROOT / "build" / "release" / "dcuop"))
    true = shutil.which("true") or "/bin/true"

    with tempfile.TemporaryDirectory(prefix="dcuop-bench-") as directory:
        environment = {
            **os.environ,
            "DCUOP_CACHE_DIR": os.path.join(directory, "cache"),
            "DCUOP_PYTHON": os.environ.get("DCUOP_PYTHON", "/usr/bin/python3"),
        }
        command = [dcuop, "build", str(options.op), "--arch", options.arch]
        cold = build(command, environment, wanted="built")
        warm = build(command, environment, wanted="hit")
        times: Dict[str, List[float]] = {"dcuop": [], "true": []}
        for _ in range(runs):
            times["true"].append(seconds([true], environment))
            times["dcuop"].append(seconds(command, environment))

    result = {
        "op": str(options.op),
        "runs": runs,
        "cold_seconds": cold["seconds"],
        "warm_median_ms": 1000 * statistics.median(times["dcuop"]),
        "warm_p10_ms": 1000 * quantile(times["dcuop"], 0.1),
        "warm_p90_ms": 1000 * quantile(times["dcuop"], 0.9),
        "true_median_ms": 1000 * statistics.median(times["true"]),
        "processes_started": warm["processes_started"],
    }
    print(json.dumps(result, indent=2) if options.json else text(result))
    return 0 if result["processes_started"] == 0 else 1


def build(command: Sequence[str], environment: Dict[str, str], wanted: str) -> Dict[str, object]:
    done = subprocess.run([*command, "--json"], env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}")
    answer = json.loads(done.stdout)
    status = answer["ops"][0]["status"]
    if status != wanted:
        sys.exit(f"{' '.join(command)}: {status} where {wanted} was expected")
    return answer


def seconds(command: Sequence[str], environment: Dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def quantile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def text(result: Dict[str, object]) -> str:
    return (
        f"{result['op']}: cold {result['cold_seconds']:.1f} s\n"
        f"warm  {result['warm_median_ms']:6.2f} ms  median of {result['runs']}"
        f"  (p10 {result['warm_p10_ms']:.2f}, p90 {result['warm_p90_ms']:.2f})\n"
        f"true  {result['true_median_ms']:6.2f} ms  median of {result['runs']}, in turn with it\n"
        f"processes started by a hit: {result['processes_started']}"
    )


if __name__ == "__main__":
    sys.exit(main())
