#!/usr/bin/env python3
"""How long does `dcuop check` take for many files?

Copies the sources of ops/ and tests/corpus/check again and again, each with another comment at its end, into one
directory and into many (five files each), and checks both a few times. Prints files, bytes and the median of wall and
processor time.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def sources() -> "list[Path]":
    found = [path for folder in ("ops", "tests/corpus/check") for path in (ROOT / folder).rglob("*")]
    return sorted(path for path in found if path.suffix in (".hip", ".cpp", ".h") and path.is_file())


def fill(directory: Path, files: int, together: bool) -> int:
    size = 0
    originals = sources()
    for index in range(files):
        original = originals[index % len(originals)]
        text = original.read_text(encoding="utf-8") + f"// {index}\n"
        folder = directory if together else directory / f"op{index // 5}"
        folder.mkdir(exist_ok=True)
        (folder / f"{index}{original.suffix}").write_text(text, encoding="utf-8")
        size += len(text)
    return size


def measure(dcuop: str, directory: Path, options: argparse.Namespace) -> str:
    walls, processors = [], []
    for _ in range(options.runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        answer = subprocess.run([dcuop, "check", str(directory), "--json"], capture_output=True, text=True, check=False)
        walls.append(time.perf_counter() - start)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processors.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        checked = json.loads(answer.stdout)["checked"][0]
        assert checked["files"] == options.files, checked["files"]
    return (
        f"{checked['functions']} functions, {checked['understood']:.2%} understood,"
        f" wall {statistics.median(walls):.2f} s, processor {statistics.median(processors):.2f} s"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    dcuop = os.environ.get("DCUOP", str(ROOT / "build" / "release" / "dcuop"))
    for together in (True, False):
        with tempfile.TemporaryDirectory(prefix="dcuop-bench-") as directory:
            size = fill(Path(directory), options.files, together)
            layout = "one directory" if together else "many directories"
            print(f"{options.files} files in {layout}, {size / 2**20:.2f} MiB: {measure(dcuop, Path(directory), options)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
