"""The toolchain, Python and torch are in the key by content: a part replaced under its old name and version is a miss.

This machine has one of each, so the compilers here are scripts around the real ones, and the torch is a small tree of
stub libraries. What they stand for is said by each test. For `make full` (DCUOP_FULL=1).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from changed_inputs import full_only
from conftest import PYTHON

pytestmark = full_only
needs_hipcc = pytest.mark.skipif(shutil.which("hipcc") is None, reason="hipcc is not installed")


def build(run, op, *arguments, **kwargs):
    result = run("build", op, "--json", *arguments, **kwargs)
    assert result.rc == 0, str(result)
    return result


def compile_shared(path: Path, code: str, *flags: str) -> None:
    """Replaces the file as a package manager does: by another one under the same name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    subprocess.run(["g++", "-shared", "-fPIC", "-x", "c++", "-", "-o", str(new), *flags], input=code.encode(), check=True)
    new.rename(path)


@pytest.fixture
def compiler_parts(tmp_path):
    """A hipcc whose clang is a program of ours with a shared library, as clang is with libclang-cpp and libLLVM."""
    parts = tmp_path / "toolkit"
    (parts / "bin").mkdir(parents=True)
    compile_shared(parts / "lib/libfakeclang.so", "int version_of_clang = 15;")
    subprocess.run(
        ["g++", "-x", "c++", "-", "-o", str(parts / "bin/clang"), f"-L{parts / 'lib'}", "-Wl,--no-as-needed",
         "-lfakeclang", "-Wl,-rpath,$ORIGIN/../lib"],
        input=b"int main() {}", check=True)
    script = parts / "bin/hipcc"
    script.write_text(
        "#!/bin/sh\n"
        "# helper.sh is read as hipcc reads hipcc.pl\n"
        'here=$(dirname "$0")\n'
        '. "$here/helper.sh"\n'
        'case " $* " in\n'
        '  *" -### "*) exec /usr/bin/hipcc "$@" 2>&1 | sed "s#/usr/lib/llvm-15/bin/clang\\"#$here/clang\\"#" >&2 ;;\n'
        "esac\n"
        'exec /usr/bin/hipcc "$@"\n')
    script.chmod(0o755)
    (parts / "bin/helper.sh").write_text("true\n")
    return parts


@needs_hipcc
class TestHipToolchain:
    def build(self, run, op, parts, **env):
        return build(run, op, "--arch", "gfx906", env={"DCUOP_HIPCC": str(parts / "bin/hipcc"), **env})

    def test_library_of_the_same_version_replaced(self, run, hip_op, compiler_parts):
        self.build(run, hip_op, compiler_parts)
        assert self.build(run, hip_op, compiler_parts).op["status"] == "hit"
        compile_shared(compiler_parts / "lib/libfakeclang.so", "int version_of_clang = 15; int patched = 1;")
        result = self.build(run, hip_op, compiler_parts)
        assert result.op["status"] == "built"
        assert "libfakeclang.so" in result.op["reason"]

    def test_wrapper_replaced(self, run, hip_op, compiler_parts):
        self.build(run, hip_op, compiler_parts)
        script = compiler_parts / "bin/hipcc"
        script.write_text(script.read_text() + "# patched\n")
        assert self.build(run, hip_op, compiler_parts).op["status"] == "built"

    def test_script_of_the_wrapper_replaced(self, run, hip_op, compiler_parts):
        self.build(run, hip_op, compiler_parts)
        (compiler_parts / "bin/helper.sh").write_text("true # patched\n")
        result = self.build(run, hip_op, compiler_parts)
        assert result.op["status"] == "built"
        assert "helper.sh" in result.op["reason"]

    @pytest.mark.parametrize("variable, one, two", [
        ("HIP_CLANG_PATH", "/usr/lib/llvm-15/bin", "/usr/lib/llvm-15/bin/"),
        ("ROCM_PATH", "/usr", "/usr/"),
        ("LD_LIBRARY_PATH", "/nonexistent/a", "/nonexistent/b"),
        ("LIBRARY_PATH", "/nonexistent/a", "/nonexistent/b"),
    ])
    def test_variable_changed(self, run, hip_op, variable, one, two):
        statuses = [build(run, hip_op, "--arch", "gfx906", env={variable: value}).op["status"] for value in (one, two, one)]
        assert statuses == ["built", "built", "hit"]

    def test_new_device_library_on_the_search_path_of_the_toolkit(self, run, hip_op, compiler_parts):
        """A compiler that is touched, or copied with its content, is the same compiler."""
        self.build(run, hip_op, compiler_parts)
        os.utime(compiler_parts / "bin/clang")
        copy = compiler_parts / "lib/copy"
        shutil.copyfile(compiler_parts / "lib/libfakeclang.so", copy)
        copy.rename(compiler_parts / "lib/libfakeclang.so")
        assert self.build(run, hip_op, compiler_parts).op["status"] == "hit"


class TestNative:
    """-march=native is what it came to: the script stands for a machine with another processor."""

    def compiler(self, tmp_path, cpu):
        path = tmp_path / cpu / "c++"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            "#!/bin/bash\n"
            'words=()\nfor word in "$@"; do [ "$word" = -march=native ] && word=-march=' + cpu + '; words+=("$word"); done\n'
            'exec /usr/bin/g++ "${words[@]}"\n')
        path.chmod(0o755)
        return {"CXX": str(path)}

    def test_other_processor(self, run, make_op, tmp_path):
        op = make_op("op", build={"cxx_flags": ["-march=native"]})
        one, two = self.compiler(tmp_path, "x86-64-v2"), self.compiler(tmp_path, "x86-64-v3")
        results = [build(run, op, env=env) for env in (one, two, one)]
        assert [result.op["status"] for result in results] == ["built", "built", "hit"]
        listed = run("key", op, "--json", env=two).json["ops"][0]["components"]
        native = [part for part in listed if part["name"].endswith("native")]
        assert len(native) == 1 and native[0]["value"]


class TestTorch:
    """A torch of stub libraries, found through PYTHONPATH; the op links to it."""

    @pytest.fixture
    def torch(self, tmp_path):
        def make(version, marker, abi_symbol="_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"):
            package = tmp_path / "site/torch"
            (package / "include/ATen").mkdir(parents=True, exist_ok=True)
            (package / "include/torch/csrc/api/include").mkdir(parents=True, exist_ok=True)
            (package / "__init__.py").write_text("")
            (package / "version.py").write_text(f"__version__ = '{version}'\ncuda = None\nhip = None\ngit_version = 'x'\n")
            code = f'extern "C" int {marker}() {{ return 1; }}\nextern "C" void error() __asm__("{abi_symbol}");\nextern "C" void error() {{}}\n'
            for name in ("c10", "torch_cpu", "torch", "torch_python"):
                compile_shared(package / f"lib/lib{name}.so", code, f"-Wl,-soname,lib{name}.so", "-Wl,--build-id")
            return {"PYTHONPATH": str(tmp_path / "site")}

        return make

    @pytest.fixture
    def op(self, make_op):
        return make_op("op", op={"kind": "torch-library", "abi": "torch"})

    def test_other_version_at_the_same_path(self, run, op, torch):
        env = torch("2.1.0", "one")
        build(run, op, env=env)
        assert build(run, op, env=env).op["status"] == "hit"
        result = build(run, op, env=torch("2.2.0", "two"))
        assert result.op["status"] == "built"
        assert "2.1.0" in result.op["reason"] and "2.2.0" in result.op["reason"]

    def test_rebuilt_under_the_same_version_text(self, run, op, torch):
        build(run, op, env=torch("1.13.0a0", "one"))
        assert build(run, op, env=torch("1.13.0a0", "two")).op["status"] == "built"

    def test_other_string_abi(self, run, op, torch):
        build(run, op, env=torch("2.1.0", "one"))
        old = torch("2.1.0", "one", abi_symbol="_ZN3c105ErrorC2ENS_14SourceLocationESs")
        result = build(run, op, env=old)
        assert result.op["status"] == "built"
        assert result.compiled() == ["op.cpp"], "the macro _GLIBCXX_USE_CXX11_ABI reaches the compile"


def test_other_python(run, make_op, tmp_path):
    """The interpreter is a script that says that it is 3.12."""
    op = make_op("op", op={"kind": "pybind"}, sources={"a.cpp": """
        #define PY_SSIZE_T_CLEAN
        #include <Python.h>
        static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "op", nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};
        PyMODINIT_FUNC PyInit_op() { return PyModule_Create(&definition); }
    """})
    other = tmp_path / "python3.12"
    other.write_text(f'#!/bin/sh\n{PYTHON} "$@" | sed "s/cpython-311/cpython-312/g"\n')
    other.chmod(0o755)
    first = build(run, op)
    second = build(run, op, env={"DCUOP_PYTHON": str(other)})
    assert second.op["status"] == "built"
    assert Path(first.op["path"]).name != Path(second.op["path"]).name
    assert build(run, op).op["status"] == "hit"


class TestProfiles:
    def test_profile_named_by_a_flag(self, run, make_op, tmp_path):
        op = make_op("op", sources={"a.cpp": 'extern "C" int value(int x) { return x > 3 ? 1 : 2; }\n'},
                     files={"a.gcda": ""}, build={"cxx_flags": ["-fprofile-use=a.gcda", "-Wno-missing-profile", "-Wno-coverage-mismatch"]})
        build(run, op)
        assert build(run, op).op["status"] == "hit"
        (op / "a.gcda").write_bytes(b"other")
        assert build(run, op).op["status"] == "built"

    def test_response_file_is_expanded(self, run, make_op):
        import ctypes
        op = make_op("op", sources={"a.cpp": 'extern "C" int value() { return X; }\n'}, files={"flags.rsp": "-DX=1\n"},
                     build={"cxx_flags": ["@flags.rsp"]})
        assert ctypes.CDLL(build(run, op).op["path"]).value() == 1
        (op / "flags.rsp").write_text("-DX=2\n")
        assert ctypes.CDLL(build(run, op).op["path"]).value() == 2
