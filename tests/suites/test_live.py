"""doctor --pid of real processes that load real libraries; doctor --message of what real loaders, Pythons and
compilers said."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import PYTHON

#: Loads what it is told, says so, and stays until its standard input ends.
LOADER = """
import ctypes, sys
for path in sys.argv[1:]:
    ctypes.CDLL(path)
print("loaded", flush=True)
sys.stdin.read()
"""

MODULE = """
#include <Python.h>
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "%s", 0, -1, 0};
PyMODINIT_FUNC PyInit_%s(void) { return PyModule_Create(&definition); }
"""


@pytest.fixture
def library(tmp_path):
    """library("a/libk.so", soname=..., source=...) -> a shared object."""

    def make(name, *options, source="int f(void) { return 1; }", soname=None):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        extra = [f"-Wl,-soname,{soname}"] if soname else []
        subprocess.run(
            ["/usr/bin/gcc", "-shared", "-fPIC", "-w", "-x", "c", "-", "-o", str(path), *extra, *map(str, options)],
            input=source, encoding="utf-8", check=True,
        )
        return path

    return make


@pytest.fixture
def loader():
    """loader(paths...) -> a process that has them loaded."""
    started = []

    def start(*paths, code=LOADER, env=None):
        process = subprocess.Popen(
            [PYTHON, "-c", code, *map(str, paths)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8",
            env={**os.environ, **(env or {})},
        )
        started.append(process)
        assert process.stdout.readline() == "loaded\n"
        return process

    yield start
    for process in started:
        process.stdin.close()
        process.wait(30)
        process.stdout.close()


def rules(result):
    return [finding["rule"] for finding in result.json["findings"]]


def said_by_python(code: str, *arguments: object) -> str:
    """What a Python says of `code`, which fails."""
    done = subprocess.run([PYTHON, "-c", code, *map(str, arguments)], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode != 0, done.stdout
    return done.stderr


@pytest.fixture
def tell(run, tmp_path):
    """tell(text, options...) -> dcuop doctor --message of it."""

    def ask(text, *options):
        message = tmp_path / "message.txt"
        message.write_bytes(text if isinstance(text, bytes) else text.encode())
        return run("doctor", "--message", message, *options)

    return ask


class TestProcess:
    def test_a_plain_one_is_fine(self, run, loader, library):
        process = loader(library("libk.so"))
        result = run("doctor", "--pid", process.pid, "--json")
        assert result.rc == 0 and rules(result) == [], str(result)
        loaded = {Path(entry["path"]).name: entry for entry in result.json["loaded"]}
        assert loaded["libk.so"]["on_disk"] == "same"
        assert result.json["process"]["pid"] == process.pid
        assert "no error found" in run("doctor", "--pid", process.pid).stdout

    def test_two_hip_runtimes(self, run, loader, library):
        one = library("a/libamdhip64.so.5", soname="libamdhip64.so.5")
        two = library("b/libamdhip64.so.6", soname="libamdhip64.so.6")
        result = run("doctor", "--pid", loader(one, two).pid)
        assert result.rc == 1, str(result)
        assert "2 HIP runtimes are loaded" in result.stdout and str(one) in result.stdout and str(two) in result.stdout

    def test_two_copies_of_one_library(self, run, loader, library):
        result = run("doctor", "--pid", loader(library("a/libc10.so"), library("b/libc10.so")).pid, "--json")
        assert result.rc == 1 and rules(result) == ["DCU602"], str(result)

    def test_one_file_under_two_names_is_one(self, run, loader, library):
        one = library("a/libc10.so")
        link = one.with_name("libc10.so.1")
        link.symlink_to(one)
        hard = one.with_name("libc10.so.2")
        os.link(one, hard)
        result = run("doctor", "--pid", loader(one, link, hard).pid, "--json")
        assert rules(result) == [], str(result)

    def test_deleted_and_replaced(self, run, loader, library):
        gone, old, rewritten = library("gone.so"), library("old.so"), library("kept.so")
        process = loader(gone, old, rewritten)
        gone.unlink()
        os.replace(library("new.so", source="int f(void) { return 2; }"), old)
        result = run("doctor", "--pid", process.pid, "--json")
        assert result.rc == 0 and rules(result) == ["DCU603", "DCU604"], str(result)
        states = {Path(entry["path"]).name: entry["on_disk"] for entry in result.json["loaded"]}
        assert (states["gone.so"], states["old.so"], states["kept.so"]) == ("deleted", "replaced", "same")
        text = run("doctor", "--pid", process.pid).stdout
        assert f"restart the process (pid {process.pid})" in text

    def test_a_file_whose_name_says_deleted_is_there(self, run, loader, library):
        process = loader(library("libk.so (deleted)"))
        result = run("doctor", "--pid", process.pid, "--json")
        assert rules(result) == [], str(result)

    def test_a_module_with_device_code_for_another_device(self, run, loader, hip_op):
        built = run("build", hip_op, "--arch", "gfx906", "--print-path")
        assert built.rc == 0, str(built)
        artifact = built.stdout.strip()
        process = loader(artifact)
        fits = run("doctor", "--pid", process.pid, "--arch", "gfx906", "--json")
        assert fits.rc == 0, str(fits)
        assert [entry["targets"] for entry in fits.json["loaded"] if entry["path"] == artifact] == [["gfx906"]]
        other = run("doctor", "--pid", process.pid, "--arch", "gfx936", "--json")
        assert other.rc == 1 and rules(other) == ["DCU301"], str(other)

    def test_what_is_loaded_counts_first_for_a_file(self, run, loader, library, tmp_path):
        provider = library("away/libprovider.so.1", soname="libprovider.so.1")
        user = library("user.so", f"-L{provider.parent}", "-l:libprovider.so.1", source="int f(void); int g(void) { return f(); }")
        without = run("doctor", "--pid", loader().pid, user)
        assert without.rc == 1 and "libprovider.so.1 is not found" in without.stdout, str(without)
        with_it = run("doctor", "--pid", loader(provider).pid, user)
        assert with_it.rc == 0 and "loads" in with_it.stdout, str(with_it)

    def test_the_environment_of_the_process_counts(self, run, loader):
        process = loader(env={"HSA_OVERRIDE_GFX_VERSION": "nonsense"})
        result = run("doctor", "--pid", process.pid, "--json")
        assert "DCU418" in rules(result), str(result)

    def test_no_such_process(self, run):
        gone = subprocess.Popen([PYTHON, "-c", ""])
        gone.wait()
        result = run("doctor", "--pid", gone.pid)
        assert result.rc == 2 and "there is no process" in result.stderr, str(result)
        for bad in ("0", "x", "-1", "1.5", ""):
            assert run("doctor", f"--pid={bad}").rc == 2

    def test_a_zombie(self, run):
        zombie = subprocess.Popen([PYTHON, "-c", ""])
        os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
        result = run("doctor", "--pid", zombie.pid)
        zombie.wait()
        assert result.rc == 3 and "has ended" in result.stderr, str(result)

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
    def test_somebody_elses(self, loader, dcuop_binary, environment, tmp_path):
        process = loader()
        binary = tmp_path / "dcuop"
        shutil.copy(dcuop_binary, binary)
        for directory in (tmp_path, *tmp_path.parents):
            if directory.stat().st_uid == 0 and str(directory).startswith("/tmp/"):
                directory.chmod(0o755)
        done = subprocess.run(
            [str(binary), "doctor", "--pid", str(process.pid)], user=65534, group=65534, extra_groups=[],
            env={**environment, "HOME": "/nonexistent"}, cwd="/", capture_output=True, encoding="utf-8", check=False,
        )
        assert done.returncode == 3, done.stderr
        assert "belongs to root" in done.stderr and f"sudo dcuop doctor --pid {process.pid}" in done.stderr

    @pytest.mark.skipif(os.geteuid() != 0, reason="a mount namespace takes root")
    def test_one_in_another_mount_namespace(self, run, library, tmp_path):
        # A tmpfs hides the directory of the library from the process; inside lies another file of that name.
        hidden = library("place/libk.so", source="int outside(void) { return 1; }")
        inner = library("inner.so")
        script = f"mount -t tmpfs none {hidden.parent} && cp {inner} {hidden} && exec {PYTHON} -c '{LOADER}' {hidden}"
        process = subprocess.Popen(
            ["unshare", "--mount", "/bin/sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, encoding="utf-8",
        )
        try:
            if process.stdout.readline() != "loaded\n":
                pytest.skip(f"no mount namespace here: {process.stderr.read()}")
            result = run("doctor", "--pid", process.pid, "--json")
            assert rules(result) == [], str(result)
            assert result.json["process"]["other_mounts"] is True
            loaded = [entry for entry in result.json["loaded"] if entry["path"] == str(hidden)]
            assert [entry["on_disk"] for entry in loaded] == ["same"]
        finally:
            process.communicate()


class TestMessage:
    def test_an_undefined_symbol_of_a_file_that_is_here(self, library, tell):
        path = library("k.so", source="void launch(void); void g(void) { launch(); }")
        message = said_by_python("import ctypes, os, sys; ctypes.CDLL(sys.argv[1], os.RTLD_NOW)", path)
        result = tell(message, "--json")
        assert result.rc == 1, str(result)
        assert result.json["claim_holds"] is True and result.json["file"] == str(path)
        assert [f["rule"] for f in result.json["diagnosis"]["findings"] if f["severity"] == "error"] == ["DCU218"]
        text = tell(message).stdout
        assert text.splitlines()[0] == "k.so does not load: a source of its own is missing from it, as the message says."

    def test_a_file_that_was_built_again_since(self, library, tell):
        path = library("k.so", source="void launch(void); void g(void) { launch(); }")
        message = said_by_python("import ctypes, os, sys; ctypes.CDLL(sys.argv[1], os.RTLD_NOW)", path)
        library("k.so")
        result = tell(message, "--json")
        assert result.rc == 0, str(result)
        assert result.json["claim_holds"] is False and rules(result)[0] == "DCU790"

    def test_a_file_that_is_not_here(self, library, tell):
        path = library("k.so", source="void launch(void); void g(void) { launch(); }")
        message = said_by_python("import ctypes, os, sys; ctypes.CDLL(sys.argv[1], os.RTLD_NOW)", path)
        path.unlink()
        result = tell(message)
        assert result.rc == 1 and "from the message alone" in result.stdout, str(result)
        assert "[DCU218] undefined symbol launch" in result.stdout

    def test_a_missing_library(self, library, tell):
        library("libgone.so.3", soname="libgone.so.3")
        path = library("k.so", f"-L{library('libgone.so.3', soname='libgone.so.3').parent}", "-l:libgone.so.3",
                       source="int f(void); int g(void) { return f(); }")
        (path.parent / "libgone.so.3").unlink()
        message = said_by_python("import ctypes, sys; ctypes.CDLL(sys.argv[1])", path)
        assert "DCU201" in tell(message).stdout
        given = tell(message, path, "--json")  # the loader does not say who wants it; somebody who knows does
        assert given.json["claim_holds"] is True, str(given)

    @pytest.mark.parametrize("content, claim", [
        (b"hello", "file too short"),
        (b"version https://git-lfs.github.com/spec/v1\n" * 4, "invalid ELF header"),
        (b"\x7fELF\x01\x01\x01" + bytes(200), "wrong ELF class"),
    ])
    def test_a_damaged_file(self, tell, tmp_path, content, claim):
        path = tmp_path / "damaged.so"
        path.write_bytes(content)
        message = said_by_python("import ctypes, sys; ctypes.CDLL(sys.argv[1])", path)
        assert claim in message
        result = tell(message, "--json")
        assert result.rc == 1 and result.json["claim_holds"] is True, str(result)
        path.unlink()
        assert "DCU701" in tell(message).stdout

    def test_a_module_without_its_init_function(self, library, tell, tmp_path):
        include = subprocess.run([PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('include'))"],
                                 capture_output=True, encoding="utf-8", check=True).stdout.strip()
        if not Path(include, "Python.h").exists():
            pytest.skip("no Python.h here")
        path = library("renamed.so", f"-I{include}", source=MODULE % ("original", "original"))
        message = said_by_python("import sys; sys.path.insert(0, sys.argv[1]); import renamed", tmp_path)
        assert "PyInit_renamed" in message
        assert "DCU230" in tell(message).stdout
        result = tell(message, path, "--json")
        assert result.json["claim_holds"] is True, str(result)
        assert [f["rule"] for f in result.json["diagnosis"]["findings"] if f["severity"] == "error"] == ["DCU231"]

    def test_a_missing_version(self, library, tell, tmp_path):
        script = tmp_path / "map"
        script.write_text("V_2 { global: f; };")
        new = library("new/libv.so.1", f"-Wl,--version-script={script}", soname="libv.so.1")
        path = library("k.so", f"-L{new.parent}", "-l:libv.so.1", f"-Wl,-rpath,{tmp_path}/old", source="int f(void); int g(void) { return f(); }")
        script.write_text("V_1 { global: f; };")
        library("old/libv.so.1", f"-Wl,--version-script={script}", soname="libv.so.1")
        message = said_by_python("import ctypes, sys; ctypes.CDLL(sys.argv[1])", path)
        assert "version `V_2' not found" in message
        result = tell(message, "--json")
        assert result.json["claim_holds"] is True, str(result)
        assert result.json["clues"][0]["name"] == "V_2" and result.json["file"] == str(path)

    def test_a_compiler_says_a_header_is_missing(self, tell, tmp_path):
        source = tmp_path / "op.cpp"
        source.write_text('#include "nowhere/at_all.h"\nint f() { return nummel; }\n')
        done = subprocess.run(["/usr/bin/g++", "-c", str(source), "-o", "/dev/null"], capture_output=True, encoding="utf-8", check=False)
        log = done.stderr + "ninja: build stopped: subcommand failed.\nRuntimeError: Error building extension 'op'\n"
        result = tell(log)
        assert result.rc == 1 and "[DCU708] the header nowhere/at_all.h is not found" in result.stdout, str(result)

    def test_a_linker_says_a_symbol_is_missing(self, tell, tmp_path):
        source = tmp_path / "op.cpp"
        source.write_text("void launch(float*); int main() { launch(nullptr); }\n")
        done = subprocess.run(["/usr/bin/g++", str(source), "-o", "/dev/null"], capture_output=True, encoding="utf-8", check=False)
        result = tell(done.stderr)
        assert "[DCU712] the linker does not find launch(float*)" in result.stdout, str(result)

    def test_colours_ranks_and_carriage_returns(self, tell):
        line = "\x1b[31mImportError: /nowhere/k.so: undefined symbol: _ZN3c103fooEv\x1b[0m\r\n"
        text = "".join(f"[rank{i}]: {line}" for i in range(8)) + "12: torch.distributed.elastic ChildFailedError\r\n"
        result = tell(text, "--json")
        assert len(result.json["clues"]) == 2 and len(result.json["clues"][0]["ranks"]) == 8, str(result)
        assert "\x1b" not in tell(text).stdout

    def test_standard_input(self, dcuop_binary, environment):
        done = subprocess.run([str(dcuop_binary), "doctor", "--message", "-"], input="RuntimeError: No HIP GPUs are available\n",
                              env=environment, capture_output=True, encoding="utf-8", check=False)
        assert done.returncode == 1 and "DCU704" in done.stdout

    def test_nothing_that_is_known(self, tell):
        result = tell("step 1\nKeyError: 'learning_rate'\n")
        assert result.rc == 1 and "DCU791" in result.stdout and "KeyError: 'learning_rate'" in result.stdout, str(result)
        assert tell("").rc == 1
        junk = tell(bytes(range(256)) * 4096)
        assert junk.rc == 1 and "no text" in junk.stdout, str(junk)

    def test_a_large_log_takes_bounded_time_and_memory(self, tell, tmp_path):
        head = "RuntimeError: HIP error: invalid device function\n"
        text = head + "2026-01-01 00:00:00,000 INFO step 1 loss 0.12345 and more words to fill the line\n" * 800_000
        result = tell(text + "Error building extension 'x'\n", "--json")
        assert result.json["clues"][0]["rule"] == "DCU702", str(result)
        assert result.json["clues"][1]["line"] == 800_002
        assert any(fact["name"] == "left out" for fact in result.json["facts"])

    def test_chinese_and_rules(self, run, tell):
        assert "消息" in tell("No HIP GPUs are available", "--lang", "zh").stdout
        for rule in ("DCU601", "DCU702", "DCU791"):
            assert run("rule", rule).rc == 0 and run("rule", rule, "--lang", "zh").stdout != run("rule", rule).stdout

    def test_bad_options(self, run, tmp_path):
        assert run("doctor", "--message", tmp_path / "nowhere").rc == 2
        assert run("doctor", "--message", tmp_path).rc == 2
        assert run("doctor", "--message", "").rc == 2
        assert run("doctor", "--message", "-", "--pid", "1").rc == 2
        assert run("doctor", "--pid", "1", "--torch-extensions").rc == 2
        assert run("doctor", "--pid", "1", "--root", "/").rc == 2
        for example in ("--pid 4121", "--message -"):
            assert example in run("doctor", "--help").stdout
