"""Answers that a process recalls without dcuop: the same answers that dcuop would give, or none.

Each load runs in a Python of its own; what is counted is how often that started dcuop.
"""

from __future__ import annotations

import os
import re
import subprocess
import textwrap
import time
from pathlib import Path
from typing import Any, Callable, Dict, NamedTuple, Optional

import pytest
from test_torch_loader import module_source

LOAD = """
    import os, subprocess, sys
    import dcuop

    started, run = [], subprocess.run
    def counted(command, *arguments, **keywords):
        started.append(command)
        return run(command, *arguments, **keywords)
    subprocess.run = counted
    def load():
        return dcuop.load("ext", [sys.argv[1]], extra_include_paths=sys.argv[2:], extra_cflags=["-O0"])
    exec(os.environ.get("CODE", ""))
    module = load()
    print(module.value(), len(started))
"""
#: Files rest this long before an identity is trusted (support/settled.hpp).
SETTLING_SECONDS = 2.2


class Loaded(NamedTuple):
    value: int
    processes: int


ASKED = 1
RECALLED = 0


class Bench:
    """An extension with a header, and loads of it."""

    def __init__(self, in_torch: Callable[..., Any], environment: Dict[str, str], place: Path) -> None:
        self._in_torch = in_torch
        self.environment = environment
        self.place = place
        self.source = place / "src" / "ext.cpp"
        self.header = place / "include" / "value.h"
        self.source.parent.mkdir()
        self.header.parent.mkdir()
        self.run = place / "run"
        for directory in (place / "first", self.run):
            directory.mkdir()
        self.header.write_text("#define VALUE 1\n")
        self.source.write_text('#include "value.h"\n' + module_source())

    @property
    def answers(self) -> Path:
        return self.place / "cache" / "v1" / "memo" / "answers"

    def load(self, **variables: Optional[str]) -> Loaded:
        return self.load_with("", **variables)

    def load_with(self, code: str, **variables: Optional[str]) -> Loaded:
        """`code` is run before the load."""
        merged = {**self.environment, **variables}
        environment = {name: value for name, value in merged.items() if value is not None}
        arguments = (self.source, self.place / "first", self.header.parent)
        environment["CODE"] = textwrap.dedent(code)
        done = self._in_torch(LOAD, environment, *arguments, cwd=self.run)
        assert done.returncode == 0, done.stderr
        value, processes = done.stdout.split()
        return Loaded(int(value), int(processes))

    def answer(self) -> Optional[Path]:
        """The one that is kept, when that has been written: dcuop goes on after it has answered."""
        kept = []
        for _ in range(100):
            kept = [path for path in self.answers.glob("*") if len(path.name) == 32] if self.answers.is_dir() else []
            if kept:
                break
            time.sleep(0.05)
        return kept[0] if kept else None

    def remembered(self) -> Path:
        """Builds, and has the answer written."""
        assert self.load() == (1, ASKED)
        time.sleep(SETTLING_SECONDS)
        assert self.load() == (1, ASKED)
        answer = self.answer()
        assert answer and answer.stat().st_size > 0
        assert self.load() == (1, RECALLED)
        return answer


@pytest.fixture
def bench(in_torch: Callable[..., Any], environment: Dict[str, str], dcuop_binary: Path, tmp_path: Path) -> Bench:
    return Bench(in_torch, {**environment, "DCUOP": str(dcuop_binary)}, tmp_path)


@pytest.fixture
def remembered(bench: Bench) -> Bench:
    bench.remembered()
    return bench


def edit_header(bench: Bench) -> None:
    bench.header.write_text("#define VALUE 2\n")


def edit_source(bench: Bench) -> None:
    bench.source.write_text('#include "value.h"\n' + module_source().replace("VALUE)", "VALUE + 1)"))


def shadow_header(bench: Bench) -> None:
    (bench.place / "first" / "value.h").write_text("#define VALUE 2\n")


def replace_header_by_link(bench: Bench) -> None:
    other = bench.place / "other.h"
    other.write_text("#define VALUE 2\n")
    bench.header.unlink()
    bench.header.symlink_to(other)


def edit_behind_the_clock(bench: Bench) -> None:
    before = bench.header.stat()
    bench.header.write_text("#define VALUE 2\n")
    os.utime(bench.header, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    "change", [edit_header, edit_source, shadow_header, replace_header_by_link, edit_behind_the_clock]
)
def test_a_changed_input_is_asked_for(remembered: Bench, change: Callable[[Bench], None]) -> None:
    change(remembered)
    assert remembered.load() == (2, ASKED)


def test_what_does_not_matter_is_passed_over(remembered: Bench) -> None:
    (remembered.run / "train.log").write_text("beside the script, where sys.path leads")
    assert remembered.load(RANK="7", SLURM_JOB_ID="12345", OMP_NUM_THREADS="3") == (1, RECALLED)


def test_a_variable_that_dcuop_reads_is_part_of_the_question(remembered: Bench) -> None:
    for name, value in {
        "CXX": "/usr/bin/g++",
        "CPLUS_INCLUDE_PATH": "/nonexistent",
        "DCUOP_LANGUAGE": "zh",  # misspelt: it is spoken of
        "PATH": "/usr/bin:/bin",
    }.items():
        assert remembered.load(**{name: value}) == (1, ASKED), name
    assert remembered.load() == (1, RECALLED)


def test_another_compiler_of_the_same_name_is_seen(bench: Bench) -> None:
    programs = bench.place / "bin"
    programs.mkdir()
    bench.environment["PATH"] = f"{programs}:{bench.environment['PATH']}"
    bench.remembered()
    wrapper = programs / "c++"
    wrapper.write_text('#!/bin/sh\nexec /usr/bin/c++ -DVALUE=5 -include /dev/null "$@"\n')
    wrapper.chmod(0o755)
    bench.header.write_text("")
    assert bench.load() == (5, ASKED)


def test_a_configuration_that_appears_is_read(remembered: Bench) -> None:
    config = Path(remembered.environment["HOME"], ".config", "dcuop", "config.toml")
    config.parent.mkdir(parents=True)
    config.write_text('lang = "zh"\n')
    assert remembered.load() == (1, ASKED)


def test_an_entry_that_was_cleaned_is_built_again(remembered: Bench, run: Callable[..., Any]) -> None:
    assert run("clean", "--all", "--yes").rc == 0
    assert remembered.load() == (1, ASKED)


def test_an_artifact_that_was_tampered_with_is_not_served(remembered: Bench) -> None:
    (artifact,) = remembered.place.glob("cache/v1/entries/*/*/*.so")
    content = artifact.read_bytes()
    artifact.chmod(0o755)
    artifact.write_bytes(content[:-1] + b"x")
    assert remembered.load() == (1, ASKED)


def test_a_new_program_is_asked(bench: Bench, dcuop_binary: Path) -> None:
    program = bench.place / "program" / "dcuop"
    program.parent.mkdir()
    program.write_bytes(dcuop_binary.read_bytes())
    program.chmod(0o755)
    (program.parent / "libdcuop_recall.so").symlink_to(dcuop_binary.with_name("libdcuop_recall.so"))
    bench.environment["DCUOP"] = str(program)
    time.sleep(SETTLING_SECONDS)
    bench.remembered()
    program.write_bytes(dcuop_binary.read_bytes())
    assert bench.load() == (1, ASKED)


def test_a_link_that_leads_to_another_program_is_followed(bench: Bench, dcuop_binary: Path) -> None:
    current = bench.place / "current"
    current.symlink_to(dcuop_binary.parent)
    bench.environment["DCUOP"] = str(current / "dcuop")
    bench.remembered()
    other = bench.place / "other"
    other.mkdir()
    (other / "dcuop").write_bytes(dcuop_binary.read_bytes())
    (other / "dcuop").chmod(0o755)
    (other / "libdcuop_recall.so").symlink_to(dcuop_binary.with_name("libdcuop_recall.so"))
    current.unlink()
    current.symlink_to(other)
    assert bench.load() == (1, ASKED)


def test_threads_that_cannot_be_started_are_done_without(remembered: Bench) -> None:
    done = remembered.load_with(
        """
        import threading
        from dcuop import _recall
        _recall._WORTH_A_THREAD = 1
        def start(self):
            raise RuntimeError("can't start new thread")
        threading.Thread.start = start
        """
    )
    assert done == (1, RECALLED)


def test_a_signal_during_the_comparison_ends_it_in_good_order(remembered: Bench) -> None:
    done = remembered.load_with(
        """
        import threading
        from dcuop import _recall
        _recall._WORTH_A_THREAD = 1
        class Interrupted(Exception):
            pass
        join = threading.Thread.join
        def interrupted(self, timeout=None):
            raise Interrupted()
        for _ in range(50):
            threading.Thread.join = interrupted
            try:
                load()
                assert len(os.sched_getaffinity(0)) == 1
                break
            except Interrupted:
                threading.Thread.join = join
        """
    )
    assert done == (1, RECALLED)


def test_the_second_look_builds_nothing_and_is_no_hit(bench: Bench, run: Callable[..., Any]) -> None:
    bench.remembered()  # built, asked and recalled
    statistics = run("cache", "stats", "--json").json
    assert (statistics["hits"], statistics["built"]) == (2, 1)


def test_a_damaged_answer_is_none_nor_one_of_another_user(bench: Bench) -> None:
    answer = bench.remembered()
    whole = answer.read_bytes()
    for size in (0, 7, 1000, len(whole) - 1):
        answer.write_bytes(whole[:size])
        assert bench.load() == (1, ASKED), size
    answer.write_bytes(whole)
    assert bench.load() == (1, RECALLED)
    if os.geteuid() == 0:
        os.chown(answer, 65534, 65534)
        assert bench.load() == (1, ASKED)


def test_nothing_is_remembered_of_what_changed_just_now(bench: Bench) -> None:
    assert bench.load() == (1, ASKED)
    bench.header.write_text("#define VALUE 3\n")
    bench.load()
    assert bench.load() == (3, ASKED)
    time.sleep(0.5)
    assert not [path for path in bench.answers.glob("*") if len(path.name) == 32]


@pytest.mark.parametrize("variables", [{"DCUOP_RECALL": "never"}, {"DCUOP_TRACE": "never"}])
def test_it_can_be_switched_off(bench: Bench, variables: Dict[str, str]) -> None:
    bench.environment.update(variables)
    bench.load()
    time.sleep(SETTLING_SECONDS)
    bench.load()
    time.sleep(0.5)
    assert bench.load() == (1, ASKED)


def test_recalled_hits_are_counted_and_keep_their_entry(remembered: Bench, run: Callable[..., Any]) -> None:
    hits = run("cache", "stats", "--json").json["hits"]
    (stamp,) = (path for path in remembered.place.glob("cache/v1/use/e*"))
    long_ago = time.time() - 86400
    os.utime(stamp, (long_ago, long_ago))
    assert remembered.load() == (1, RECALLED)
    assert run("cache", "stats", "--json").json["hits"] == hits + 1
    assert time.time() - stamp.stat().st_mtime < 60


def test_eight_at_once_and_one_that_is_killed(bench: Bench) -> None:
    bench.load()
    time.sleep(SETTLING_SECONDS)
    code = LOAD
    script = bench.place / "load.py"
    script.write_text("\n".join(line[4:] for line in code.splitlines()))
    environment = {**bench.environment, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "python")}
    for _ in range(2):
        command = ["/usr/bin/python3", str(script), str(bench.source), str(bench.place / "first"), str(bench.header.parent)]
        loads = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(4)]
        assert [load.communicate()[0].split()[0] for load in loads] == ["1"] * 4
        time.sleep(1)
    assert loads[0].returncode == 0


def test_the_library_needs_no_cxx_runtime_and_an_old_glibc(dcuop_binary: Path) -> None:
    library = str(dcuop_binary.with_name("libdcuop_recall.so"))
    dynamic = subprocess.run(["readelf", "-dW", library], capture_output=True, text=True, check=True).stdout
    assert re.findall(r"NEEDED.*\[(.+)\]", dynamic) == ["libc.so.6"]
    versions = subprocess.run(["readelf", "-VW", library], capture_output=True, text=True, check=True).stdout
    needed = {tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_([0-9.]+)", versions)}
    assert max(needed) <= (2, 17)
