"""Many processes, one cache: one compile, no hang, one error for all, nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

#: A compiler that takes its time and says that it was called; the real one does the work.
SLOW_COMPILER = """#!/bin/sh
case " $* " in
  *" -c -o "*) echo compile >> "{log}"; sleep {seconds} ;;
esac
exec /usr/bin/g++ "$@"
"""


@pytest.fixture
def slow(tmp_path):
    """slow(seconds) -> the environment that has it, and the file with one line a compile."""

    def make(seconds=1.0):
        # In a directory of its own: a file beside a script that names it counts as a part of the compiler.
        log = tmp_path / "log" / "compiles"
        log.parent.mkdir(exist_ok=True)
        compiler = tmp_path / "slow-c++"
        compiler.write_text(SLOW_COMPILER.format(log=log, seconds=seconds))
        compiler.chmod(0o755)
        return {"CXX": str(compiler)}, log

    return make


@pytest.fixture
def start(dcuop_binary, environment, tmp_path):
    """start("build", op, env={}) -> a running dcuop."""
    running = []

    def start_dcuop(*arguments, env=None):
        process = subprocess.Popen(
            [str(dcuop_binary), *map(str, arguments)],
            env={**environment, **(env or {})}, cwd=tmp_path,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
        )
        running.append(process)
        return process

    yield start_dcuop
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


def finish(process, timeout=120):
    out, err = process.communicate(timeout=timeout)
    return process.returncode, out, err


def compiles(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen in time")


def processes_with(word: str):
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if word in command:
                found.append((entry.name, command))
    return found


def test_cold_processes_share_one_compile(start, make_op, slow):
    op = make_op("op")
    environment, log = slow()
    results = [finish(process) for process in [start("build", op, "--json", env=environment) for _ in range(8)]]
    ops = [json.loads(out)["ops"][0] for code, out, _ in results if code == 0]
    assert len(ops) == 8, results
    assert compiles(log) == 1
    assert len({one["entry"] for one in ops}) == 1
    assert len({one["path"] for one in ops}) == 1
    assert sorted(one["status"] for one in ops) == ["built"] + ["hit"] * 7


def test_different_ops_run_side_by_side(start, make_op, slow):
    environment, log = slow(2)
    ops = [
        make_op(f"op{index}", sources={"a.cpp": f'extern "C" int f{index}() {{ return {index}; }}\n'})
        for index in (1, 2)
    ]
    for op in ops:  # the probes' memos, so that both start to compile at once
        finish(start("key", op, env=environment))
    processes = [start("build", op, env=environment) for op in ops]
    wait_for(lambda: compiles(log) == 2)
    assert [process.poll() for process in processes] == [None, None], "one waited for the other to end"
    assert [finish(process)[0] for process in processes] == [0, 0]


def test_one_process_with_equal_ops_does_not_wait_on_itself(run, make_op, slow, tmp_path):
    environment, log = slow(0.2)
    import shutil
    one = make_op("op")
    two = tmp_path / "copy" / "op"
    shutil.copytree(one, two)
    result = run("build", one, two, "--json", env=environment, timeout=60)
    assert result.rc == 0
    assert len({op["entry"] for op in result.json["ops"]}) == 1
    assert compiles(log) == 1


def test_failure_reaches_every_waiter_and_the_next_try_builds_again(start, run, make_op, slow):
    op = make_op("op", sources={"a.cpp": "int broken = nonsense;\n"})
    environment, log = slow()
    results = [finish(process) for process in [start("build", op, "--json", env=environment) for _ in range(5)]]
    errors = [json.loads(out)["ops"][0]["error"]["message"] for _, out, _ in results]
    assert [code for code, _, _ in results] == [1] * 5
    assert all("nonsense" in error for error in errors)
    assert compiles(log) == 1
    assert run("build", op, env=environment).rc == 1
    assert compiles(log) == 2


def test_waiter_shows_the_holder(start, make_op, slow):
    op = make_op("op")
    environment, log = slow(3)
    holder = start("build", op, env=environment)
    wait_for(lambda: compiles(log) == 1)
    _, _, shown = finish(start("build", op, env=environment))
    finish(holder)
    assert f"pid {holder.pid}" in shown
    assert "waiting for host" in shown


def test_lock_timeout_ends_with_4(start, run, make_op, slow):
    op = make_op("op")
    environment, log = slow(5)
    holder = start("build", op, env=environment)
    wait_for(lambda: compiles(log) == 1)
    before = time.monotonic()
    result = run("build", op, "--lock-timeout", "1s", env=environment)
    assert result.rc == 4, str(result)
    assert time.monotonic() - before < 4
    assert f"pid {holder.pid}" in result.stderr
    assert finish(holder)[0] == 0


def test_waiter_builds_privately_when_its_patience_ends(start, run, make_op, slow):
    op = make_op("op")
    environment, log = slow(4)
    holder = start("build", op, env=environment)
    wait_for(lambda: compiles(log) == 1)
    result = run("build", op, "--json", env={**environment, "DCUOP_LOCK_WAIT": "1s"})
    assert result.rc == 0, str(result)
    assert compiles(log) == 2
    assert any("without the lock" in remark for remark in result.op["remarks"])
    assert finish(holder)[0] == 0
    assert run("cache", "verify").rc == 0


def test_killed_holder_frees_the_lock_at_once(start, run, make_op, slow):
    op = make_op("op")
    environment, log = slow(30)
    holder = start("build", op, env=environment)
    wait_for(lambda: compiles(log) == 1)
    holder.kill()
    holder.wait()
    quick, _ = slow(0)
    before = time.monotonic()
    result = run("build", op, "--json", env=quick)
    assert result.op["status"] == "built"
    assert time.monotonic() - before < 10
    assert result.stderr.count("waiting") <= 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_signal_ends_the_compilers_whole_tree(start, make_op, tmp_path, number):
    """The compiler is a shell that starts a shell that starts a sleep with a name of its own."""
    mark = f"30{os.getpid()}{int(number)}"
    compiler = tmp_path / "tree-c++"
    compiler.write_text('#!/bin/sh\ncase " $* " in *" -c -o "*) sh -c "sleep ' + mark + '; true"; exit 1;; esac\nexec /usr/bin/g++ "$@"\n')
    compiler.chmod(0o755)
    process = start("build", make_op("op"), env={"CXX": str(compiler)})
    wait_for(lambda: processes_with(f"sleep {mark}"))
    if number != signal.SIGKILL and signal.getsignal(number) == signal.SIG_IGN:
        pytest.skip("the tests run with this signal ignored, as under nohup(1), and dcuop keeps it so")
    process.send_signal(number)
    process.wait(timeout=10)
    assert process.returncode in (128 + number, -number)
    wait_for(lambda: not processes_with(mark), 5)


def test_private_directories_of_the_dead_are_swept(start, run, make_op, slow, cache_dir):
    op = make_op("op")
    environment, log = slow(30)
    process = start("build", op, env=environment)
    wait_for(lambda: compiles(log) == 1)
    process.kill()
    process.wait()
    assert list((cache_dir / "v1/tmp").iterdir())
    wait_for(lambda: not processes_with(str(cache_dir)))
    assert run("build", op, env=slow(0)[0]).rc == 0
    run("cache", "prune")
    assert not list((cache_dir / "v1/tmp").iterdir())
