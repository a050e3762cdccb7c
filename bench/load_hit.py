#!/usr/bin/env python3
"""What dcuop.load of a cached extension adds to importing its file.

    bench/load_hit.py [--runs 30]

Each sample is a Python process of its own in which torch is imported first. In turn, one imports the .so by importlib,
one calls dcuop.load for it, which recalls the answer of an earlier hit (python/dcuop/_recall.py), and one calls it with
DCUOP_RECALL=never, which starts dcuop. A hit compares each file that the compiler read, so it is measured for two
extensions: one with the few headers of torch that a binding needs (as ops/affine; about 1,100 files) and one with
torch/extension.h (about 5,000 for torch 1.13). Prints medians and quartiles, and what a load adds to the import.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Dict, List

ROOT = Path(__file__).resolve().parents[1]
PYTHON = os.environ.get("DCUOP_PYTHON", "/usr/bin/python3")

MODULE = 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("one", [] { return 1; }); }'
SOURCES = {
    "light headers": f"#include <ATen/core/Tensor.h>\n#include <torch/csrc/utils/pybind.h>\n{MODULE}\n",
    "torch/extension.h": f"#include <torch/extension.h>\n{MODULE}\n",
}

SAMPLE = """
import importlib.util, sys, time, torch
if sys.argv[1] != "import":
    import dcuop
    start = time.perf_counter()
    module = dcuop.load("bench_hit", [sys.argv[2]], extra_cflags=["-O1"])
else:
    start = time.perf_counter()
    spec = importlib.util.spec_from_file_location("bench_hit", sys.argv[3])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
seconds = time.perf_counter() - start
assert module.one() == 1
print(seconds, module.__file__)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=30)
    runs = max(5, parser.parse_args().runs)
    for name, source in SOURCES.items():
        with tempfile.TemporaryDirectory(prefix="dcuop-bench-") as directory:
            measure(name, source, Path(directory), runs)
    return 0


def measure(name: str, text: str, directory: Path, runs: int) -> None:
    source = directory / "bench_hit.cpp"
    source.write_text(text)
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "python"),
        "DCUOP": os.environ.get("DCUOP", str(ROOT / "build/release/dcuop")),
        "DCUOP_CACHE_DIR": f"{directory}/cache",
    }

    def sample(kind: str, file: str = "") -> "tuple[float, str]":
        command = [PYTHON, "-c", SAMPLE, kind, str(source), file]
        recall = {"DCUOP_RECALL": "never"} if kind == "ask" else {}
        done = subprocess.run(command, env={**environment, **recall}, capture_output=True, encoding="utf-8", check=False)
        if done.returncode != 0:
            sys.exit(done.stderr)
        seconds, path = done.stdout.split(maxsplit=1)
        return float(seconds) * 1e3, path.strip()

    file = sample("recall")[1]  # compiles
    time.sleep(2.2)  # until the identities of the inputs are trusted
    sample("recall")
    time.sleep(2)  # until the answer is kept
    times: Dict[str, List[float]] = {"import": [], "recall": [], "ask": []}
    for _ in range(runs):
        for kind, values in times.items():
            values.append(sample(kind, file)[0])
    print(f"{name}; {runs} runs each, load {os.getloadavg()[0]:.1f}")
    for kind, values in times.items():
        low, middle, high = statistics.quantiles(values, n=4)
        adds = middle - statistics.median(times["import"])
        print(f"  {kind:7} {middle:7.2f} ms   (quartiles {low:.2f} to {high:.2f})   adds {adds:.2f} ms", flush=True)


if __name__ == "__main__":
    sys.exit(main())
