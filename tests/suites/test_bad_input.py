"""Manifests, flags, files and environments that nobody means well with: each ends in a result or in a clear refusal."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any, Dict

import pytest

from conftest import Result, write_op

UNKNOWN_FAULT = "met something that it does not know"
READS = '#include "value.h"\nextern "C" int value() { return VALUE; }\n'
FORCED = 'extern "C" int value() { return VALUE; }\n'
ODD = os.fsdecode(b"odd\xff")


def value(result: Result) -> int:
    """What the file that was built, or found, says."""
    assert result.rc == 0, str(result)
    return int(ctypes.CDLL(result.op["path"]).value())


def refused(result: Result, rc: int, *words: str) -> None:
    assert result.rc == rc, str(result)
    for word in (*words, "error"):
        assert word in result.stderr, str(result)
    assert UNKNOWN_FAULT not in result.stderr


@pytest.fixture
def reader(make_op):
    return make_op("op", sources={"op.cpp": READS}, files={"value.h": "#define VALUE 1\n"})


# Manifests ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["[" + "a." * 100_000 + "a]\n", "a." * 100_000 + "a = 1\n", "a = " + "[" * 100_000, "a = " + "{a=" * 100_000])
class TestNesting:
    def test_of_an_op(self, run, make_op, text):
        op = make_op("op")
        (op / "dcuop.toml").write_text("\n" + text)
        refused(run("key", op), 2, "dcuop.toml:2:", "more than 64 tables and arrays in one another")

    def test_of_a_workspace(self, run, make_op, text):
        op = make_op("op")
        (op.parent / "dcuop.toml").write_text("[workspace]\nmembers = ['*']\n" + text)
        refused(run("key", op), 2, "dcuop.toml:3:", "more than 64")

    def test_of_the_configuration(self, run, make_op, environment, text):
        config = Path(environment["HOME"]) / ".config/dcuop/config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(text)
        refused(run("key", make_op("op")), 2, "config.toml:1:", "more than 64")


def test_members_of_many_depths(run, tmp_path):
    deep = tmp_path / "ws"
    for level in range(60):
        deep /= f"d{level % 3}"
    write_op(deep, name="deep")
    (tmp_path / "ws/link").symlink_to(".")
    (tmp_path / "ws/dcuop.toml").write_text(f"[workspace]\nmembers = ['{'**/' * 40}d*', '{'*/' * 40}x']\n")
    start = time.monotonic()
    result = run("key", cwd=tmp_path / "ws")
    assert result.rc == 0 and "deep  request" in result.stdout, str(result)
    assert time.monotonic() - start < 20


@pytest.mark.parametrize("name", ["dcuop.toml", "op.cpp"])
@pytest.mark.parametrize("kind", ["fifo", "socket", "directory", "zero", "dangling"])
def test_no_regular_file(run, make_op, name, kind):
    op = make_op("op")
    (op / name).unlink()
    {
        "fifo": lambda path: os.mkfifo(path),
        "socket": bind,
        "directory": lambda path: path.mkdir(),
        "zero": lambda path: path.symlink_to("/dev/zero"),
        "dangling": lambda path: path.symlink_to("nowhere"),
    }[kind](op / name)
    refused(run("build", op, timeout=60), 2, name)


def bind(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # an address is short
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


@pytest.mark.parametrize("name", ["a b.cpp", "it's.cpp", "$HOME.cpp", "ü→.cpp", "a#b.cpp", "a\\b.cpp", 'q"q.cpp', "100%41.cpp", "a;b&c.cpp", "(a).cpp"])
def test_names_of_sources(run, make_op, name):
    header = name.replace(".cpp", ".h")
    text = READS.replace('"value.h"', f"<{header}>")
    op = make_op("op", sources={name: text}, files={header: "#define VALUE 1\n"}, build={"include_dirs": ["."]})
    first = run("build", op, "--json")
    assert value(first) == 1
    again = run("build", op, "--json")
    assert value(again) == 1
    assert again.op["status"] in ("hit", "built"), str(again)
    (op / header).write_text("#define VALUE 2\n")
    assert value(run("build", op, "--json")) == 2


@pytest.mark.parametrize("key, item", [("sources", ""), ("sources", "a\nb.cpp"), ("sources", "."), ("cxx_flags", ""), ("cxx_flags", "a\x07"), ("include_dirs", ""), ("include_dirs", "op.cpp"), ("libraries", ""), ("libraries", "-lm"), ("archs", "")])
def test_values_that_name_nothing(run, make_op, key, item):
    refused(run("build", make_op("op", build={key: [item]})), 2, "dcuop.toml:")


# Files that are read ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["fifo", "zero", "socket"])
def test_no_regular_header_in_the_way(run, reader, kind):
    """Nobody includes it; it lies where headers are looked for."""
    {"fifo": lambda path: os.mkfifo(path), "zero": lambda path: path.symlink_to("/dev/zero"), "socket": bind}[kind](reader / "other.h")
    assert value(run("build", reader, "--json", timeout=60)) == 1


def test_header_that_is_a_directory(run, make_op):
    op = make_op("op", sources={"op.cpp": READS})
    (op / "value.h").mkdir()
    result = run("build", op, timeout=60)
    assert result.rc == 1 and UNKNOWN_FAULT not in result.stderr, str(result)


# Where it is run ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["list", "build", "key", "doctor"])
def test_working_directory_is_gone(run, make_op, tmp_path, dcuop_binary, environment, command):
    op = make_op("op")
    arguments = [command] + ([str(op)] if command in ("build", "key") else [])
    (tmp_path / "gone").mkdir()
    done = subprocess.run(["sh", "-c", 'cd "$1" && rmdir "$1" && shift && exec "$@"', "sh", str(tmp_path / "gone"), str(dcuop_binary), *arguments],
                          env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert "the directory that dcuop was started in cannot be told" in done.stderr


def test_few_open_files_are_no_fault_of_the_op(run, reader, dcuop_binary, environment):
    def limited(soft: int, hard: int) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([str(dcuop_binary), "build", str(reader)], env=environment, capture_output=True, text=True, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)))

    few = limited(8, 8)
    assert few.returncode == 3, few.stderr
    assert "only 8 files may be open at once" in few.stderr
    assert limited(64, 64).returncode == 0, "the least that is said to do"
    shutil.rmtree(environment["DCUOP_CACHE_DIR"])
    assert limited(8, 4096).returncode == 0, "the soft limit is dcuop's to raise"


@pytest.mark.parametrize("kind", ["fifo", "directory", "link to a fifo"])
def test_compile_commands_replace_no_device(run, reader, tmp_path, kind):
    target = tmp_path / "target"
    if kind == "directory":
        target.mkdir()
    else:
        os.mkfifo(target if kind == "fifo" else tmp_path / "fifo")
        if kind != "fifo":
            target.symlink_to("fifo")
    before = target.lstat()
    refused(run("build", reader, "--compile-commands", target, timeout=60), 2, "--compile-commands", "is no regular file")
    assert (target.lstat().st_ino, target.lstat().st_mode) == (before.st_ino, before.st_mode)


@pytest.mark.parametrize("option", ["--arch", "--lock-timeout", "--compile-commands", "--cache-dir", "--python"])
def test_empty_options(run, reader, option):
    refused(run("build", reader, option, ""), 2, option)


# Bytes that are no UTF-8 --------------------------------------------------------------------------------------------


class TestNoUtf8:
    def test_op_directory(self, run, reader, tmp_path):
        op = tmp_path / ODD
        shutil.copytree(reader, op)
        for status in ("built", "hit"):
            result = run("build", op, "--json")
            assert value_of_bytes(op, result) == 1
            assert result.op["status"] == status
        for command in (["build"], ["key"], ["key", "--json"], ["explain"], ["list"], ["build", "--force"]):
            done = run(*command, *([] if command == ["list"] else [op]), cwd=op)
            assert done.rc == 0 and UNKNOWN_FAULT not in done.stderr, str(done)
        (op / "value.h").write_text("#define VALUE 2\n")
        assert value_of_bytes(op, run("build", op, "--json")) == 2

    def test_source_and_header(self, run, tmp_path, make_op):
        op = make_op("op", files={f"{ODD}.cpp": READS.replace("value.h", f"{ODD}.h").encode("utf-8", "surrogateescape").decode("latin-1")})
        (op / "op.cpp").unlink()
        (op / f"{ODD}.cpp").write_bytes(os.fsencode(READS.replace("value.h", f"{ODD}.h")))
        (op / f"{ODD}.h").write_text("#define VALUE 1\n")
        (op / "dcuop.toml").write_text((op / "dcuop.toml").read_text().replace('"op.cpp"', '"*.cpp"'))
        for status in ("built", "hit"):
            result = run("build", op, "--json")
            assert value(result) == 1
            assert result.op["status"] == status
        (op / f"{ODD}.h").write_text("#define VALUE 2\n")
        assert value(run("build", op, "--json")) == 2

    def test_failure(self, run, make_op):
        op = make_op("op")
        (op / "op.cpp").write_bytes(b"#error odd\xff\n")
        for form in ([], ["--json"]):
            result = run("build", op, *form)
            assert result.rc == 1 and UNKNOWN_FAULT not in result.stderr, str(result)

    @pytest.mark.parametrize("name", ["CPATH", "LIBRARY_PATH", "HIPCC_COMPILE_FLAGS_APPEND", "HOME", "CUDA_HOME"])
    def test_variable(self, run, reader, tmp_path, name):
        for status in ("built", "hit"):
            result = run("build", reader, "--json", env={name: f"{tmp_path}/{ODD}"})
            assert value(result) == 1
            assert result.op["status"] == status

    def test_header_appears_in_such_a_directory(self, run, make_op, tmp_path):
        """A record that led elsewhere would not see it."""
        op = make_op("op", sources={"op.cpp": "#include <value.h>\n" + FORCED}, files={"inc/value.h": "#define VALUE 1\n"})
        (tmp_path / ODD).mkdir()
        search = {"CPATH": f"{tmp_path}/{ODD}:{op}/inc"}
        assert value(run("build", op, "--json", env=search)) == 1
        (tmp_path / ODD / "value.h").write_text("#define VALUE 2\n")
        assert value(run("build", op, "--json", env=search)) == 2
        (tmp_path / ODD / "value.h").write_text("#define VALUE 3\n")
        assert value(run("build", op, "--json", env=search)) == 3

    def test_cache_directory_and_arguments(self, run, reader, tmp_path):
        for arguments in (["build", reader, "--cache-dir", tmp_path / ODD], ["build", tmp_path / ODD], ["build", ODD], ["build", reader, "--arch", ODD], ["explain", ODD]):
            result = run(*arguments)
            assert result.rc in (0, 2) and UNKNOWN_FAULT not in result.stderr, str(result)


def value_of_bytes(op: Path, result: Result) -> int:
    """The answer of an op whose directory JSON cannot name."""
    assert result.op["directory"] == os.fsencode(op).decode("utf-8", "replace")
    return value(result)


# Flags --------------------------------------------------------------------------------------------------------------


class TestForcedInclude:
    def test_of_the_search_path_is_followed(self, run, make_op):
        op = make_op("op", sources={"op.cpp": FORCED}, files={"inc/value.h": "#define VALUE 1\n"},
                     build={"include_dirs": ["inc"], "cxx_flags": ["-include", "value.h"]})
        assert value(run("build", op, "--json")) == 1
        assert run("build", op, "--json").op["status"] == "hit"
        (op / "inc/value.h").write_text("#define VALUE 2\n")
        assert value(run("build", op, "--json")) == 2
        (op / "value.h").write_text("#define VALUE 3\n")  # the working directory goes first
        assert value(run("build", op, "--json")) == 3
        (op / "value.h").unlink()
        assert value(run("build", op, "--json")) == 2

    @pytest.mark.parametrize("flag", ["-include", "-imacros"])
    def test_of_the_system(self, run, make_op, flag):
        op = make_op("op", sources={"op.cpp": 'extern "C" int value() { return INT_MAX > 1; }\n'}, build={"cxx_flags": [flag, "climits"]})
        assert value(run("build", op, "--json")) == 1

    def test_of_a_pipe_does_not_wait(self, run, make_op):
        op = make_op("op", build={"cxx_flags": ["-include", "pipe"]})
        os.mkfifo(op / "pipe")
        refused(run("build", op, timeout=60), 2, "a flag names", "/pipe, which cannot be read")

    def test_of_nowhere_is_the_compilers_to_say(self, run, make_op):
        result = run("build", make_op("op", build={"cxx_flags": ["-include", "no-such.h"]}))
        assert result.rc == 1 and "no-such.h" in result.stderr, str(result)


def test_directory_of_profiles_is_built_and_not_cached(run, make_op):
    op = make_op("op", sources={"op.cpp": 'extern "C" int value() { return 1; }\n'}, files={"profiles/x": ""},
                 build={"cxx_flags": ["-fprofile-use=profiles", "-Wno-missing-profile"]})
    result = run("build", op, "--json")
    assert value(result) == 1
    assert not result.op["cached"]
    assert any("names a directory" in remark for remark in result.op["remarks"]), str(result)


def test_addresses_for_the_linker(run, make_op):
    op = make_op("op", sources={"op.cpp": 'extern "C" int value() { return 1; }\n'}, build={"link_flags": ["-Wl,-Ttext=0x10000"]})
    assert value(run("build", op, "--json")) == 1
    assert run("build", op, "--json").op["status"] == "hit"


@pytest.mark.parametrize("flags", [["-Wa,blob.s"], ["-Xassembler", "blob.s"]])
def test_file_for_the_assembler_is_not_cached(run, make_op, flags):
    text = ".globl value\nvalue: movl ${}, %eax\nret\n"
    op = make_op("op", sources={"op.cpp": "\n"}, files={"blob.s": text.format(1)}, build={"cxx_flags": flags})
    result = run("build", op, "--json")
    assert value(result) == 1
    assert any("the assembler reads blob.s, which dcuop does not follow" in remark for remark in result.op["remarks"])
    (op / "blob.s").write_text(text.format(2))
    assert value(run("build", op, "--json")) == 2


# Archs --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arch, near", [("gfx9O6", "gfx906"), ("gxf906", "gfx906"), ("navitve", None), ("natve", "native"), ("gfx906:xnak+", None), ("sm", None)])
def test_arch_that_is_none_is_refused_for_host_code_too(run, make_op, environment, arch, near):
    op = make_op("op")
    config = Path(environment["HOME"]) / ".config/dcuop/config.toml"
    by_origin: Dict[str, Any] = {"--arch": run("build", op, "--arch", arch), "DCUOP_ARCH": run("build", op, env={"DCUOP_ARCH": arch})}
    config.parent.mkdir(parents=True)
    config.write_text(f"arch = ['{arch}']\n")
    by_origin["config.toml:1"] = run("build", op)
    for origin, result in by_origin.items():
        refused(result, 2, f"'{arch}' (", origin, "is no offload arch")
        if near:
            assert f"did you mean '{near}'?" in result.stderr


@pytest.mark.parametrize("arch", ["gfx906", "gfx90a:xnack-", "gfx9-4-generic", "gfx906,gfx936", "native", "gfx906;gfx90a"])
def test_arch_that_can_be_is_none_of_host_codes_business(run, make_op, arch):
    assert run("build", make_op("op"), "--arch", arch).rc == 0


# The command line ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line, message, fix", [
    ("buid", "unknown command 'buid'; did you mean 'build'?", "dcuop --help"),
    ("buid --arch gfx906 affine", "unknown command 'buid'; did you mean 'build'?", "dcuop --help"),
    ("cache stat", "unknown command 'stat'; did you mean 'stats'?", "dcuop cache --help"),
    ("frobnicate", "unknown command 'frobnicate'", "dcuop --help"),
    ("build --jbos 3", "unknown option '--jbos'; did you mean '--jobs'?", "dcuop build --help"),
    ("cache stats --cahce-dir=x", "unknown option '--cahce-dir'; did you mean '--cache-dir'?", "dcuop cache stats --help"),
    ("list --frobnicate", "unknown option '--frobnicate'", "dcuop list --help"),
    ("cache", "A subcommand is required", "dcuop cache --help"),
])
def test_unknown_word(run, line, message, fix):
    result = run(*line.split())
    assert result.rc == 2 and result.stdout == ""
    assert result.stderr == f"error: {message}\n  fix: {fix}\n"
    answer = run(*line.split(), "--json").json["error"]
    assert answer == {"message": message, "hint": fix, "exit_code": 2}
