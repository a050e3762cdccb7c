#!/usr/bin/env python3
"""torch.utils.cpp_extension.load against dcuop.load, on the same extension, in the same situations, in turn.

    bench/torch_loader.py [--rounds 3] [--json]

Each load runs in a Python process of its own; what is timed is the call, with torch imported before it. Torch's loader
needs ninja. The extension is this repository's C++ binding with one unit that reads torch/extension.h and one that does
not: cold (empty caches), warm (a new process), after an edit of the small unit, after an edit of the header that both
read, and 8 processes at once (cold; the time until the last one has it).
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
from typing import Callable, Dict, List

ROOT = Path(__file__).resolve().parents[1]
PYTHON = os.environ.get("DCUOP_PYTHON", "/usr/bin/python3")
SITUATIONS = ("cold", "warm", "unit edit", "header edit", "8 at once")

BINDING = """
#include <torch/extension.h>
#include "op.h"
torch::Tensor scaled(torch::Tensor x) { return x * factor(SCALE); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scaled", &scaled); }
"""
UNIT = """
#include "op.h"
double factor(double scale) { return scale * 1; }
"""
HEADER = """
#define SCALE 2.0
double factor(double scale);
"""

LOADER = """
import sys, time, torch
if sys.argv[1] == "dcuop":
    import dcuop
    load = dcuop.load
else:
    from torch.utils.cpp_extension import load
start = time.perf_counter()
module = load("bench_ext", [sys.argv[2] + "/binding.cpp", sys.argv[2] + "/unit.cpp"], extra_cflags=["-O2"])
seconds = time.perf_counter() - start
assert module.scaled(torch.ones(1)).item() == float(sys.argv[3]), module.scaled(torch.ones(1))
print(seconds)
"""


class Contestant:
    """One loader with a cache of its own and a copy of the sources."""

    def __init__(self, name: str, directory: Path) -> None:
        self.name = name
        self.cache = directory / name / "cache"
        self.sources = directory / name / "src"
        self.sources.mkdir(parents=True)
        for file, text in (("binding.cpp", BINDING), ("unit.cpp", UNIT), ("op.h", HEADER)):
            (self.sources / file).write_text(text)
        self.expected = 2.0
        self.edits = 0

    def start(self) -> "subprocess.Popen[str]":
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "python"),
            "DCUOP": os.environ.get("DCUOP", str(ROOT / "build/release/dcuop")),
            "DCUOP_CACHE_DIR": str(self.cache),
            "TORCH_EXTENSIONS_DIR": str(self.cache),
        }
        command = [PYTHON, "-c", LOADER, self.name, str(self.sources), str(self.expected)]
        return subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
        )

    def load(self) -> float:
        process = self.start()
        answer, said = process.communicate()
        if process.returncode != 0:
            return float("nan") if "AssertionError" in said else _fail(self.name, said)
        return float(answer.split()[-1])

    def empty(self) -> None:
        shutil.rmtree(self.cache, ignore_errors=True)
        if self.name == "torch":
            self.cache.mkdir(parents=True)

    def edit_unit(self) -> None:
        self.edits += 1
        self._replace("unit.cpp", f"scale * {self.edits};", f"scale * {self.edits + 1};")
        self.expected = self.expected / self.edits * (self.edits + 1)

    def edit_header(self) -> None:
        text = (self.sources / "op.h").read_text()
        scale = float(text.split()[2])
        self._replace("op.h", f"SCALE {scale}", f"SCALE {scale + 1}")
        self.expected = self.expected / scale * (scale + 1)

    def _replace(self, file: str, old: str, new: str) -> None:
        path = self.sources / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def eight_at_once(self) -> float:
        start = time.perf_counter()
        processes = [self.start() for _ in range(8)]
        for process in processes:
            _, said = process.communicate()
            if process.returncode != 0:
                _fail(self.name, said)
        return time.perf_counter() - start


def _fail(name: str, said: str) -> float:
    sys.exit(f"{name} failed:\n{said[-3000:]}")


def one_round(contestant: Contestant) -> Dict[str, Callable[[], float]]:
    def after(prepare: Callable[[], None], measure: Callable[[], float]) -> Callable[[], float]:
        def run() -> float:
            prepare()
            return measure()

        return run

    return {
        "cold": after(contestant.empty, contestant.load),
        "warm": contestant.load,
        "unit edit": after(contestant.edit_unit, contestant.load),
        "header edit": after(contestant.edit_header, contestant.load),
        "8 at once": after(contestant.empty, contestant.eight_at_once),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    times: Dict[str, Dict[str, List[float]]] = {name: {s: [] for s in SITUATIONS} for name in ("torch", "dcuop")}
    with tempfile.TemporaryDirectory(prefix="dcuop-bench-") as directory:
        contestants = [Contestant(name, Path(directory)) for name in times]
        for number in range(options.rounds):
            for situation in SITUATIONS:
                for contestant in contestants if number % 2 == 0 else contestants[::-1]:
                    times[contestant.name][situation].append(one_round(contestant)[situation]())
                    print(f"{situation}: {contestant.name} {times[contestant.name][situation][-1]:.3f} s", file=sys.stderr)
    if options.json:
        print(json.dumps(times))
        return 0
    print(f"{'':12} {'torch':>10} {'dcuop':>10}   torch : dcuop, medians of {options.rounds} rounds, load {os.getloadavg()[0]:.1f}")
    for situation in SITUATIONS:
        medians = [statistics.median(times[name][situation]) for name in times]
        if any(value != value for value in medians):
            print(f"{situation:12} {'wrong' if medians[0] != medians[0] else f'{medians[0]:8.3f} s'}"
                  f" {'wrong' if medians[1] != medians[1] else f'{medians[1]:8.3f} s'}   a stale result was served")
            continue
        print(f"{situation:12} {medians[0]:8.3f} s {medians[1]:8.3f} s   {medians[0] / medians[1]:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
