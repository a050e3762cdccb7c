"""Inputs that a depfile does not tell of, or tells of in a way that is easily misread."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import time

import pytest


def build(run, op, *arguments, **kwargs):
    result = run("build", op, "--json", *arguments, **kwargs)
    assert result.rc == 0, str(result)
    return result


def value(result):
    return ctypes.CDLL(result.op["path"]).value()


def test_library_that_shadows_another_kind_of_itself(run, make_op, tmp_path):
    """-lfoo found libfoo.a; a libfoo.so beside it goes before."""
    libraries = tmp_path / "libraries"
    libraries.mkdir()

    def library(number, name):
        source = tmp_path / "foo.cpp"
        source.write_text(f'extern "C" int foo() {{ return {number}; }}\n')
        if name.endswith(".a"):
            subprocess.run(["g++", "-fPIC", "-c", str(source), "-o", str(tmp_path / "foo.o")], check=True)
            subprocess.run(["ar", "rc", str(libraries / name), str(tmp_path / "foo.o")], check=True)
        else:
            subprocess.run(["g++", "-fPIC", "-shared", str(source), "-o", str(libraries / name)], check=True)

    library(1, "libfoo.a")
    op = make_op("op", sources={"a.cpp": 'extern "C" int foo(); extern "C" int value() { return foo(); }\n'},
                 build={"link_flags": [f"-L{libraries}", f"-Wl,-rpath,{libraries}"], "libraries": ["foo"]})
    assert value(build(run, op)) == 1
    library(2, "libfoo.so")
    assert value(build(run, op)) == 2


def test_parent_of_a_linked_source_directory(run, make_op, tmp_path):
    """src is a link: "../common.h" is beside its target, not beside the link."""
    real = tmp_path / "real" / "src"
    real.mkdir(parents=True)
    (real / "a.cpp").write_text('#include "../common.h"\nextern "C" int value() { return VALUE; }\n')
    (tmp_path / "real" / "common.h").write_text("#define VALUE 1\n")
    op = make_op("op", sources={}, files={"common.h": "#define VALUE 100\n"}, build={"sources": ["src/a.cpp"]})
    (op / "src").symlink_to(real)
    assert value(build(run, op)) == 1
    (tmp_path / "real" / "common.h").write_text("#define VALUE 2\n")
    assert value(build(run, op)) == 2


def test_linked_operator_directory(run, make_op, tmp_path):
    op = make_op("op", sources={"a.cpp": '#include "../outside.h"\nextern "C" int value() { return VALUE; }\n'})
    (op.parent / "outside.h").write_text("#define VALUE 1\n")
    link = tmp_path / "elsewhere" / "link"
    link.parent.mkdir()
    link.symlink_to(op)
    (link.parent / "outside.h").write_text("#define VALUE 100\n")
    assert value(build(run, link)) == 1
    (op.parent / "outside.h").write_text("#define VALUE 2\n")
    assert value(build(run, link)) == 2


def test_upward_include_that_an_earlier_directory_could_have(run, make_op):
    op = make_op("op", sources={"a.cpp": '#include "../common/h.h"\nextern "C" int value() { return VALUE; }\n'},
                 files={"b/second/x": "", "b/common/h.h": "#define VALUE 1\n", "a/first/x": ""},
                 build={"include_dirs": ["a/first", "b/second"]})
    assert value(build(run, op)) == 1
    (op / "a/common").mkdir()
    (op / "a/common/h.h").write_text("#define VALUE 2\n")
    assert value(build(run, op)) == 2


def test_has_include_of_a_macro(run, make_op):
    op = make_op("op", sources={"a.cpp": """
        #define OPTIONAL "later.h"
        #if __has_include(OPTIONAL)
        #include OPTIONAL
        #else
        #define VALUE 1
        #endif
        extern "C" int value() { return VALUE; }
    """})
    assert value(build(run, op)) == 1
    (op / "later.h").write_text("#define VALUE 2\n")
    assert value(build(run, op)) == 2


def test_has_include_that_only_asks(run, make_op):
    op = make_op("op", sources={"a.cpp": """
        #if __has_include("optional.h")
        extern "C" int value() { return 2; }
        #else
        extern "C" int value() { return 1; }
        #endif
    """})
    first = build(run, op)
    assert value(first) == 1
    (op / "optional.h").write_text("")
    assert value(build(run, op)) == 2
    (op / "optional.h").unlink()
    assert build(run, op).op["entry"] == first.op["entry"]


def test_date_in_a_system_header(run, make_op):
    op = make_op("op", sources={"a.cpp": '#include <when.h>\nextern "C" const char* value() { return when(); }\n'},
                 files={"system/when.h": '#pragma once\ninline const char* when() { return __TIME__; }\n'},
                 build={"cxx_flags": ["-isystem", "system"]})
    first = build(run, op)
    assert first.op["cached"] is False
    time.sleep(1.1)
    assert build(run, op).op["status"] == "built"


def test_native_flag_behind_a_carrier_is_resolved(run, hip_op):
    if shutil.which("hipcc") is None:
        pytest.skip("hipcc is not installed")
    listed = run("key", hip_op, "--arch", "gfx906", "--json", env={"HIPCC_COMPILE_FLAGS_APPEND": "-Xarch_host -march=native"})
    names = [part["name"] for part in listed.json["ops"][0]["components"]]
    assert "fill.hip native" in names


def test_flags_in_hipccs_environment_are_examined(run, hip_op):
    if shutil.which("hipcc") is None:
        pytest.skip("hipcc is not installed")
    listed = run("key", hip_op, "--arch", "gfx906", "--json", env={"HIPCC_COMPILE_FLAGS_APPEND": "-save-temps=obj"})
    assert any("-save-temps" in reason for reason in listed.json["ops"][0]["uncacheable"])


def test_tool_that_changes_while_it_compiles_is_not_published(run, make_op, tmp_path):
    """The compiler's script replaces itself, as a package upgrade does."""
    op = make_op("op", sources={"a.cpp": 'extern "C" int value() { return 1; }\n'})
    script = tmp_path / "upgraded-c++"
    script.write_text("#!/bin/sh\n"
                      'case " $* " in *" -c -o "*) cp "$0" "$0.new"; echo "# upgraded" >> "$0.new"; mv "$0.new" "$0" ;; esac\n'
                      'exec /usr/bin/g++ "$@"\n')
    script.chmod(0o755)
    result = build(run, op, env={"CXX": str(script)})
    assert result.op["cached"] is False
    assert any("upgraded-c++ changed" in remark for remark in result.op["remarks"]), result.op["remarks"]


def test_uncached_result_outlives_a_prune(run, make_op):
    op = make_op("op", sources={"a.cpp": 'extern "C" int value() { return 1; }\n'}, build={"cxx_flags": ["--param=ggc-min-expand=30"]})
    result = build(run, op)
    assert result.op["cached"] is False
    assert run("cache", "prune").rc == 0
    assert value(result) == 1


def test_forced_build_beside_one_that_fails_builds_itself(run, make_op, dcuop_binary, environment, tmp_path):
    op = make_op("op", sources={"a.cpp": "int broken = nonsense;\n"})
    (tmp_path / "log").mkdir()
    script = tmp_path / "slow-c++"
    script.write_text(f'#!/bin/sh\ncase " $* " in *" -c -o "*) echo x >> {tmp_path}/log/compiles; sleep 1;; esac\nexec /usr/bin/g++ "$@"\n')
    script.chmod(0o755)
    first = subprocess.Popen([str(dcuop_binary), "build", str(op)], env={**environment, "CXX": str(script)},
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (tmp_path / "log/compiles").exists():
        time.sleep(0.02)
    forced = run("build", op, "--force", "--json", env={"CXX": str(script)})
    assert first.wait(timeout=60) == 1
    assert forced.rc == 1
    assert "nonsense" in forced.op["error"]["message"]
    assert len((tmp_path / "log/compiles").read_text().splitlines()) == 2
