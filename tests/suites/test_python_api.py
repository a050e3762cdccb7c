"""python/dcuop: what it asks the program, what it makes of the answers, and the real thing end to end.

The answers of a scripted program stand in where a case cannot be had from the real one at will.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Callable, Dict, Mapping

import pytest

from conftest import ARCH, PYTHON, in_python

MODULE_SOURCE = """
#include <Python.h>
static PyObject* answer(PyObject* self, PyObject* arguments) { return PyLong_FromLong(ANSWER); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "probe", NULL, -1, methods};
PyMODINIT_FUNC PyInit_probe(void) { return PyModule_Create(&definition); }
"""


@pytest.fixture(scope="session")
def include_dir() -> str:
    question = "import sysconfig; print(sysconfig.get_paths()['include'])"
    return subprocess.run([PYTHON, "-c", question], capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def extension(tmp_path: Path, include_dir: str) -> Callable[..., Path]:
    """extension("a", answer=1): a real extension module `probe` in a directory of its own."""

    def compile_extension(directory: str, answer: int = 42, *flags: str) -> Path:
        target = tmp_path / directory / "probe.so"
        target.parent.mkdir(parents=True)
        source = target.with_suffix(".c")
        source.write_text(MODULE_SOURCE)
        subprocess.run(
            ["cc", "-shared", "-fPIC", f"-DANSWER={answer}", f"-I{include_dir}", *flags, "-o", target, source], check=True
        )
        return target

    return compile_extension


@pytest.fixture
def program(tmp_path: Path, environment: Dict[str, str]) -> Callable[..., Path]:
    """program(build=answer, doctor=answer, rc=0): a dcuop that says that. Its calls are logged to calls.log."""

    def script(build: Any, doctor: Any = None, rc: int = 0, stderr: str = "") -> Path:
        for name, answer in (("build", build), ("doctor", doctor)):
            text = answer if isinstance(answer, str) else json.dumps(answer)
            (tmp_path / f"{name}.answer").write_text(text)
        path = tmp_path / "scripted" / "dcuop"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            "#!/bin/sh\n"
            f"printf '%s\\n' \"$*\" >>'{tmp_path}/calls.log'\n"
            f"cat '{tmp_path}'/$1.answer\n"
            f"printf '%s' '{stderr}' >&2\n"
            f"if [ $1 = build ]; then exit {rc}; fi\n"
        )
        path.chmod(0o755)
        environment["DCUOP"] = str(path)
        return path

    return script


def built(path: Path, **changes: Any) -> Dict[str, Any]:
    op = {
        "name": "probe",
        "status": "built",
        "path": str(path),
        "entry": path.parent.name,
        "request": "r",
        "kind": "pybind",
        "abi": "none",
        "module": "probe",
        "reason": "",
        "seconds": 0.1,
        "use_lock": None,
        "units": [],
    }
    return {"schema": 1, "ops": [{**op, **changes}], "seconds": 0.1}


def calls(tmp_path: Path) -> "list[str]":
    return (tmp_path / "calls.log").read_text().splitlines()


def raised(environment: Mapping[str, str], code: str = "dcuop.load_op('/an/op')") -> Dict[str, Any]:
    """What `code` raises, as its type, its bases, its text and its attributes."""
    done = in_python(
        f"""
        import json, dcuop
        try:
            {code}
        except Exception as error:
            findings = [finding._asdict() for finding in getattr(error, "findings", [])]
            facts = dict(vars(error), findings=findings, text=str(error), type=type(error).__name__,
                         name=getattr(error, "name", None), path=getattr(error, "path", None),
                         bases=[base.__name__ for base in type(error).__mro__])
            print(json.dumps(facts, default=str))
        """,
        environment,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout, "nothing was raised"
    return json.loads(done.stdout)


def test_imports_what_the_program_names(tmp_path, environment, program, extension):
    program(built(extension("e1", 7)))
    done = in_python(
        """
        import sys, dcuop
        module = dcuop.load_op("some/op", arch=["gfx906", "gfx90a"], force=True)
        print(module.answer(), module.__name__, "probe" in sys.modules)
        """,
        environment,
        cwd=tmp_path,
    )
    assert done.stdout.split() == ["7", "dcuop._loaded.e1.probe", "False"], done.stderr
    assert calls(tmp_path) == [
        f"build {tmp_path}/some/op --python {PYTHON} --arch gfx906,gfx90a --force --json --quiet",
    ]


def test_asks_every_time_and_imports_once(tmp_path, environment, program, extension):
    program(built(extension("e1")))
    done = in_python(
        "import dcuop; a = dcuop.load_op('x'); b = dcuop.load_op('x'); print(a is b)", environment, cwd=tmp_path
    )
    assert done.stdout.strip() == "True", done.stderr
    assert len(calls(tmp_path)) == 2


def test_two_builds_of_one_op_live_side_by_side(tmp_path, environment, program, extension):
    program(built(extension("e1", 1)))
    (tmp_path / "second.answer").write_text(json.dumps(built(extension("e2", 2))))
    done = in_python(
        """
        import dcuop, os, sys
        first = dcuop.load_op("x")
        os.replace(sys.argv[1] + "/second.answer", sys.argv[1] + "/build.answer")
        second = dcuop.load_op("x")
        print(first.answer(), second.answer())
        """,
        environment,
        tmp_path,
        cwd=tmp_path,
    )
    assert done.stdout.split() == ["1", "2"], done.stderr


def test_threads_get_one_module(tmp_path, environment, program, extension):
    program(built(extension("e1")))
    done = in_python(
        """
        import dcuop, concurrent.futures
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            modules = list(pool.map(lambda _: dcuop.load_op("x"), range(16)))
        print(len(modules), len({id(module) for module in modules}))
        """,
        environment,
        cwd=tmp_path,
    )
    assert done.stdout.split() == ["16", "1"], done.stderr


@pytest.mark.parametrize("there_already", [True, False])
def test_holds_a_shared_lock_at_the_offset(tmp_path, environment, program, extension, there_already):
    lock_file = tmp_path / "use.lock"
    if there_already:
        lock_file.touch()
    offset = 2**61 + 12345
    program(built(extension("e1"), use_lock={"file": str(lock_file), "offset": offset}))
    done = in_python(
        """
        import dcuop, fcntl, os, struct, sys
        def held(offset):
            with open(sys.argv[1], "a+b") as file:
                request = struct.pack("@hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, offset, 1, 0)
                answer = fcntl.fcntl(file, 36, request)  # F_OFD_GETLK
            return struct.unpack("@hhqqi0q", answer)[0] == fcntl.F_RDLCK
        offset = int(sys.argv[2])
        before = os.path.exists(sys.argv[1]) and held(offset)
        dcuop.load_op("x")
        # The classic lock would have gone with the close() inside held().
        print(before, held(offset), held(offset), held(offset + 1), held(offset - 1))
        """,
        environment,
        lock_file,
        offset,
        cwd=tmp_path,
    )
    assert done.stdout.split() == ["False", "True", "True", "False", "False"], done.stderr


def test_a_failed_import_gives_the_lock_back(tmp_path, environment, program, extension):
    lock_file = tmp_path / "use.lock"
    path = extension("e1", 1, "-Wl,-z,now", "-DPyLong_FromLong=no_such_function")
    program(built(path, use_lock={"file": str(lock_file), "offset": 7}), "no report")
    done = in_python(
        """
        import dcuop, os, sys
        for _ in range(3):
            try:
                dcuop.load_op("x")
            except dcuop.OpLoadError:
                pass
        links = [os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd") if
                 os.path.islink(f"/proc/self/fd/{name}")]
        print(os.path.exists(sys.argv[1]), links.count(sys.argv[1]))
        """,
        environment,
        lock_file,
        cwd=tmp_path,
    )
    assert done.stdout.split() == ["True", "0"], done.stdout + done.stderr


def test_a_result_that_vanishes_is_asked_for_again(tmp_path, environment, program):
    program(built(tmp_path / "gone" / "probe.so"))
    error = raised(environment)
    assert error["type"] == "DcuopError"
    assert "vanished 3 times" in error["text"]
    assert len(calls(tmp_path)) == 3


def test_cache_dir_reaches_the_program(tmp_path, environment, program, extension):
    path = program(built(extension("e1")))
    path.write_text(path.read_text().replace("#!/bin/sh\n", f"#!/bin/sh\necho $DCUOP_CACHE_DIR >'{tmp_path}/dir'\n"))
    done = in_python("import dcuop; dcuop.load_op('x', cache_dir='/some/cache')", environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "dir").read_text() == "/some/cache\n"


@pytest.mark.parametrize(
    "code, expected",
    [
        (1, "BuildError"),
        (2, "UsageProblem"),
        (3, "EnvironmentProblem"),
        (4, "LockTimeoutError"),
        (5, "BuildForbiddenError"),
        (9, "DcuopError"),
    ],
)
def test_exit_codes_become_types(environment, program, code, expected):
    program({"schema": 1, "error": {"message": "what and where", "hint": "do this", "exit_code": code}}, rc=code)
    error = raised(environment)
    assert (error["type"], error["message"], error["hint"], error["exit_code"]) == (
        expected,
        "what and where",
        "do this",
        code,
    )
    assert error["text"] == "what and where\ndo this"
    assert {"DcuopError", "RuntimeError"} <= set(error["bases"])


def test_an_ops_error_brings_its_log(environment, program):
    answer = built(Path("/none"), status="failed")
    answer["ops"][0]["error"] = {"message": "op.cpp:1:1: error", "hint": "", "exit_code": 1, "log": "/f/build.log"}
    program(answer, rc=1)
    error = raised(environment)
    assert (error["type"], error["text"], error["log"]) == ("BuildError", "op.cpp:1:1: error\ncommand and full log: /f/build.log", "/f/build.log")


def test_no_json_is_said_with_stderr(environment, program):
    program("", rc=1, stderr="Segmentation something")
    error = raised(environment)
    assert error["type"] == "DcuopError"
    assert "exit code 1 and gave no JSON:\nSegmentation something" in error["text"]


def test_another_schema_is_refused(environment, program):
    program({"schema": 2, "ops": []})
    assert "schema 2, and this dcuop package reads schema 1" in raised(environment)["text"]


@pytest.mark.parametrize(
    "call, message",
    [
        ("3", "load_op: path must be a str or a path, not int"),
        ("b'x'", "load_op: path must be a str or a path, not bytes"),
        ("None", "load_op: path must be a str or a path, not NoneType"),
        ("'x', arch=3", "load_op: arch must be a str, a sequence of str or None, not int"),
        ("'x', arch=b'gfx906'", "load_op: arch must be a str, a sequence of str or None, not bytes"),
        ("'x', arch=['gfx906', 3]", "load_op: an element of arch must be a str, not int"),
        ("'x', cache_dir=3", "load_op: cache_dir must be a str, a path or None, not int"),
        ("'x', force='no'", "load_op: force must be a bool, not str"),
        ("'x', verbose=2", "load_op: verbose must be a bool, not int"),
    ],
)
def test_wrong_types_name_the_parameter(environment, program, tmp_path, call, message):
    program({"schema": 1, "ops": []})
    done = in_python(f"import dcuop; dcuop.load_op({call})", environment)
    assert done.stderr.splitlines()[-1] == f"TypeError: {message}"
    assert not (tmp_path / "calls.log").exists(), "the program was asked"


@pytest.mark.parametrize("named", ["/no/such/dcuop", "/etc/passwd"])
def test_a_wrong_DCUOP_is_said(environment, named):
    error = raised({**environment, "DCUOP": named})
    assert error["type"] == "ProgramNotFoundError"
    assert error["message"] == f"DCUOP names {named}, which is no executable file"


def test_no_program_says_where_it_looked(environment):
    error = raised(environment)
    assert error["type"] == "ProgramNotFoundError"
    assert "looked at $DCUOP" in error["text"] and "make build" in error["text"]


DOCTOR = {
    "verdict": "does_not_load",
    "headline": "does not load: it was built for another PyTorch",
    "findings": [
        {
            "rule": "DCU210",
            "severity": "error",
            "cause": "libc10.so of torch 2.4 offers f with other parameters",
            "subject": "probe.so",
            "evidence": [{"label": "wanted by", "text": "probe.so"}],
            "fix": "dcuop build probe",
        },
        {"rule": "DCU900", "severity": "note", "cause": "no device", "subject": "", "evidence": [], "fix": ""},
    ],
}


def test_a_failed_import_carries_the_doctors_findings(tmp_path, environment, program, extension):
    path = extension("e1", 1, "-Wl,-z,now", "-DPyLong_FromLong=no_such_function")
    program(built(path), DOCTOR)
    error = raised(environment)
    assert error["type"] == "OpLoadError" and "ImportError" in error["bases"]
    assert error["text"] == (
        "probe does not load: it was built for another PyTorch [DCU210].\n"
        "libc10.so of torch 2.4 offers f with other parameters.\n"
        f"Fix: dcuop build probe    ·  more: dcuop doctor {path}"
    )
    assert [finding["rule"] for finding in error["findings"]] == ["DCU210", "DCU900"]
    assert error["findings"][0]["evidence"] == [["wanted by", "probe.so"]]
    assert error["path"] == str(path) and error["name"] == "probe"
    assert calls(tmp_path)[-1] == f"doctor --json --python {PYTHON} {path}"


@pytest.mark.parametrize("doctor", ["no json", {"verdict": "loads", "headline": "loads", "findings": []}])
def test_without_a_finding_the_loaders_words_stand(environment, program, extension, doctor):
    program(built(extension("e1", 1, "-Wl,-z,now", "-DPyLong_FromLong=no_such_function")), doctor)
    text = raised(environment)["text"]
    assert text.startswith("probe does not load: ") and "undefined symbol: no_such_function" in text


def test_another_modules_init_is_an_import_error(environment, program, extension):
    program(built(extension("e1"), module="other"), DOCTOR)
    assert raised(environment)["type"] == "OpLoadError"


# With the real program ---------------------------------------------------------------------------------------


@pytest.fixture
def real(environment: Dict[str, str], dcuop_binary: Path) -> Dict[str, str]:
    return {**environment, "DCUOP": str(dcuop_binary)}


def test_builds_and_loads_a_plain_op(real, hip_op):
    done = in_python(
        """
        import sys, dcuop
        library = dcuop.load_op(sys.argv[1], arch=sys.argv[2])
        print(library.scaled(14), library is dcuop.load_op(sys.argv[1], arch=sys.argv[2]))
        """,
        real,
        hip_op,
        ARCH,
    )
    assert done.stdout.split() == ["42", "True"], done.stderr


def test_an_edit_is_another_library_in_the_same_process(real, make_op):
    op = make_op("scale")
    done = in_python(
        """
        import sys, dcuop, pathlib
        op = pathlib.Path(sys.argv[1])
        first = dcuop.load_op(op)
        source = op / "op.cpp"
        source.write_text(source.read_text().replace("x * 3", "x * 5"))
        print(first.scaled(2), dcuop.load_op(op).scaled(2), first.scaled(2))
        """,
        real,
        op,
    )
    assert done.stdout.split() == ["6", "10", "6"], done.stderr


def test_a_loaded_entry_survives_clean(real, run, make_op, cache_dir):
    op = make_op("scale")
    done = in_python(
        """
        import os, subprocess, sys, dcuop
        dcuop.load_op(sys.argv[1])
        subprocess.run([os.environ["DCUOP"], "clean", "--all", "--yes"], check=False)
        """,
        real,
        op,
    )
    assert done.returncode == 0, done.stderr
    hit = run("build", "--json", op)
    assert hit.op["status"] == "hit", hit
    assert run("clean", "--all", "--yes").rc == 0
    assert run("build", "--json", op).op["status"] == "built"


def test_a_source_that_does_not_compile_is_a_build_error(real, make_op):
    op = make_op("broken", sources={"op.cpp": "int f( {\n"})
    error = raised(real, f"dcuop.load_op({str(op)!r})")
    assert error["type"] == "BuildError"
    assert "op.cpp:1" in error["message"]
    assert os.path.isfile(error["log"])


def test_build_never_is_its_own_error(real, make_op):
    error = raised({**real, "DCUOP_BUILD": "never"}, f"dcuop.load_op({str(make_op())!r})")
    assert (error["type"], error["exit_code"]) == ("BuildForbiddenError", 5)


def test_a_missing_library_is_explained(real, make_op):
    """It links against a library that lies beside the op when it is built, and is gone when it is loaded."""
    op = make_op("needy", sources={"op.cpp": 'extern "C" int helper(); extern "C" int f() { return helper(); }'})
    library = op / "libhelper.so"
    subprocess.run(
        ["c++", "-shared", "-fPIC", "-x", "c++", "-", "-o", library, "-Wl,-soname,libhelper.so"],
        input='extern "C" int helper() { return 1; }',
        text=True,
        check=True,
    )
    manifest = op / "dcuop.toml"
    manifest.write_text(manifest.read_text() + f'link_flags = ["-L{op}"]\nlibraries = ["helper"]\n')
    error = raised(real, f"dcuop.load_op({str(op)!r})")
    assert error["type"] == "OpLoadError", error
    assert "libhelper.so" in error["text"] and "Fix:" in error["text"]
    assert any("libhelper.so" in finding["cause"] for finding in error["findings"])
