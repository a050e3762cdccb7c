"""What a network file system does: locks that stay on each node, and handles that go stale (ESTALE).

Two mount namespaces stand for two nodes: they share the cache but for v1/locks, which each has for itself.
A preloaded library makes system calls on chosen paths fail as those of an NFS client do.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import textwrap
import time
from pathlib import Path

import pytest

SLOW_COMPILER = """#!/bin/sh
case " $* " in
  *" -c -o "*) echo compile >> "{log}"; sleep 2 ;;
esac
exec /usr/bin/g++ "$@"
"""

# Calls of the kind $STALE_CALL fail on paths that hold $STALE_PATH; a read() on a descriptor of such a path.
STALE_LIBRARY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_stale(const char* call, const char* path) {
  const char* wanted_call = getenv("STALE_CALL");
  const char* wanted = getenv("STALE_PATH");
  const char* log = getenv("STALE_LOG");
  if (!wanted_call || !wanted || strcmp(call, wanted_call) != 0 || !path || !strstr(path, wanted)) return 0;
  if (log) {
    int (*real)(const char*, int, ...) = dlsym(RTLD_NEXT, "open");
    int fd = real(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd >= 0) { (void)!write(fd, "stale\n", 6); close(fd); }
  }
  errno = ESTALE;
  return 1;
}

#define OPEN(name)                                                         \
  int name(const char* path, int flags, ...) {                             \
    static int (*real)(const char*, int, ...);                             \
    if (!real) real = dlsym(RTLD_NEXT, #name);                             \
    va_list arguments;                                                     \
    va_start(arguments, flags);                                            \
    mode_t mode = (flags & O_CREAT) ? va_arg(arguments, mode_t) : 0;       \
    va_end(arguments);                                                     \
    if (!(flags & O_CREAT) && is_stale("open", path)) return -1;           \
    return real(path, flags, mode);                                        \
  }
OPEN(open)
OPEN(open64)

ssize_t read(int descriptor, void* buffer, size_t size) {
  static ssize_t (*real)(int, void*, size_t);
  if (!real) real = dlsym(RTLD_NEXT, "read");
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  return is_stale("read", path) ? -1 : real(descriptor, buffer, size);
}

#define STAT(name, type)                                                   \
  int name(const char* path, struct type* status) {                        \
    static int (*real)(const char*, struct type*);                         \
    if (!real) real = dlsym(RTLD_NEXT, #name);                             \
    return is_stale("stat", path) ? -1 : real(path, status);               \
  }
STAT(stat, stat)
STAT(lstat, stat)
STAT(stat64, stat64)
STAT(lstat64, stat64)
"""


@pytest.fixture
def op(make_op):
    return make_op("op", sources={"a.cpp": 'extern "C" int value() { return 7; }\n'})


def value(result):
    return ctypes.CDLL(result["path"]).value()


@pytest.fixture(scope="session")
def stale_library(tmp_path_factory) -> Path:
    source = tmp_path_factory.mktemp("stale") / "stale.c"
    source.write_text(STALE_LIBRARY)
    library = source.with_suffix(".so")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True)
    return library


@pytest.fixture
def stale(stale_library, tmp_path):
    """stale(call, path) -> an environment in which that call fails with ESTALE on paths that hold `path`."""

    def make(call, path):
        return {"LD_PRELOAD": str(stale_library), "STALE_CALL": call, "STALE_PATH": path, "STALE_LOG": str(tmp_path / "stale.log")}

    return make


class TestStaleHandles:
    @pytest.mark.parametrize("path", ["/v1/index/", "/v1/entries/", "/v1/objects/", "/manifest.json"])
    @pytest.mark.parametrize("call", ["open", "read", "stat"])
    def test_counts_as_absent(self, run, op, stale, cache_dir, tmp_path, call, path):
        first = run("build", op, "--json").op
        env = stale(call, path)
        result = run("build", op, "--json", env=env)
        assert result.rc == 0, str(result)
        assert value(result.op) == 7
        if path != "/v1/objects/":  # a hit asks for none
            met = tmp_path / "stale.log"
            assert (call, path) == ("stat", "/v1/index/") or met.exists(), "the fault was not met at all"
        # The handle is fresh again: what was there is as it was, and is served.
        after = run("build", op, "--json")
        assert after.op["status"] == "hit"
        assert after.op["entry"] == first["entry"]
        assert run("cache", "verify").rc == 0

    @pytest.mark.parametrize("command", [("list",), ("cache", "stats"), ("cache", "prune"), ("clean", "--stale"),
                                         ("cache", "verify"), ("clean", "--all", "--yes")])
    @pytest.mark.parametrize("path", ["/v1/index/", "/v1/entries/", "/v1/origins/"])
    def test_no_command_falls_over_it(self, run, op, stale, command, path):
        run("build", op)
        for call in ("open", "read", "stat"):
            result = run(*command, env=stale(call, path))
            assert result.rc in (0, 1), str(result)
        assert run("build", op, "--json").rc == 0


NODE = """
mount -t tmpfs -o mode=0700 tmpfs {locks} && exec "$@"
"""


def can_unshare() -> bool:
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return False
    done = subprocess.run(["unshare", "-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt"], capture_output=True, check=False)
    return done.returncode == 0


@pytest.mark.skipif(not can_unshare(), reason="a mount namespace needs root")
class TestNodes:
    @pytest.fixture
    def on_node(self, dcuop_binary, environment, cache_dir, tmp_path):
        """on_node(arguments...) -> a running dcuop that shares the cache, but not the locks."""
        log = tmp_path / "log" / "compiles"
        log.parent.mkdir()
        compiler = tmp_path / "slow-c++"
        compiler.write_text(SLOW_COMPILER.format(log=log))
        compiler.chmod(0o755)
        started = []

        def start(*arguments, env=None):
            (cache_dir / "v1/locks").mkdir(parents=True, exist_ok=True)
            cache_dir.chmod(0o700)
            script = textwrap.dedent(NODE).format(locks=cache_dir / "v1/locks")
            process = subprocess.Popen(
                ["unshare", "-m", "sh", "-c", script, "sh", str(dcuop_binary), *map(str, arguments)],
                env={**environment, "CXX": str(compiler), **(env or {})}, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
            started.append(process)
            return process

        start.log = log
        yield start
        for process in started:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def test_cold_builds_on_two_nodes_both_compile_and_agree(self, on_node, op, run, cache_dir):
        nodes = [on_node("build", op, "--json") for _ in range(2)]
        answers = [node.communicate(timeout=120) for node in nodes]
        assert [node.returncode for node in nodes] == [0, 0], answers
        ops = [json.loads(out)["ops"][0] for out, _ in answers]
        assert [one["status"] for one in ops] == ["built", "built"]
        assert len(on_node.log.read_text().splitlines()) == 2, "no lock kept them apart"
        assert len({one["entry"] for one in ops}) == 1
        assert len({one["path"] for one in ops}) == 1
        assert all(one["cached"] and value(one) == 7 for one in ops)
        assert len(list((cache_dir / "v1/entries").glob("*/*"))) == 1
        assert run("cache", "verify").rc == 0
        assert on_node("build", op, "--json").wait(timeout=60) == 0
        assert len(on_node.log.read_text().splitlines()) == 2, "the third is a hit"

    def test_a_clean_up_on_one_node_beside_a_build_on_the_other(self, on_node, op, run, cache_dir):
        """The other node's private directory looks abandoned to a sweep: its lock is not seen here. Both share
        a kernel, though, so that the sweep may take it: the build then says so, or is right."""
        builder = on_node("build", op, "--json")
        end = time.monotonic() + 30
        while not on_node.log.exists() and time.monotonic() < end:
            time.sleep(0.02)
        cleaner = on_node("cache", "prune")
        assert cleaner.wait(timeout=60) == 0
        out, err = builder.communicate(timeout=120)
        answer = json.loads(out)
        if builder.returncode == 0:
            assert value(answer["ops"][0]) == 7
        assert run("cache", "verify").rc == 0
        assert run("build", op, "--json").rc == 0
