"""`changed`, and what the suites need that ask whether a build notices a change: sources, compilers, other users.

Each `value` is asked in a process of its own: dlopen gives the old handle for a path that it knows.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from conftest import Result

READS = '#include <value.h>\nextern "C" int value() { return VALUE; }\n'
QUOTES = READS.replace("<value.h>", '"value.h"')
PLAIN = 'extern "C" int value() { return VALUE; }\n'

full_only = pytest.mark.skipif("DCUOP_FULL" not in os.environ, reason="make full runs it (DCUOP_FULL=1)")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def build(run, op, *arguments, **options):
    result = run("build", op, "--json", *arguments, **options)
    assert result.rc == 0, str(result)
    return result


def value(result):
    code = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).value())"
    return int(subprocess.run([sys.executable, "-c", code, result.op["path"]], check=True, capture_output=True).stdout)


def changed(run, op, change, tmp_path, env=None, env2=None, arguments=()):
    """Builds, changes one thing that the compiler or linker would notice (or takes env2 for env), and expects what a
    build into an empty cache gives then."""
    env = env or {}
    env2 = env2 or env
    first = build(run, op, *arguments, env=env)
    assert value(first) == 1
    change()
    empty = {**env2, "DCUOP_CACHE_DIR": str(tmp_path / "empty-cache")}
    assert value(build(run, op, *arguments, env=empty)) == 2, "the reproduction is wrong"
    second = build(run, op, *arguments, env=env2)
    assert value(second) == 2, f"{second.op['status']}, {second.op['reason']}; first: {first.op.get('remarks')}"


def flags_become_two(tmp_path):
    return lambda: write(tmp_path / "flags", "-DVALUE=2\n")


def script(path, body, mode=0o755):
    """A shell script as the compiler."""
    write(path, "#!/bin/sh\n" + body)
    path.chmod(mode)
    return {"CXX": str(path)}


def program(path, text, *flags):
    """The same, of a C source."""
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["gcc", "-O1", "-o", path, "-x", "c", "-", *flags], check=True, text=True, input=text)
    return {"CXX": str(path)}


@pytest.fixture
def plain_op(make_op):
    """Its value is what the compiler's flags say."""
    return make_op("op", sources={"op.cpp": PLAIN})


@pytest.fixture
def quoting_op(make_op):
    """Its value is what value.h beside its source says."""
    return make_op("op", sources={"op.cpp": QUOTES}, files={"value.h": "#define VALUE 1\n"})


@pytest.fixture
def nobody(dcuop_binary, environment, tmp_path):
    """`run` as a user who may write nothing but nobody.base."""
    base = Path(tempfile.mkdtemp(prefix="dcuop-nobody-"))
    base.chmod(0o777)
    for directory in (tmp_path, *tmp_path.parents):
        if str(directory).startswith("/tmp/pytest"):
            directory.chmod(0o755)

    def run(*arguments, env=None):
        of_its_own = {"HOME": str(base / "home"), "TMPDIR": str(base), "DCUOP_CACHE_DIR": str(base / "cache")}
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", str(dcuop_binary), *map(str, arguments)]
        done = subprocess.run(
            command,
            env={**environment, **of_its_own, **(env or {})},
            capture_output=True,
            text=True,
            cwd="/",
            stdin=subprocess.DEVNULL,
            timeout=100,
        )
        return Result(command, done.returncode, done.stdout, done.stderr)

    run.base = base
    yield run
    shutil.rmtree(base)
