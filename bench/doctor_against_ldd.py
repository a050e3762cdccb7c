#!/usr/bin/env python3
"""How long does `dcuop doctor FILE.so` take beside `ldd -r FILE.so`, which finds less?

Runs both in turn on a torch extension with its whole closure, so that both meet the same machine, and prints the medians
and their ratio. The first run of each is left out: it fills the page cache and dcuop's memos.
"""

from __future__ import annotations

import argparse
import json
import os
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
    parser.add_argument("file", nargs="?", type=Path, help="a shared object; without one, ops/affine is built")
    parser.add_argument("--runs", type=int, default=20, help="of each program (default 20, at least 5)")
    parser.add_argument("--arch", default=os.environ.get("DCUOP_ARCH", "gfx906"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    runs = max(options.runs, 5)
    dcuop = os.environ.get("DCUOP", str(ROOT / "build" / "release" / "dcuop"))
    python = os.environ.get("DCUOP_PYTHON", "/usr/bin/python3")

    with tempfile.TemporaryDirectory(prefix="dcuop-bench-") as directory:
        environment = {**os.environ, "DCUOP_CACHE_DIR": os.path.join(directory, "cache"), "DCUOP_PYTHON": python}
        file = options.file or affine(dcuop, options.arch, environment)
        commands: Dict[str, Sequence[str]] = {
            "ldd -r": ["ldd", "-r", str(file)],
            "dcuop doctor": [dcuop, "doctor", str(file), "--arch", options.arch],
        }
        times: Dict[str, List[float]] = {name: [] for name in commands}
        for run in range(runs + 1):
            for name, command in commands.items():
                start = time.perf_counter()
                subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
                if run > 0:
                    times[name].append(time.perf_counter() - start)

    medians = {name: statistics.median(values) for name, values in times.items()}
    pairs = [ours / theirs for theirs, ours in zip(times["ldd -r"], times["dcuop doctor"])]
    result = {
        "file": str(file),
        "runs": runs,
        "ldd_median_s": medians["ldd -r"],
        "doctor_median_s": medians["dcuop doctor"],
        "ratio": medians["dcuop doctor"] / medians["ldd -r"],
        "ldd_quartiles_s": quartiles(times["ldd -r"]),
        "doctor_quartiles_s": quartiles(times["dcuop doctor"]),
        "ratio_of_pairs_quartiles": quartiles(pairs),
        "load": os.getloadavg()[0],
    }
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        print(f"{Path(result['file']).name}: ldd -r {medians['ldd -r']:.3f} s, dcuop doctor {medians['dcuop doctor']:.3f} s "
              f"(medians of {runs}, taken in turn): {result['ratio']:.2f} times")
        for name, key in (("ldd -r", "ldd_quartiles_s"), ("dcuop doctor", "doctor_quartiles_s"),
                          ("ratio of neighbours", "ratio_of_pairs_quartiles")):
            print(f"  {name}: quartiles {' / '.join(f'{value:.3f}' for value in result[key])}")
        print(f"  load average at the end: {result['load']:.1f}")
    return 0


def quartiles(values: Sequence[float]) -> List[float]:
    return statistics.quantiles(values, n=4)


def affine(dcuop: str, arch: str, environment: Dict[str, str]) -> str:
    command = [dcuop, "build", str(ROOT / "ops" / "affine"), "--arch", arch, "--json"]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}")
    return str(json.loads(done.stdout)["ops"][0]["path"])


if __name__ == "__main__":
    sys.exit(main())
