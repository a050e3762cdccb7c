"""What leaves the cache, when, and why: pruning beside builds, stale entries, entries in use, counters, layouts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import textwrap
import time
from pathlib import Path

import pytest

from conftest import PYTHON, ROOT, write_op

HOUR = 3600


def value_source(value: int) -> dict:
    return {"op.cpp": f'extern "C" int value() {{ return {value}; }}\n'}


def entries_in(cache: Path):
    return sorted(path.name for path in (cache / "v1/entries").glob("*/*"))


def age(cache: Path, seconds: float) -> None:
    """As if nothing had been used for so long."""
    then = time.time() - seconds
    for stamp in (cache / "v1/use").iterdir():
        if stamp.name != "lock":
            os.utime(stamp, (then, then))


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


@pytest.fixture
def filled(run, tmp_path, cache_dir):
    """filled(count) -> operators that were built; their entries."""

    def fill(count):
        ops = [write_op(tmp_path / "ops" / f"op{index}", sources=value_source(index)) for index in range(count)]
        result = run("build", "--json", *ops)
        assert result.rc == 0, str(result)
        return ops, [op["entry"] for op in result.json["ops"]]

    return fill


class TestPruneAfterBuild:
    def test_build_that_fills_the_cache_starts_a_prune_and_does_not_wait(self, run, filled, make_op, cache_dir):
        _, old = filled(4)
        counted = run("cache", "prune", "--json").json["bytes_left"]
        age(cache_dir, 2 * HOUR)
        fresh = make_op("fresh", sources=value_source(77))
        result = run("build", fresh, "--json", env={"DCUOP_MAX_SIZE": str(counted)})
        assert result.rc == 0
        wait_for(lambda: not set(old) <= set(entries_in(cache_dir)))
        # The prune is a process of its own: it may still be at it.
        wait_for(lambda: (cache_dir / "v1/statistics/counted").exists())
        assert result.op["entry"] in entries_in(cache_dir), "what was just built goes last"
        usage = run("cache", "stats", "--json").json
        assert usage["entry_bytes"] + usage["object_bytes"] + usage["other_bytes"] <= counted
        assert run("cache", "verify").rc == 0
        assert run("build", fresh, "--json").op["status"] == "hit"

    def test_first_count_comes_after_some_builds(self, run, filled, cache_dir):
        filled(3)
        assert not (cache_dir / "v1/statistics/counted").exists(), "six publications are not worth a walk"
        with open(cache_dir / "v1/statistics/additions", "a", encoding="ascii") as file:
            file.write("00000000000000000100\n" * 64)
        filled(4)
        wait_for(lambda: (cache_dir / "v1/statistics/counted").exists())

    def test_hits_and_dry_runs_start_nothing(self, run, filled, cache_dir, make_op):
        ops, entries = filled(2)
        run("cache", "prune")
        age(cache_dir, 2 * HOUR)
        env = {"DCUOP_MAX_SIZE": "1"}
        assert run("build", ops[0], "--json", env=env).op["status"] == "hit"
        assert run("build", "--dry-run", make_op("other"), env=env).rc == 0
        time.sleep(0.5)
        assert entries_in(cache_dir) == sorted(entries)

    def test_statistics_that_cannot_be_written_cost_nothing(self, run, filled, make_op, cache_dir):
        filled(1)
        shutil.rmtree(cache_dir / "v1/statistics")
        (cache_dir / "v1/statistics").write_text("a file where a directory should be")
        result = run("build", make_op("other"), "--json", env={"DCUOP_MAX_SIZE": "1"})
        assert result.rc == 0, str(result)
        assert result.op["status"] == "built" and result.op["cached"]

    def test_two_prunes_do_not_meet(self, run, filled, cache_dir):
        filled(1)
        (cache_dir / "v1/locks").mkdir(exist_ok=True)
        holder = subprocess.Popen(
            [PYTHON, "-c", textwrap.dedent("""
                import fcntl, os, struct, sys
                fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
                fcntl.fcntl(fd, 37, struct.pack("@hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0))
                print("held", flush=True)
                sys.stdin.read()
            """), str(cache_dir / "v1/locks/prune")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            assert holder.stdout.readline() == "held\n"
            assert "another process" in run("cache", "prune").stdout
            assert run("cache", "prune", "--json").json["elsewhere"] is True
        finally:
            holder.communicate()
        assert run("cache", "prune", "--json").json["elsewhere"] is False


class TestPrune:
    def test_least_recently_used_go_down_to_nine_tenths(self, run, filled, cache_dir):
        _, entries = filled(10)
        now = time.time()
        for index, entry in enumerate(entries):
            stamp = cache_dir / "v1/use" / f"e{entry}"
            os.utime(stamp, (now - 10 * HOUR + index, now - 10 * HOUR + index))
        for stamp in (cache_dir / "v1/use").glob("o*"):  # objects were used later than all entries
            os.utime(stamp, (now - 2 * HOUR, now - 2 * HOUR))
        for stamp in (cache_dir / "v1/objects").glob("*/*"):
            stamp = cache_dir / "v1/use" / f"o{stamp.name}"
            stamp.touch()
            os.utime(stamp, (now - 2 * HOUR, now - 2 * HOUR))
        size = run("cache", "prune", "--json").json["bytes_left"]
        limit = size * 9 // 10
        done = run("cache", "prune", "--json", env={"DCUOP_MAX_SIZE": str(limit)}).json
        assert 0 < len(done["removed"]) < 10
        assert done["bytes_left"] <= limit * 0.9
        assert [one["entry"] for one in done["removed"]] == entries[: len(done["removed"])]
        assert all(one["kind"] == "entry" for one in done["removed"])

    def test_used_within_the_hour_stays(self, run, filled, cache_dir):
        _, entries = filled(3)
        assert run("cache", "prune", "--json", env={"DCUOP_MAX_SIZE": "1"}).json["removed"] == []
        age(cache_dir, 2 * HOUR)
        os.utime(cache_dir / "v1/use" / f"e{entries[1]}")
        removed = run("cache", "prune", "--json", env={"DCUOP_MAX_SIZE": "1"}).json["removed"]
        assert {one["entry"] for one in removed if one["kind"] == "entry"} == {entries[0], entries[2]}
        assert entries_in(cache_dir) == [entries[1]]

    def test_leftovers_of_the_dead_go(self, run, filled, cache_dir):
        filled(1)
        then = time.time() - 2 * HOUR
        index = next((cache_dir / "v1/index").glob("*/*"))
        memo = next((cache_dir / "v1/memo").iterdir())
        torn = [index / ".dcuop-tmp-1-2-3", memo / ".dcuop-tmp-1-2-4", cache_dir / "v1/statistics/.dcuop-tmp-1-2-5",
                next((cache_dir / "v1/origins").glob("*/*")) / ".dcuop-tmp-1-2-6"]
        for path in torn:
            path.write_text("half")
            os.utime(path, (then, then))
        at_work = index / ".dcuop-tmp-9-9-9"
        at_work.write_text("a writer's that is alive")
        old_host = cache_dir / "v1/memo/a-container-that-is-gone/verified"
        old_host.mkdir(parents=True)
        (old_host / "e00").write_text("memo")
        os.utime(old_host / "e00", (then - 31 * 24 * HOUR,) * 2)
        failure = cache_dir / "v1/failures" / ("ab" * 16)
        failure.mkdir(parents=True)
        (failure / "error.json").write_text("{}")
        os.utime(failure, (then - 8 * 24 * HOUR,) * 2)
        assert run("cache", "prune", "--json").json["leftovers"] >= len(torn) + 2
        assert not any(path.exists() for path in torn)
        assert at_work.exists()
        assert not old_host.parent.exists()
        assert not failure.exists()
        assert list(memo.iterdir()), "memos that are in use stay"


class TestStale:
    @pytest.fixture
    def op(self, make_op):
        return make_op("op", sources={"op.cpp": '#include "op.h"\nextern "C" int value() { return VALUE; }\n'},
                       files={"op.h": "#define VALUE 1\n"})

    def state(self, run):
        listed = run("list", "--json").json["entries"]
        return {one["entry"]: (one["state"], one.get("stale_because")) for one in listed}

    def stale(self, run, **kwargs):
        """What --stale would remove of entries: key -> why."""
        plan = run("clean", "--stale", "--dry-run", "--json", **kwargs)
        assert plan.rc == 0, str(plan)
        return {one["entry"]: one["reason"] for one in plan.json["removed"] if one["kind"] == "entry"}

    def test_current_is_kept(self, run, op):
        entry = run("build", op, "--json").op["entry"]
        assert self.state(run) == {entry: ("current", None)}
        assert self.stale(run) == {}
        assert "current" in run("list").stdout.splitlines()[1]
        assert run("clean", "--stale").stdout == "nothing to remove\n"

    def test_source_changed(self, run, op):
        old = run("build", op, "--json").op["entry"]
        (op / "op.cpp").write_text('#include "op.h"\nextern "C" int value() { return VALUE + 1; }\n')
        new = run("build", op, "--json").op["entry"]
        assert self.state(run) == {old: ("stale", "op.cpp changed since"), new: ("current", None)}
        assert self.stale(run) == {old: "op.cpp changed since"}
        done = run("clean", "--stale")
        assert "op.cpp changed since" in done.stdout
        assert run("build", op, "--json").op["status"] == "hit", "the current one is still there"
        assert self.stale(run) == {}

    def test_header_changed_and_changed_back(self, run, op):
        old = run("build", op, "--json").op["entry"]
        (op / "op.h").write_text("#define VALUE 2\n")
        assert self.stale(run) == {old: "op.h changed since"}
        (op / "op.h").write_text("#define VALUE 1\n")
        assert self.stale(run) == {}

    def test_flags_name_and_archs(self, run, tmp_path):
        place = tmp_path / "ops" / "one"
        write_op(place, sources=value_source(1))
        old = run("build", place, "--json").op["entry"]
        write_op(place, sources=value_source(1), build={"cxx_flags": ["-DX=1"]})
        assert "-DX=1" in self.stale(run)[old]
        write_op(place, name="other", sources=value_source(1))
        assert self.stale(run) == {old: "the op there is other now"}
        (place / "dcuop.toml").unlink()
        assert self.stale(run) == {old: "no op is at its origin any more"}

    def test_arch_that_is_no_longer_supported(self, run, hip_op):
        old = run("build", hip_op, "--arch", "gfx90a", "--json").op["entry"]
        assert self.state(run) == {old: ("current", None)}, "also without that arch as the choice of today"
        text = (hip_op / "dcuop.toml").read_text().replace('"gfx90a"', '"gfx908"')
        (hip_op / "dcuop.toml").write_text(text)
        assert self.stale(run) == {old: "the op there no longer supports gfx90a"}

    def test_origin_gone(self, run, op):
        old = run("build", op, "--json").op["entry"]
        shutil.rmtree(op)
        assert self.stale(run) == {old: "its origin is gone"}
        removed = run("clean", "--stale", "--json").json["removed"]
        assert {one["kind"] for one in removed} == {"entry", "object"}
        assert self.state(run) == {}

    def test_another_origin_keeps_it(self, run, op, tmp_path):
        old = run("build", op, "--json").op["entry"]
        copy = tmp_path / "copy" / "op"
        shutil.copytree(op, copy)
        assert run("build", copy, "--json").op["entry"] == old
        shutil.rmtree(op)
        assert self.stale(run) == {}
        (copy / "op.h").write_text("#define VALUE 3\n")
        assert self.stale(run) == {old: "op.h changed since"}

    def test_unknown_is_not_stale(self, run, op):
        run("build", op)
        (op / "dcuop.toml").write_text("[op\n")
        assert self.stale(run) == {}
        assert [state for state, _ in self.state(run).values()] == ["unknown"]

    def test_compiler_that_is_gone_proves_nothing(self, run, op):
        run("build", op)
        assert self.stale(run, env={"CXX": "/nonexistent/c++"}) == {}

    def test_environment_of_today(self, run, op):
        old = run("build", op, "--json").op["entry"]
        assert "CPATH" in self.stale(run, env={"CPATH": "/somewhere"})[old]

    def test_torch_of_another_python(self, run, make_op, tmp_path):
        """Two Pythons with a torch each: neither makes the other's entries stale, until it goes."""
        pythons = {}
        for name, version in (("one", "2.1.0"), ("two", "2.4.1")):
            pythons[name] = python_with_torch(tmp_path / name, version)
        op = make_op("bound", op={"abi": "torch", "kind": "plain"},
                     sources={"op.cpp": '#include <torch/extension.h>\nextern "C" int value() { return VERSION; }\n'})
        first = run("build", op, "--json", env={"DCUOP_PYTHON": str(pythons["one"])})
        assert first.rc == 0, str(first)
        entry = first.op["entry"]
        env = {"DCUOP_PYTHON": str(pythons["two"])}
        assert self.stale(run, env=env) == {}
        shutil.rmtree(tmp_path / "one" / "lib")
        assert self.stale(run, env=env) == {entry: "its torch is gone"}


def python_with_torch(prefix: Path, version: str) -> Path:
    """A virtual environment with as much of a torch as a build reads."""
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(prefix)], check=True)
    site = next((prefix / "lib").glob("python3*")) / "site-packages"
    torch = site / "torch"
    (torch / "include/torch/csrc/api/include/torch").mkdir(parents=True)
    (torch / "lib").mkdir()
    (torch / "__init__.py").write_text("")
    (torch / "version.py").write_text(f"__version__ = '{version}'\ndebug = False\ncuda = None\ngit_version = 'x'\nhip = None\n")
    number = version.replace(".", "")
    for header in ("include/torch/extension.h", "include/torch/csrc/api/include/torch/extension.h"):
        (torch / header).write_text(f"#define VERSION {number}\n")
    (torch / "include/torch/csrc/api/include/torch/torch.h").write_text("")
    (torch / "include/ATen").mkdir()
    (torch / "include/ATen/ATen.h").write_text("")
    for library in ("c10", "torch", "torch_cpu", "torch_python"):
        source = prefix / f"{library}.cpp"
        source.write_text(f'#include <string>\nstd::string {library}_version() {{ return "{version}"; }}\n'
                          f"namespace c10 {{ void {library}(const std::string&) {{}} }}\n")
        subprocess.run(["g++", "-shared", "-fPIC", "-o", str(torch / f"lib/lib{library}.so"), str(source),
                        f"-Wl,-soname,lib{library}.so"], check=True)
    return prefix / "bin" / "python3"


LOADER = """
    import sys
    import dcuop
    library = dcuop.load_op(sys.argv[1])
    print("loaded", library.value(), flush=True)
    sys.stdin.readline()
    print(library.value(), flush=True)
"""


@pytest.fixture
def loaded(environment, dcuop_binary, cache_dir):
    """loaded(op) -> a Python process that has loaded it and holds its use lock."""
    running = []

    def load(op):
        process = subprocess.Popen(
            [PYTHON, "-c", textwrap.dedent(LOADER), str(op)],
            env={**environment, "PYTHONPATH": str(ROOT / "python"), "DCUOP": str(dcuop_binary)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        running.append(process)
        assert process.stdout.readline().startswith("loaded"), process.communicate()
        return process

    yield load
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


class TestInUse:
    def test_loaded_entry_outlives_every_clean_up(self, run, make_op, loaded, cache_dir):
        used = make_op("used", sources=value_source(5))
        other = make_op("other", sources=value_source(6))
        entries = {op["name"]: op["entry"] for op in run("build", used, other, "--json").json["ops"]}
        process = loaded(used)
        age(cache_dir, 2 * HOUR)
        pruned = run("cache", "prune", "--json", env={"DCUOP_MAX_SIZE": "1"}).json
        assert [one["entry"] for one in pruned["kept_in_use"]] == [entries["used"]]
        assert entries_in(cache_dir) == [entries["used"]]
        cleaned = run("clean", "--all", "--yes")
        assert "kept 1 entry in use" in cleaned.stdout
        assert "kept 1 entry in use" in run("clean", "--older-than", "1s").stdout
        assert entries_in(cache_dir) == [entries["used"]]
        assert process.communicate("\n", timeout=30)[0] == "5\n"
        assert "removed 1 entry" in run("clean", "--all", "--yes").stdout
        assert entries_in(cache_dir) == []

    def test_a_killed_user_keeps_nothing(self, run, make_op, loaded, cache_dir):
        op = make_op("used", sources=value_source(5))
        run("build", op)
        process = loaded(op)
        process.kill()
        process.wait()
        assert "removed 1 entry" in run("clean", "--all", "--yes").stdout
        assert entries_in(cache_dir) == []

    def test_clean_ups_beside_loaders(self, run, make_op, loaded, cache_dir, dcuop_binary, environment):
        """Loaders and cleaners race: whoever loads has a file that stays."""
        op = make_op("used", sources=value_source(5))
        cleaner = subprocess.Popen(
            ["sh", "-c", 'while :; do "$0" clean --all --yes >/dev/null 2>&1 || exit 1; sleep 1; done', str(dcuop_binary)],
            env=environment, stdin=subprocess.DEVNULL)
        try:
            for _ in range(4):
                process = loaded(op)
                time.sleep(0.1)
                assert process.communicate("\n", timeout=60)[0] == "5\n"
        finally:
            assert cleaner.poll() is None, "a clean-up failed"
            cleaner.kill()
            cleaner.wait()


class TestCounters:
    def test_fifty_processes_count_exactly(self, run, make_op, dcuop_binary, environment, cache_dir):
        op = make_op("op")
        broken = make_op("broken", sources={"a.cpp": "int broken = nonsense;\n"})
        run("build", op)
        first = run("cache", "stats", "--json").json
        assert (first["hits"], first["built"], first["failed"], first["saved_ms"]) == (0, 1, 0, 0)
        listed = run("list", "--json").json["entries"][0]["facts"]["compile_ms"]
        assert listed > 0
        started = [subprocess.Popen([str(dcuop_binary), "build", str(op)], env=environment, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(50)]
        assert [process.wait(timeout=120) for process in started] == [0] * 50
        assert run("build", broken).rc == 1
        counted = run("cache", "stats", "--json").json
        assert (counted["hits"], counted["built"], counted["failed"]) == (50, 1, 1)
        assert counted["saved_ms"] == 50 * listed


class TestLayouts:
    def test_another_version_beside_this_one_is_not_touched(self, run, make_op, cache_dir):
        op = make_op("op")
        run("build", op)
        future = cache_dir / "v2" / "entries" / "ab" / ("ab" * 16)
        future.mkdir(parents=True)
        (future / "op.so").write_bytes(b"of another dcuop")
        (cache_dir / "v2" / "tmp" / "old").mkdir(parents=True)
        before = sorted((path, path.stat().st_mtime_ns) for path in (cache_dir / "v2").rglob("*"))
        age(cache_dir, 2 * HOUR)
        run("cache", "prune", env={"DCUOP_MAX_SIZE": "1"})
        assert run("clean", "--all", "--yes").rc == 0
        assert sorted((path, path.stat().st_mtime_ns) for path in (cache_dir / "v2").rglob("*")) == before
        assert entries_in(cache_dir) == []
        stats = run("cache", "stats", "--json").json
        assert stats["entries"] == 0 and stats["other_bytes"] < 1 << 20

    def test_index_record_of_a_later_schema_is_ignored(self, run, make_op, cache_dir):
        op = make_op("op")
        first = run("build", op, "--json").op
        records = list((cache_dir / "v1/index").glob("*/*/*.json"))
        later = [record.with_name("ff" * 16 + ".json") for record in records]
        for path in later:
            path.write_text(json.dumps({"dcuop": 2, "digest": "00" * 16, "payload": {"key": "11" * 16, "new": True}}))
            (path.parent / "record.v9").write_text("something else")
        again = run("build", op, "--json").op
        assert again["status"] == "hit" and again["entry"] == first["entry"]
        assert run("cache", "prune").rc == 0
