#!/usr/bin/env python3
"""How long does `dcuop check` take for many files?

Makes a directory of COPIES of the sources in ops/ and tests/corpus/check, each with another comment at its end, and
checks it a few times. Prints files, bytes and the median of wall and processor time.
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    dcuop = os.environ.get("DCUOP", str(ROOT / "build" / "release" / "dcuop"))
    originals = sources()
    with tempfile.TemporaryDirectory(prefix="dcuop-bench-") as directory:
        size = 0
        for index in range(options.files):
            original = originals[index % len(originals)]
            text = original.read_text(encoding="utf-8") + f"// {index}\n"
            folder = Path(directory) / f"op{index // 5}"
            folder.mkdir(exist_ok=True)
            (folder / f"{index}{original.suffix}").write_text(text, encoding="utf-8")
            size += len(text)
        walls, processors, understood = [], [], 1.0
        for _ in range(options.runs):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            start = time.perf_counter()
            answer = subprocess.run([dcuop, "check", directory, "--json"], capture_output=True, text=True, check=False)
            walls.append(time.perf_counter() - start)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            processors.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            checked = json.loads(answer.stdout)["checked"][0]
            assert checked["files"] == options.files, checked["files"]
            understood = checked["understood"]
        print(f"{options.files} files, {size / 2**20:.1f} MiB, {checked['functions']} functions, {understood:.4%} understood")
        print(f"wall {statistics.median(walls):.2f} s, processor {statistics.median(processors):.2f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
