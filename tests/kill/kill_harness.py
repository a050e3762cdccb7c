"""Kills real builds, at random instants and at every named step, and looks at what they leave.

    kill_harness.py --dcuop build/release/dcuop --kills 1000 [--seed 1] [--directory DIR]

Each round edits an operator, starts one to four `dcuop build` of it and kills some of them (SIGKILL, dcuop alone:
its compilers must end by themselves). Then one more build has to end within the limit and give the right code,
`dcuop cache verify` must find no damage, and no compiler may be left. A round that fails keeps its directory.

A step is a point of dcuop's durable work: DCUOP_KILL_AT=N kills the process at the N-th one that it reaches
(src/support/steps.cpp). The harness counts N up until a build survives, then starts again.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import json
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Dict, List, Optional

LIMIT = 60.0  # seconds; a build takes a fraction of one: what is not done by then hangs
MANIFEST = '[op]\nname = "op"\nkind = "plain"\nabi = "none"\n[build]\nsources = ["a.cpp", "b.cpp"]\n'


class Failure(Exception):
    """What a killed build left behind that it must not."""


class Harness:
    def __init__(self, dcuop: Path, directory: Path, seed: int) -> None:
        self.dcuop = dcuop.resolve()
        self.directory = directory
        self.random = random.Random(seed)
        self.cache = directory / "cache"
        self.environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(directory),
            "TMPDIR": str(directory),
            "DCUOP_CACHE_DIR": str(self.cache),
        }
        self.value = 0
        self.kills = self.late = self.steps_killed = 0
        self.most_steps = 0
        self.next_step = 1
        self.longest_recovery = 0.0
        self.op = directory / "op"
        self.op.mkdir(parents=True)
        (self.op / "dcuop.toml").write_text(MANIFEST)
        (self.op / "a.cpp").write_text('#include "value.h"\nextern "C" int value() { return VALUE; }\n')
        (self.op / "b.cpp").write_text('extern "C" int other() { return 1; }\n')
        self.edit()
        begin = time.monotonic()
        self.build()
        self.usual_time = time.monotonic() - begin

    def edit(self) -> None:
        self.value += 1
        (self.op / "value.h").write_text(f"#define VALUE {self.value}\n")

    def start(self, kill_at: Optional[int] = None) -> "subprocess.Popen[bytes]":
        environment: Dict[str, str] = dict(self.environment)
        if kill_at is not None:
            environment["DCUOP_KILL_AT"] = str(kill_at)
        return subprocess.Popen([str(self.dcuop), "build", str(self.op), "--json"], env=environment,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def build(self) -> None:
        """A build that nobody kills: it must end, and give the code of this moment."""
        begin = time.monotonic()
        process = self.start()
        try:
            out, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Failure(f"the build after a kill hangs (over {LIMIT} s)") from None
        self.longest_recovery = max(self.longest_recovery, time.monotonic() - begin)
        if process.returncode != 0:
            raise Failure(f"the build after a kill fails: {out!r} {err!r}")
        path = json.loads(out)["ops"][0]["path"]
        got = ctypes.CDLL(path).value()
        if got != self.value:
            raise Failure(f"stale: {path} says {got}, its source says {self.value}")

    def verify(self) -> None:
        done = subprocess.run([str(self.dcuop), "cache", "verify", "--json"], env=self.environment,
                              capture_output=True, timeout=LIMIT, check=False)
        if done.returncode != 0:
            raise Failure(f"damage: {done.stdout!r} {done.stderr!r}")

    def compilers_left(self) -> List[str]:
        left = []
        for entry in Path("/proc").iterdir():
            try:
                command = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
            except OSError:
                continue
            if str(self.cache).encode() in command:
                left.append(f"{entry.name} {command.replace(bytes(1), b' ').decode(errors='replace')[:100]}")
        return left

    def wait_for_quiet(self) -> None:
        end = time.monotonic() + 10
        while self.compilers_left():
            if time.monotonic() > end:
                raise Failure(f"compilers outlive dcuop: {self.compilers_left()}")
            time.sleep(0.01)

    def kill_at_step(self) -> None:
        process = self.start(kill_at=self.next_step)
        process.communicate(timeout=LIMIT)
        if process.returncode == -signal.SIGKILL:
            self.kills += 1
            self.steps_killed += 1
            self.most_steps = max(self.most_steps, self.next_step)
            self.next_step += 1
        else:
            self.next_step = 1  # it survived: there is no such step

    def kill_at_random(self) -> None:
        processes = [self.start() for _ in range(self.random.choice([1, 1, 2, 4]))]
        time.sleep(self.random.uniform(0, 1.2 * self.usual_time))
        for process in self.random.sample(processes, self.random.randint(1, len(processes))):
            process.send_signal(signal.SIGKILL)
            if process.wait(timeout=LIMIT) == -signal.SIGKILL:
                self.kills += 1
            else:
                self.late += 1
        for process in processes:
            try:
                process.communicate(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                raise Failure(f"a waiter hangs (over {LIMIT} s)") from None
            if process.returncode not in (0, -signal.SIGKILL):
                raise Failure(f"a build beside a killed one ends with {process.returncode}")

    def round(self, by_step: bool) -> None:
        self.edit()
        if by_step:
            self.kill_at_step()
        else:
            self.kill_at_random()
        self.build()
        self.verify()
        self.wait_for_quiet()


def run(harness: Harness, kills: int, progress: bool) -> None:
    rounds = 0
    while harness.kills < kills:
        harness.round(by_step=rounds % 2 == 0)
        rounds += 1
        if progress and rounds % 50 == 0:
            print(f"{harness.kills} kills in {rounds} rounds", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dcuop", type=Path, required=True)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--directory", type=Path, help="kept; a temporary one otherwise")
    arguments = parser.parse_args()
    directory = arguments.directory or Path(tempfile.mkdtemp(prefix="dcuop-kill-"))
    begin = time.monotonic()
    harness = None
    try:
        harness = Harness(arguments.dcuop, directory, arguments.seed)
        run(harness, arguments.kills, progress=True)
    except Failure as failure:
        kills = harness.kills if harness else 0
        print(f"FAILED after {kills} kills (seed {arguments.seed}, left in {directory}): {failure}")
        return 1
    print(f"{datetime.date.today()} {platform.system()} {platform.machine()}, {os.cpu_count()} processors: "
          f"{harness.kills} kills ({harness.steps_killed} at named steps, up to {harness.most_steps} a build; "
          f"{harness.kills - harness.steps_killed} at random instants), {harness.late} came too late; "
          f"0 damaged entries, 0 hangs, 0 stale results, 0 compilers left; "
          f"slowest build after a kill {harness.longest_recovery:.1f} s; {time.monotonic() - begin:.0f} s in all")
    if arguments.directory is None:
        shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
