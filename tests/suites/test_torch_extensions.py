"""torch's own JIT cache: a lock that a live process holds stays, one that nobody holds goes."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from conftest import PYTHON

#: As torch.utils.file_baton takes it; the directory is not on the command line.
HOLD_LOCK = """
import os, sys
descriptor = os.open(os.environ["LOCK"], os.O_CREAT | os.O_EXCL)
print("held", flush=True)
sys.stdin.read()
"""

BUILD_FILE = """ninja_required_version = 1.3
cxx = c++

cflags = -DTORCH_EXTENSION_NAME={name} {flags}

build {name}.so: link {name}.o

default {name}.so
"""


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "home" / ".cache" / "torch_extensions" / tag()


def tag() -> str:
    code = "import sys; print(f'py{sys.version_info.major}{sys.version_info.minor}_cpu')"
    return subprocess.run([PYTHON, "-c", code], capture_output=True, encoding="utf-8", check=True).stdout.strip()


@pytest.fixture
def extension(cache):
    """extension("k") -> its directory: as torch leaves it, with a real library."""

    def make(name="k", directory=None, library=True, flags=""):
        entry = (directory or cache) / name
        entry.mkdir(parents=True)
        (entry / "build.ninja").write_text(BUILD_FILE.format(name=name, flags=flags))
        (entry / f"{name}.o").write_bytes(b"object")
        if library:
            subprocess.run(
                ["/usr/bin/g++", "-shared", "-fPIC", "-x", "c++", "-", "-o", str(entry / f"{name}.so")],
                input=b'extern "C" int f() { return 1; }', check=True,
            )
        age(entry)
        return entry

    return make


def age(entry: Path, seconds=3600):
    then = time.time() - seconds
    for file in entry.iterdir():
        os.utime(file, (then, then))


def orphan(entry: Path) -> Path:
    lock = entry / "lock"
    lock.touch()
    age(entry)
    return lock


def rules(result):
    return [finding["rule"] for finding in result.json["findings"]]


def test_no_cache_and_a_good_one_are_fine(run, extension):
    result = run("doctor", "--torch-extensions")
    assert result.rc == 0, str(result)
    assert "no extension" in result.stdout
    extension()
    result = run("doctor", "--torch-extensions", "--json")
    assert result.rc == 0 and rules(result) == [], str(result)
    assert [entry["name"] for entry in result.json["entries"]] == ["k"]


def test_orphan_lock_is_named_and_removed_by_fix_alone(run, extension):
    entry = extension()
    lock = orphan(entry)
    result = run("doctor", "--torch-extensions")
    assert result.rc == 1, str(result)
    assert "DCU501" in result.stdout and "rm ~/.cache/torch_extensions" in result.stdout
    assert lock.exists()
    result = run("doctor", "--torch-extensions", "--fix")
    assert result.rc == 0, str(result)
    assert "removed" in result.stdout
    assert not lock.exists() and (entry / "k.so").exists()


def test_lock_of_a_live_process_stays_until_it_is_killed(run, extension):
    entry = extension()
    holder = subprocess.Popen(
        [PYTHON, "-c", HOLD_LOCK], env={**os.environ, "LOCK": str(entry / "lock")},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8",
    )
    try:
        assert holder.stdout.readline() == "held\n"
        age(entry)
        result = run("doctor", "--torch-extensions", "--fix", "--json")
        assert result.rc == 0 and rules(result) == ["DCU502"], str(result)
        assert f"pid {holder.pid} " in result.json["findings"][0]["cause"]
        assert (entry / "lock").exists()
        assert str(holder.pid) in result.json["left"][0]["reason"]
    finally:
        holder.kill()
        holder.communicate()
    result = run("doctor", "--torch-extensions", "--fix", "--json")
    assert result.json["removed"] == [str(entry / "lock")], str(result)


def test_ninja_that_outlived_python_keeps_the_entry(run, extension):
    entry = extension(library=False)
    orphan(entry)
    builder = subprocess.Popen(["/bin/sleep", "60"], cwd=entry)
    try:
        result = run("doctor", "--torch-extensions", "--fix", "--json")
        assert rules(result) == ["DCU502"], str(result)
        assert (entry / "lock").exists() and (entry / "k.o").exists()
    finally:
        builder.kill()
        builder.wait()
    result = run("doctor", "--torch-extensions", "--fix", "--json")
    assert result.rc == 0, str(result)
    assert not entry.exists()


def test_half_built_and_cut_off_are_errors(run, extension):
    cut = extension("cut")
    with open(cut / "cut.so", "r+b") as file:
        file.truncate(3000)
    age(cut)
    missing = extension("missing", library=False)
    (missing / "main.cpp").write_text("// somebody's")
    result = run("doctor", "--torch-extensions", "--json")
    assert result.rc == 1 and rules(result) == ["DCU504", "DCU504"], str(result)
    result = run("doctor", "--torch-extensions", "--fix", "--json")
    assert result.rc == 0, str(result)
    assert not cut.exists()
    assert [file.name for file in missing.iterdir()] == ["main.cpp"]


def test_young_lock_stays(run, extension):
    entry = extension()
    (entry / "lock").touch()
    result = run("doctor", "--torch-extensions", "--fix", "--json")
    assert rules(result) == ["DCU503"], str(result)
    assert (entry / "lock").exists()
    assert "minute" in result.json["left"][0]["reason"]


def test_other_torch_and_python_are_warnings(run, extension, cache):
    extension("old", flags="-isystem /opt/gone/site-packages/torch/include")
    extension("older", directory=cache.parent / "py27_cpu")
    result = run("doctor", "--torch-extensions", "--json")
    assert result.rc == 0, str(result)
    assert sorted(rules(result)) == ["DCU505", "DCU506"]


def test_torch_extensions_dir_has_no_tags(run, extension, tmp_path):
    entry = extension("k", directory=tmp_path / "elsewhere")
    orphan(entry)
    result = run("doctor", "--torch-extensions", "--json", env={"TORCH_EXTENSIONS_DIR": str(tmp_path / "elsewhere")})
    assert rules(result) == ["DCU501"], str(result)
    assert result.json["origin"] == "TORCH_EXTENSIONS_DIR"


def test_real_load_that_was_killed(run, environment, tmp_path, cache):
    """torch itself: killed while it compiles; its compiler lives on; then freed, then it builds."""
    source = tmp_path / "real.cpp"
    source.write_text(
        "#include <Python.h>\n"
        'static PyModuleDef module = {PyModuleDef_HEAD_INIT, "real", nullptr, -1, nullptr};\n'
        "PyMODINIT_FUNC PyInit_real() { return PyModule_Create(&module); }\n"
    )
    slow = tmp_path / "slow-c++"
    slow.write_text('#!/bin/sh\ncase " $* " in *" -c "*) sleep 8;; esac\nexec /usr/bin/c++ "$@"\n')
    slow.chmod(0o755)
    code = f"from torch.utils.cpp_extension import load; load('real', [{str(source)!r}])"
    builder = subprocess.Popen(
        [PYTHON, "-c", code], env={**environment, "CXX": str(slow)}, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    entry = cache / "real"
    try:
        end = time.monotonic() + 60
        while not (entry / "build.ninja").exists():
            assert time.monotonic() < end and builder.poll() is None
            time.sleep(0.1)
        assert rules(run("doctor", "--torch-extensions", "--fix", "--json")) == ["DCU502"]
    finally:
        os.killpg(builder.pid, 9)
        builder.wait()
    age(entry)
    # ninja puts each command into a process group of its own: the compiler outlives the kill.
    assert rules(run("doctor", "--torch-extensions", "--fix", "--json")) == ["DCU502"]
    end = time.monotonic() + 60
    while rules(run("doctor", "--torch-extensions", "--json")) == ["DCU502"]:
        assert time.monotonic() < end
        time.sleep(0.5)
    age(entry)
    result = run("doctor", "--torch-extensions", "--fix", "--json")
    assert result.rc == 0, str(result)
    assert sorted(finding["rule"] for finding in result.json["fixed"]) == ["DCU501", "DCU504"]
    done = subprocess.run([PYTHON, "-c", code], env=environment, capture_output=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stderr
    assert rules(run("doctor", "--torch-extensions", "--json")) == []


def test_fix_alone_is_refused(run):
    assert run("doctor", "--fix").rc == 2
    assert run("doctor", "a.so", "--torch-extensions").rc == 2
