#!/usr/bin/env python3
"""Takes into the seeds what make fuzz found: of build/fuzz/corpus the few inputs that reach most that no seed reaches.

    tests/fuzz/keep_found.py [READER...]

They are called found_<digest>, and replace those of before.
"""

import hashlib
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SEEDS = SOURCE / "tests/fuzz/seeds"
MOST_FILES = 6
MOST_BYTES = 4096
LONGEST = 2048


def found_edges(reader):
    """Found file -> the edges that neither a seed nor a smaller file reaches: libFuzzer's notes for a merge (compiler-rt,
    FuzzerMerge.cpp), in which what is merged into goes first."""
    with tempfile.TemporaryDirectory() as work:
        notes = pathlib.Path(work) / "notes"
        into = pathlib.Path(work) / "into"
        shutil.copytree(SEEDS / reader, into)
        subprocess.run([SOURCE / f"build/fuzz/tests/fuzz/{reader}_fuzz", "-merge=1", f"-merge_control_file={notes}",
                        into, SOURCE / "build/fuzz/corpus" / reader], check=True, capture_output=True)
        lines = notes.read_text().splitlines()
    count = int(lines[0])
    files = [pathlib.Path(name) for name in lines[2 : 2 + count]]
    edges, seeds = {}, int(lines[1])
    for line in lines[2 + count :]:
        kind, number, *rest = line.split()
        if kind == "COV" and int(number) >= seeds:
            edges[files[int(number)]] = set(rest)
    return edges


def keep(reader):
    seeds = SEEDS / reader
    for old in seeds.glob("found_*"):
        old.unlink()
    edges = found_edges(reader)
    kept, size = 0, 0
    for file in sorted(edges, key=lambda file: (-len(edges[file]), file.name)):
        content = file.read_bytes()
        if kept == MOST_FILES or not edges[file]:
            break
        if len(content) <= LONGEST and size + len(content) <= MOST_BYTES:
            (seeds / f"found_{hashlib.sha256(content).hexdigest()[:12]}").write_bytes(content)
            kept, size = kept + 1, size + len(content)
    print(f"{reader}: {kept} inputs, {size} bytes")


def main():
    for reader in sys.argv[1:] or sorted(path.name for path in SEEDS.iterdir()):
        keep(reader)


if __name__ == "__main__":
    main()
