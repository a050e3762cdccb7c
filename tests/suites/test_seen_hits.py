"""A hit that was seen before is found by the identities of its inputs alone: it must miss whenever any of them changed."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Callable

import pytest

SETTLED = 2.2  # seconds after which a file's identity is trusted


def keep_times(path: Path, text: str) -> None:
    """Other bytes of the same length, and the old mtime."""
    before = path.stat()
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def edit(op: Path) -> None:
    keep_times(op / "inc/used.h", (op / "inc/used.h").read_text().replace("3", "4"))


def replace_by_an_old_file(op: Path) -> None:
    os.rename(op / "older.h", op / "inc/used.h")


def shadow(op: Path) -> None:
    (op / "first/used.h").write_text("#define VALUE 7\n")


def make_the_directory(op: Path) -> None:
    (op / "absent").mkdir()
    (op / "absent/used.h").write_text("#define VALUE 8\n")


def retarget(op: Path) -> None:
    os.unlink(op / "inc/linked.h")
    os.symlink("two.h", op / "inc/linked.h")


def retarget_by_rename(op: Path) -> None:
    os.symlink("two.h", op / "inc/new")
    os.rename(op / "inc/new", op / "inc/linked.h")


def answer_has_include(op: Path) -> None:
    (op / "inc/optional.h").write_text("")


def remove(op: Path) -> None:
    os.unlink(op / "inc/used.h")
    (op / "last/used.h").write_text("#define VALUE 9\n")


@pytest.mark.parametrize(
    "change",
    [edit, replace_by_an_old_file, shadow, make_the_directory, retarget, retarget_by_rename, answer_has_include, remove],
    ids=lambda change: change.__name__,
)
def test_a_change_after_a_seen_hit_is_a_miss(run, make_op: Callable[..., Path], cache_dir, change):
    op = make_op(
        "scale",
        sources={
            "op.cpp": """
                #include <used.h>
                #include <linked.h>
                #if __has_include(<optional.h>)
                #define EXTRA 100
                #else
                #define EXTRA 0
                #endif
                extern "C" int scaled(int x) { return x * VALUE + LINKED + EXTRA; }
            """
        },
        files={
            "inc/used.h": "#define VALUE 3\n",
            "inc/one.h": "#define LINKED 1\n",
            "inc/two.h": "#define LINKED 2\n",
            "older.h": "#define VALUE 5\n",
            "first/other.h": "",
            "last/other.h": "",
        },
        build={"cxx_flags": ["-Ifirst", "-Iabsent", "-Iinc", "-Ilast"]},
    )
    os.symlink("one.h", op / "inc/linked.h")
    assert run("build", op, "--json").op["status"] == "built"
    time.sleep(SETTLED)
    assert run("build", op, "--json").op["status"] == "hit"
    seen = list((cache_dir / "v1/memo").glob("*/hits/*"))
    assert len(seen) == 1
    assert run("build", op, "--json").op["status"] == "hit"
    change(op)
    after = run("build", op, "--json")
    assert (after.op["status"], after.compiled()) == ("built", ["op.cpp"]), after


def appears_in_a_new_directory(op: Path) -> Path:
    (op / "first/sub").mkdir()
    return op / "first/sub/used.h"


def appears_behind_a_dangling_link(op: Path) -> Path:
    os.symlink("away", op / "first/sub")
    (op / "first/away").mkdir()
    return op / "first/away/used.h"


@pytest.mark.parametrize(
    "prepare",
    [appears_in_a_new_directory, appears_behind_a_dangling_link],
    ids=lambda prepare: prepare.__name__,
)
def test_a_header_that_appears_without_a_trace_in_the_watched_directory_is_a_miss(run, make_op, cache_dir, prepare):
    op = make_op(
        "scale",
        sources={"op.cpp": '#include <sub/used.h>\nextern "C" int scaled(int x) { return x * VALUE; }\n'},
        files={"inc/sub/used.h": "#define VALUE 3\n", "first/other.h": ""},
        build={"cxx_flags": ["-Ifirst", "-Iinc"]},
    )
    assert run("build", op, "--json").op["status"] == "built"
    header = prepare(op)
    time.sleep(SETTLED)
    assert run("build", op, "--json").op["status"] == "hit"
    assert len(list((cache_dir / "v1/memo").glob("*/hits/*"))) == 1
    assert run("build", op, "--json").op["status"] == "hit"
    header.write_text("#define VALUE 7\n")
    after = run("build", op, "--json")
    assert (after.op["status"], after.compiled()) == ("built", ["op.cpp"]), after


def test_a_seen_hit_of_a_damaged_memo_is_found_as_ever(run, make_op, cache_dir):
    op = make_op()
    run("build", op)
    time.sleep(SETTLED)
    run("build", op)
    (memo,) = (cache_dir / "v1/memo").glob("*/hits/*")
    whole = memo.read_bytes()
    for damaged in (b"", whole[:-1], whole[:40], bytes([whole[0] ^ 1]) + whole[1:], whole[:-9] + b"x" + whole[-8:]):
        memo.chmod(0o600)
        memo.write_bytes(damaged)
        assert run("build", op, "--json").op["status"] == "hit"


def test_a_seen_hit_whose_entry_is_gone_is_built_again(run, make_op):
    op = make_op()
    run("build", op)
    time.sleep(SETTLED)
    assert run("build", op, "--json").op["status"] == "hit"
    assert run("clean", op, "--yes").rc == 0
    assert run("build", op, "--json").op["status"] == "built"
