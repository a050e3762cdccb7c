"""dcuop.load and load_inline: what torch's loader promises, on real compilers and the real torch.

Most modules here are written against Python's C API: they link torch as every extension does and read none of its
headers, which take ten seconds.
"""

from __future__ import annotations

import json
import os
import subprocess
import textwrap
from pathlib import Path
from typing import Any, Callable, Dict

import pytest
from conftest import ARCH, CXX_SOURCE, HIP_SOURCE, PYTHON, in_python

MODULE = """
    #include <Python.h>
    #define JOINED(a, b) a##b
    #define INIT(name) JOINED(PyInit_, name)
    #define TEXT_(name) #name
    #define TEXT(name) TEXT_(name)
    #ifndef VALUE
    #define VALUE %d
    #endif
    static PyObject* value(PyObject*, PyObject*) { return PyLong_FromLong(VALUE); }
    static PyMethodDef methods[] = {{"value", value, METH_NOARGS, ""}, {nullptr, nullptr, 0, nullptr}};
    static PyModuleDef definition = {PyModuleDef_HEAD_INIT, TEXT(TORCH_EXTENSION_NAME), nullptr, -1, methods,
                                     nullptr, nullptr, nullptr, nullptr};
    PyMODINIT_FUNC INIT(TORCH_EXTENSION_NAME)(void) { return PyModule_Create(&definition); }
"""


full = pytest.mark.skipif("DCUOP_FULL" not in os.environ, reason="make full runs it (DCUOP_FULL=1)")


def module_source(value: int = 1) -> str:
    return textwrap.dedent(MODULE % value)


@pytest.fixture
def real(environment: Dict[str, str], dcuop_binary: Path) -> Dict[str, str]:
    # The interpreter hands its facts over: what the program would find by itself must not matter.
    return {**environment, "DCUOP": str(dcuop_binary), "DCUOP_PYTHON": "/nonexistent/python3"}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "src" / "ext.cpp"
    path.parent.mkdir()
    path.write_text(module_source())
    return path


def printer(run: Callable[..., Any], real: Dict[str, str], cwd: Path) -> Callable[..., str]:
    """What the code prints; it has to succeed. `dcuop`, `os` and `sys` are there."""

    def printed(code: str, *arguments: object, env: Dict[str, str] = {}) -> str:
        text = "import json, os, sys, dcuop\n" + textwrap.dedent(code)
        done = run(text, {**real, **env}, *arguments, cwd=cwd)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return printed


@pytest.fixture
def python(in_torch: Callable[..., Any], real: Dict[str, str], tmp_path: Path) -> Callable[..., str]:
    """python("print(1)", arguments...): what that prints in a Python that has torch."""
    return printer(in_torch, real, tmp_path)


@pytest.fixture
def fresh_python(real: Dict[str, str], tmp_path: Path) -> Callable[..., str]:
    """The same in a Python of its own, which imports torch when it is asked to."""
    return printer(in_python, real, tmp_path)


def raised(python: Callable[..., str], call: str, env: Dict[str, str] = {}) -> Dict[str, Any]:
    answer = python(
        f"""
        try:
            {call}
        except Exception as error:
            findings = [finding.rule for finding in getattr(error, "findings", [])]
            print(json.dumps(dict(type=type(error).__name__, text=str(error), findings=findings,
                                  is_import_error=isinstance(error, ImportError),
                                  is_runtime_error=isinstance(error, RuntimeError),
                                  log=str(getattr(error, "log", "")), hint=getattr(error, "hint", ""))))
        """,
        env=env,
    )
    assert answer, "nothing was raised"
    return json.loads(answer)


# torch's parameters and rules -------------------------------------------------------------------------------------


def test_every_parameter_of_the_installed_torch_is_known(python):
    unknown = python(
        """
        import inspect
        from torch.utils import cpp_extension
        for name in ("load", "load_inline"):
            theirs = inspect.signature(getattr(cpp_extension, name)).parameters
            ours = inspect.signature(getattr(dcuop, name)).parameters
            print([p for p in theirs if p not in ours],
                  [p for p in theirs if p in ours and theirs[p].default != ours[p].default])
        """
    )
    assert unknown.splitlines() == ["[] []", "[] []"]


def test_gil_not_used_reaches_the_modules_definition(python):
    """Only torch from 2.15 on has the parameter, with a pybind11 that has the option (since 2.13)."""
    texts = python(
        """
        from dcuop._torch_loader import extension_of_load_inline
        for given in ({}, {"gil_not_used": False}, {"gil_not_used": True}):
            given = {"name": "ext", "cpp_sources": "", "functions": ["f"], **given}
            print("TORCH_EXTENSION_NAME, m, pybind11::mod_gil_not_used()) {" in
                  extension_of_load_inline(given, "here").files["main.cpp"])
        """
    )
    assert texts.split() == ["False", "False", "True"]


def test_loads_a_module_and_the_next_process_hits(fresh_python, source):
    code = "m = dcuop.load('ext', [sys.argv[1]]); print(m.value(), m.__name__, os.path.isfile(m.__file__))"
    assert fresh_python(code, source) == "1 ext True"
    assert fresh_python(code, source, env={"DCUOP_BUILD": "never"}) == "1 ext True"


def test_sources_may_be_one_path_relative_to_the_working_directory(python, source):
    assert python("import pathlib; print(dcuop.load('ext', pathlib.Path('src/ext.cpp')).value())") == "1"


def test_a_hit_starts_no_process(python, source, real, tmp_path):
    wrapper = tmp_path / "dcuop-teed"
    wrapper.write_text(f'#!/bin/sh\n"{real["DCUOP"]}" "$@" | tee "{tmp_path}/answer.json"\n')
    wrapper.chmod(0o755)
    code = "dcuop.load('ext', [sys.argv[1]])"
    python(code, source)
    python(code, source, env={"DCUOP": str(wrapper)})
    answer = json.loads((tmp_path / "answer.json").read_text())
    assert (answer["ops"][0]["status"], answer["processes_started"]) == ("hit", 0)


def test_changed_sources_give_another_module_and_both_work(python, source):
    assert (
        python(
            """
            import pathlib
            source = pathlib.Path(sys.argv[1])
            first = dcuop.load("ext", [source])
            again = dcuop.load("ext", [source])
            source.write_text(source.read_text().replace("VALUE 1", "VALUE 2"))
            second = dcuop.load("ext", [source])
            print(first.value(), second.value(), first.value(), again is first, second is first)
            """,
            source,
        )
        == "1 2 1 True False"
    )


def test_two_extensions_of_one_name_are_two_modules(python, source, tmp_path):
    other = tmp_path / "other.cpp"
    other.write_text(module_source(9))
    code = "a = dcuop.load('ext', [sys.argv[1]]); b = dcuop.load('ext', [sys.argv[2]]); print(a.value(), b.value())"
    assert python(code, source, other) == "1 9"


def test_threads_share_one_module(python, source):
    assert (
        python(
            """
            import concurrent.futures
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                modules = list(pool.map(lambda _: dcuop.load("ext", [sys.argv[1]]), range(8)))
            print(len(set(map(id, modules))), modules[0].value())
            """,
            source,
        )
        == "1 1"
    )


def test_forked_children_load_while_a_thread_of_the_parent_does(python, source):
    assert (
        python(
            """
            import threading
            stop = threading.Event()
            def busy():
                while not stop.is_set():
                    dcuop.load("ext", [sys.argv[1]])
            dcuop.load("ext", [sys.argv[1]])
            thread = threading.Thread(target=busy)
            thread.start()
            statuses = []
            for _ in range(5):
                child = os.fork()
                if child == 0:
                    os._exit(10 + dcuop.load("ext", [sys.argv[1]]).value())
                statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            stop.set()
            thread.join()
            print(statuses)
            """,
            source,
        )
        == "[11, 11, 11, 11, 11]"
    )


def test_spawned_workers_get_what_is_pickled_by_name(python, source, tmp_path):
    script = tmp_path / "main.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import multiprocessing, dcuop
            ext = dcuop.load("ext", [{str(source)!r}])
            def call(function):
                return function()
            if __name__ == "__main__":
                with multiprocessing.get_context("spawn").Pool(2) as pool:
                    print(pool.map(call, [ext.value] * 3))
            """
        )
    )
    assert python(f"import subprocess; subprocess.run([sys.executable, {str(script)!r}], check=True)") == "[1, 1, 1]"


def test_a_name_that_is_another_modules_is_left_alone(python, source, tmp_path):
    (tmp_path / "taken.py").write_text("value = 'of the package'\n")
    assert (
        python(
            """
            sys.path.insert(0, os.getcwd())
            first = dcuop.load("taken", [sys.argv[1]])
            import taken, json
            second = dcuop.load("json", [sys.argv[1]])
            print(first.value(), taken.value, second.value(), sys.modules["json"] is json)
            """,
            source,
        )
        == "1 of the package 1 True"
    )


def test_a_directory_of_that_name_is_no_module(python, tmp_path):
    """exllama's loader: the sources of exllama_ext are in exllama_ext/, which Python would import as a package."""
    (tmp_path / "ext").mkdir()
    (tmp_path / "ext/ext.cpp").write_text(module_source(7))
    assert python("dcuop.load('ext', 'ext/ext.cpp')\nfrom ext import value; print(value())") == "7"


def test_its_own_copy_in_a_build_directory_on_the_path_is_no_other_module(python, source):
    code = f"""
        module = dcuop.load("ext", [{str(source)!r}], build_directory=".")
        import ext
        print(ext is module)
    """
    assert [python(code), python(code)] == ["True", "True"]


def test_a_removed_working_directory_is_no_hindrance(python, source, tmp_path):
    (tmp_path / "gone").mkdir()
    code = f"import torch; os.chdir('gone'); os.rmdir('../gone'); print(dcuop.load('ext', {{{str(source)!r}}}).value())"
    assert python(code) == "1"


def test_a_library_registers_its_operators(python, tmp_path):
    source = tmp_path / "library.cpp"
    source.write_text(
        "#include <ATen/core/Tensor.h>\n#include <torch/library.h>\n"
        "static at::Tensor twice(const at::Tensor& x) { return x.mul(2); }\n"
        'TORCH_LIBRARY(dcuop_suite, m) { m.def("twice", twice); }\n'
    )
    code = """
        import torch
        print(dcuop.load("a-library", [sys.argv[1]], is_python_module=False, extra_cflags=["-O0"]))
        print(torch.ops.dcuop_suite.twice(torch.ones(1)))
    """
    assert python(code, source) == "None\ntensor([2.])"


def test_a_program_is_built_and_its_path_returned(python, tmp_path):
    source = tmp_path / "main.cpp"
    source.write_text("int main(int argc, char**) { return 40 + argc; }\n")
    code = """
        import subprocess
        path = dcuop.load("tool", [sys.argv[1]], is_python_module=False, is_standalone=True)
        print(subprocess.run([path, "x"]).returncode, os.path.basename(path))
        path = dcuop.load("tool", [sys.argv[1]], is_python_module=False, is_standalone=True, build_directory="out")
        print(subprocess.run([path]).returncode, os.path.relpath(path))
    """
    assert python(code, source) == "42 tool\n41 out/tool"


def test_a_module_cannot_be_a_program(python, source):
    error = raised(python, f"dcuop.load('ext', [{str(source)!r}], is_standalone=True)")
    assert error["type"] == "ValueError"


def test_build_directory_gets_a_copy_that_follows(python, source, tmp_path):
    code = """
        import importlib.util
        module = dcuop.load("ext", [sys.argv[1]], build_directory="made/here")
        spec = importlib.util.spec_from_file_location("ext", "made/here/ext.so")
        copy = importlib.util.module_from_spec(spec); spec.loader.exec_module(copy)
        print(module.value(), copy.value(), os.listdir("made/here"))
    """
    assert python(code, source) == "1 1 ['ext.so']"
    source.write_text(module_source(2))
    assert python(code, source) == "2 2 ['ext.so']"
    (tmp_path / "file").write_text("")
    error = raised(python, f"dcuop.load('ext', [{str(source)!r}], build_directory='file/x')")
    assert "cannot be copied to build_directory" in error["text"]


def test_flags_are_words_of_a_shell(python, source):
    code = """
        print(dcuop.load("ext", [sys.argv[1]], extra_cflags=["-O1 -g0", "-DVALUE='(3 + 4)'"]).value())
    """
    assert python(code, source) == "7"
    error = raised(python, f"dcuop.load('ext', [{str(source)!r}], extra_cflags=[\"-DX='\"])")
    assert error["type"] == "UsageProblem" and "quot" in error["text"].lower()


def test_libraries_stand_behind_the_objects_that_need_them(python, tmp_path):
    source = tmp_path / "ext.cpp"
    source.write_text('extern "C" int helper();\n' + module_source().replace("VALUE 1", "VALUE helper()"))
    (tmp_path / "helper.c").write_text("int helper(void) { return 5; }\n")
    subprocess.run(["cc", "-c", "-fPIC", "helper.c"], cwd=tmp_path, check=True)
    subprocess.run(["ar", "rc", "libhelper.a", "helper.o"], cwd=tmp_path, check=True)
    code = "print(dcuop.load('ext', [sys.argv[1]], extra_ldflags=['-L' + os.getcwd() + ' -lhelper']).value())"
    assert python(code, source) == "5"


def test_a_header_edit_is_seen(python, source, tmp_path):
    include = tmp_path / "include"
    include.mkdir()
    (include / "value.h").write_text("#define VALUE 6\n")
    source.write_text('#include "value.h"\n' + module_source())
    code = "print(dcuop.load('ext', [sys.argv[1]], extra_include_paths=['include']).value())"
    assert python(code, source) == "6"
    (include / "value.h").write_text("#define VALUE 8\n")
    assert python(code, source) == "8"


def test_sources_of_far_apart_directories(python, source, tmp_path):
    other = Path("/var/tmp") / f"dcuop-suite-{os.getpid()}.cpp"
    other.write_text("int elsewhere() { return 4; }\n")
    try:
        source.write_text("int elsewhere();\n" + module_source().replace("VALUE 1", "VALUE elsewhere()"))
        code = "print(dcuop.load('ext', sys.argv[1:]).value())"
        assert python(code, source, other) == "4"
        assert python(code, source, other, env={"DCUOP_BUILD": "never"}) == "4"
    finally:
        other.unlink()


def test_device_code_is_built_for_the_archs_that_the_flags_name(python, tmp_path, run):
    (tmp_path / "fill.hip").write_text(textwrap.dedent(HIP_SOURCE))
    path = python(
        f"""
        dcuop.load("fill", ["fill.hip"], is_python_module=False, allow_cpu_torch=True, build_directory="out",
                   extra_cuda_cflags=["--offload-arch={ARCH} -O1"])
        """
    )
    assert path == ""
    targets = run("inspect", "--json", tmp_path / "out/fill.so").stdout
    assert ARCH in targets and "gfx90a" not in targets


# load_inline --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_short", [True, pytest.param(False, marks=full)])
def test_the_documented_inline_example(python, tmp_path, is_short):
    """https://pytorch.org/docs/stable/cpp_extension.html#torch.utils.cpp_extension.load_inline"""
    # torch's whole <torch/extension.h> takes twenty seconds: in its place, what the example needs of it but for "+".
    header = tmp_path / "short" / "torch" / "extension.h"
    header.parent.mkdir(parents=True)
    needed = ("ATen/core/Tensor.h", "torch/csrc/Exceptions.h", "torch/csrc/utils/pybind.h")
    header.write_text("".join(f"#include <{name}>\n" for name in needed))
    code = r"""
        import torch
        source = "at::Tensor sin_add(at::Tensor x, at::Tensor y) { return " + sys.argv[1] + "; }"
        module = dcuop.load_inline(name="inline_extension", cpp_sources=[source], extra_cflags=["-O0"],
                                   extra_include_paths=sys.argv[2:],
                                   functions={"sin_add": 'says "\u00e4?" \\ and\nmore'})
        x = torch.ones(2)
        print(torch.equal(module.sin_add(x, x), x.sin() * 2), 'says "\u00e4?" \\ and\nmore' in module.sin_add.__doc__)
    """
    given = ["x.sin().add(y.sin())", tmp_path / "short"] if is_short else ["x.sin() + y.sin()"]
    assert python(code, *given) == "True True"
    assert python(code, *given, env={"DCUOP_BUILD": "never"}) == "True True"


def test_inline_text_is_kept_with_its_entry(python, run, real, cache_dir):
    code = f"""
        print(dcuop.load_inline("ext", {module_source(3)!r}, no_implicit_headers=True).value())
        print(dcuop.load_inline("ext", {module_source(4)!r}, no_implicit_headers=True).value())
    """
    assert python(code) == "3\n4"
    assert len(list((cache_dir / "v1/inline").glob("*/main.cpp"))) == 2
    listed = run("list", "--json", env={"DCUOP_PYTHON": PYTHON}).json
    assert [entry["state"] for entry in listed["entries"]] == ["current", "current"]
    assert run("clean", "--stale", "--yes", env={"DCUOP_PYTHON": PYTHON}).rc == 0
    assert python(code, env={"DCUOP_BUILD": "never"}) == "3\n4"
    assert run("clean", "--all", "--yes").rc == 0
    assert list((cache_dir / "v1/inline").glob("*")) == []


def test_loads_that_differ_in_flags_are_all_current(python, source, run):
    """One directory and one name: of each the cache knows what it was asked for."""
    env = {"DCUOP_PYTHON": PYTHON}
    for value in (5, 6):
        assert python(f"print(dcuop.load('ext', [sys.argv[1]], extra_cflags=['-DVALUE={value}']).value())", source) == str(value)
    assert [entry["state"] for entry in run("list", "--json", env=env).json["entries"]] == ["current", "current"]
    source.write_text(source.read_text() + "\n// edited\n")
    assert [entry["state"] for entry in run("list", "--json", env=env).json["entries"]] == ["stale", "stale"]
    assert python("print(dcuop.load('ext', [sys.argv[1]], extra_cflags=['-DVALUE=5']).value())", source) == "5"
    states = [entry["state"] for entry in run("list", "--json", env=env).json["entries"]]
    assert sorted(states) == ["current", "stale", "stale"]


# Failures -----------------------------------------------------------------------------------------------------------


def test_a_failed_build_says_the_first_error_and_where_the_log_is(python, source):
    source.write_text("int f() { return missing; }\n" * 3)
    error = raised(python, f"dcuop.load('ext', [{str(source)!r}])")
    assert (error["type"], error["is_runtime_error"]) == ("BuildError", True)
    assert f"{source}:1:18: error: 'missing' was not declared" in error["text"].replace("‘", "'").replace("’", "'")
    assert "ninja" not in error["text"] and len(error["text"].splitlines()) < 12
    assert "missing" in Path(error["log"]).read_text()


def test_a_failed_import_says_the_doctors_sentence(python, source):
    source.write_text("int helper(int);\n" + module_source().replace("VALUE 1", "VALUE helper(1)"))
    error = raised(python, f"dcuop.load('ext', [{str(source)!r}])")
    assert (error["type"], error["is_import_error"]) == ("OpLoadError", True)
    assert "helper(int)" in error["text"] and "Fix: " in error["text"] and error["findings"]


def test_never_names_the_command_that_builds(python, source, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(f"import dcuop\ndcuop.load('ext', [{str(source)!r}])\n")
    error = raised(python, "exec(compile(open('train.py').read(), os.path.abspath('train.py'), 'exec'))", {"DCUOP_BUILD": "never"})
    assert error["type"] == "BuildForbiddenError"
    assert f"dcuop build --from {script}" in error["hint"] and "ext" in error["text"]


@pytest.mark.parametrize("variable", ["RANK", "SLURM_PROCID", "LOCAL_RANK"])
def test_of_many_ranks_one_speaks(in_torch, real, source, tmp_path, variable):
    code = "import sys, dcuop; dcuop.load('ext', [sys.argv[1]], verbose=True)"
    silent = in_torch(code, {**real, variable: "1"}, source, cwd=tmp_path)
    assert (silent.returncode, silent.stderr) == (0, "")
    spoken = in_torch(code, {**real, variable: "0"}, source, cwd=tmp_path)
    assert "torch" in spoken.stderr
    source.write_text("int f() { return missing; }\nint g() { return absent; }\n")
    brief = in_torch(code, {**real, variable: "1"}, source, cwd=tmp_path)
    full = in_torch(code, {**real, variable: "0"}, source, cwd=tmp_path)
    assert "Rank 0 says more" in brief.stderr and "return missing" not in brief.stderr.split("BuildError")[-1]
    assert "return missing" in full.stderr.split("BuildError")[-1]


# Bad input ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        ("dcuop.load(3, ['ext.cpp'])", "TypeError", "name must be a str"),
        ("dcuop.load('ext', 3)", "TypeError", "sources must be"),
        ("dcuop.load('ext', [b'ext.cpp'])", "TypeError", "sources must be"),
        ("dcuop.load('ext', [])", "UsageProblem", "ext has no sources"),
        ("dcuop.load('ext', ['absent.cpp'])", "UsageProblem", "absent.cpp of ext is no file"),
        ("dcuop.load('my-ext', ['ext.cpp'])", "UsageProblem", "cannot be the name of a module"),
        ("dcuop.load('ext', ['ext.cpp'], extra_cflags=3)", "TypeError", "extra_cflags must be"),
        ("dcuop.load('ext', ['ext.cpp'], extra_ldflags=[3])", "TypeError", "extra_ldflags must be"),
        ("dcuop.load('ext', ['ext.cpp'], arch=3)", "TypeError", "arch must be"),
        ("dcuop.load('ext', ['ext.cpp'], arch='gfx906', cache_dir=3)", "TypeError", "cache_dir must be"),
        ("dcuop.load('ext', ['ext.cpp'], with_sycl=True)", "ForTorchAlone", "SYCL"),
        ("dcuop.load('ext', ['op.hip'], arch='gfx906')", "EnvironmentProblem", "has device code, and torch"),
        ("dcuop.load('ext', ['op.hip'], arch='gxf906', allow_cpu_torch=True)", "UsageProblem", "'gxf906'"),
        ("dcuop.load('ext', ['ext.txt'])", "UsageProblem", "extension that names no language"),
        ("dcuop.load('ext', ['ext.cpp'], extra_cflags=['-fplugin=x.so'])", "UsageProblem", "loads code"),
        ("dcuop.load_inline('ext', 3)", "TypeError", "cpp_sources must be"),
        (r"dcuop.load_inline('ext', '// \udcff')", "UsageProblem", "is no UTF-8 text"),
        ("dcuop.load_inline('ext', '', functions=3)", "ValueError", "functions"),
        ("dcuop.load('ext', ['ext.cpp'], nonsense=1)", "TypeError", "nonsense"),
    ],
)
def test_bad_input_is_one_clear_error(python, tmp_path, call, kind, text):
    (tmp_path / "ext.cpp").write_text(module_source())
    (tmp_path / "ext.txt").write_text("")
    (tmp_path / "op.hip").write_text(textwrap.dedent(HIP_SOURCE))
    error = raised(python, call)
    assert (error["type"], text in error["text"]) == (kind, True), error


def test_a_missing_torch_is_said(fresh_python, source):
    error = raised(fresh_python, f"sys.modules['torch'] = None; dcuop.load('ext', [{str(source)!r}])")
    assert error["type"] == "EnvironmentProblem" and "torch cannot be imported" in error["text"]


def test_a_library_without_a_module_is_refused_by_load(python, tmp_path):
    (tmp_path / "plain.cpp").write_text(textwrap.dedent(CXX_SOURCE))
    error = raised(python, "dcuop.load('ext', ['plain.cpp'])")
    assert "PyInit_ext" in error["text"]
