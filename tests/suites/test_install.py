"""What routes existing code through dcuop: install, python -m dcuop run, build_ext, dcuop build --from FILE."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Callable, Dict

import pytest
from conftest import CXX_SOURCE, PYTHON, ROOT, in_python
from test_torch_loader import fresh_python, module_source, python, real, source  # noqa: F401  (fixtures)


def by_torch(path: Path) -> str:
    return f"from torch.utils.cpp_extension import load\nprint(load('ext', [{str(path)!r}]).value())\n"


# install --------------------------------------------------------------------------------------------------------------


def test_routes_what_is_imported_afterwards(fresh_python, source, cache_dir):
    assert fresh_python("dcuop.install()\n" + by_torch(source)) == "1"
    assert fresh_python("import torch.utils.cpp_extension\ndcuop.install(); dcuop.install()\n" + by_torch(source)) == "1"
    assert len(list((cache_dir / "v1/entries").glob("*/*"))) == 1


def test_uninstall_gives_torch_its_loader_back(fresh_python):
    assert (
        fresh_python(
            """
            from torch.utils import cpp_extension
            theirs = cpp_extension.load, cpp_extension.load_inline
            dcuop.install()
            routed = cpp_extension.load
            dcuop.uninstall()
            print((cpp_extension.load, cpp_extension.load_inline) == theirs, routed is theirs[0], routed.__doc__ == theirs[0].__doc__)
            """
        )
        == "True False True"
    )
    assert (
        fresh_python(
            """
            dcuop.install()
            dcuop.uninstall()
            from torch.utils import cpp_extension
            print(cpp_extension.load.__module__, hasattr(cpp_extension.load, "__dcuop_original__"), len(sys.meta_path))
            """
        ).split()[:2]
        == ["torch.utils.cpp_extension", "False"]
    )


def test_what_dcuop_does_not_build_goes_to_torch(python):
    assert (
        python(
            """
            import torch
            from torch.utils import cpp_extension
            torch.version.cuda = "11.8"
            def load(name, sources, extra_cflags=None, verbose=False, newer=None):
                return f"torch's own: {name}"
            cpp_extension.load = load
            dcuop.install()
            open("a.cu", "w").close()
            open("a.cpp", "w").close()
            import warnings
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                print(cpp_extension.load("x", ["a.cu"]), "|", cpp_extension.load("y", ["a.cpp"], newer=1), "|", caught[0].message)
            """
        )
        == "torch's own: x | torch's own: y | dcuop does not know newer of torch.utils.cpp_extension.load; torch's own builds it"
    )


def test_positions_are_those_of_the_installed_torch(python, source):
    code = f"""
        dcuop.install()
        from torch.utils.cpp_extension import load
        print(load("ext", {str(source)!r}, ["-DVALUE=11"]).value())
    """
    assert python(code) == "11"


# python -m dcuop ------------------------------------------------------------------------------------------------------


def in_module(real: Dict[str, str], tmp_path: Path, *arguments: object, **env: str) -> "subprocess.CompletedProcess[str]":
    environment = {**real, "PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1", **env}
    return subprocess.run(
        [PYTHON, *map(str, arguments)], env=environment, cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=300
    )


def test_runs_a_script_as_python_does(real, source, tmp_path, cache_dir):
    script = tmp_path / "scripts" / "train.py"
    script.parent.mkdir()
    (script.parent / "beside.py").write_text("value = 5\n")
    script.write_text(
        "import sys, beside\nassert __name__ == '__main__'\nprint(sys.argv[1:], beside.value)\n"
        + by_torch(source)
        + "sys.exit(7)\n"
    )
    done = in_module(real, tmp_path, "-m", "dcuop", "run", script, "-x", "y")
    assert (done.returncode, done.stdout) == (7, "['-x', 'y'] 5\n1\n"), done.stderr
    assert list((cache_dir / "v1/entries").glob("*/*"))


def test_runs_a_module(real, source, tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package/__init__.py").write_text("")
    (tmp_path / "package/tool.py").write_text("import sys\nprint(sys.argv[1:], __package__)\n")
    done = in_module(real, tmp_path, "-m", "dcuop", "run", "-m", "package.tool", "a")
    assert (done.returncode, done.stdout) == (0, "['a'] package\n"), done.stderr


def test_run_says_what_it_wants(real, tmp_path):
    for arguments in (["run"], ["run", "absent.py"], ["run", "-m"]):
        done = in_module(real, tmp_path, "-m", "dcuop", *arguments)
        assert done.returncode == 2 and done.stderr, arguments


def test_other_arguments_are_the_programs(real, tmp_path):
    done = in_module(real, tmp_path, "-m", "dcuop", "--version")
    assert done.returncode == 0 and done.stdout.startswith("dcuop ")


def test_a_variable_routes_processes_that_nobody_edits(real, source, tmp_path):
    """dcuop.pth lies in site-packages when dcuop is installed."""
    code = f"import site; site.addsitedir({str(ROOT / 'python')!r})\n" + by_torch(source)
    done = in_module(real, tmp_path, "-c", code, DCUOP_INSTALL="1", TORCH_EXTENSIONS_DIR="/nonexistent")
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
    assert "dcuop" not in in_module(real, tmp_path, "-c", f"import site, sys; site.addsitedir({str(ROOT / 'python')!r}); print(*sys.modules)").stdout.split()


# dcuop build --from ---------------------------------------------------------------------------------------------------

PROGRAM = """
    import os
    from torch.utils import cpp_extension
    from torch.utils.cpp_extension import load as jit
    import dcuop

    print("work")
    HERE = os.path.dirname(os.path.abspath(__file__))
    def path(name):
        return os.path.join(HERE, name)
    FLAGS = ["-O1"]
    FLAGS.append("-g0")
    first = jit("first", [path("ext.cpp")], FLAGS)
    result = first.value() + undefined_work()

    class Model:
        def __init__(self, name="second"):
            self.ext = cpp_extension.load(name=name, sources=[path("ext.cpp")], extra_cflags=FLAGS)

    def get(name, flags=FLAGS):
        work = undefined_work()
        return jit(name, sources=[path("ext.cpp")], extra_cflags=flags)

    def main():
        for name in ("third", "fourth"):
            get(name)
        with open(path("names.txt")) as stream:
            names = stream.read().split()
        return [dcuop.load_inline(name, "int f();", functions=None) for name in names]

    def told(name):
        return jit(name, sys.argv[1:])

    if __name__ == "__main__":
        main()
        told("never")
        dcuop.load_op(path("plain"))
"""


def test_collects_the_calls_of_a_program(run, make_op, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM))
    (tmp_path / "ext.cpp").write_text(module_source())
    (tmp_path / "names.txt").write_text("fifth sixth\n")
    shutil.copytree(make_op("plain"), tmp_path / "plain")
    done = run("build", "--from", program, "--dry-run", "--json", env={"PYTHONPATH": str(ROOT / "python")})
    assert [op["name"] for op in done.json["ops"]] == ["first", "second", "third", "fourth", "fifth", "sixth", "plain"]
    said = [line for line in done.stderr.splitlines() if "left out" in line]
    assert len(said) == 1 and f"{program}:32: load() is left out: NameError: name 'sys'" in said[0], done.stderr
    assert "work" not in done.stdout


def test_loads_of_an_imported_module_are_collected_and_not_built(run, source, tmp_path, cache_dir):
    (tmp_path / "config.py").write_text(
        "from torch.utils.cpp_extension import load\nimport dcuop\n"
        f"inner = load('inner', [{str(source)!r}])\nVALUE = inner.value()\n"
        f"also = dcuop.load('also', [{str(source)!r}])\nFLAGS = ['-O1']\n"
    )
    program = tmp_path / "program.py"
    program.write_text(f"import dcuop\nfrom config import FLAGS\ndcuop.load('outer', [{str(source)!r}], FLAGS)\n")
    done = run("build", "--from", program, "--dry-run", "--json", env={"PYTHONPATH": str(ROOT / "python")})
    assert [op["name"] for op in done.json["ops"]] == ["inner", "also", "outer"], done
    assert not list((cache_dir / "v1/entries").glob("*/*"))


def test_what_is_built_ahead_is_what_the_program_asks_for(run, python, source, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(f"import dcuop\nvalue = dcuop.load('ext', [{str(source)!r}], ['-O1']).value()\n")
    assert run("build", "--from", "program.py", env={"PYTHONPATH": str(ROOT / "python")}).rc == 0
    assert python("import program; print(program.value)", env={"DCUOP_BUILD": "never"}) == "1"


def collected(real: Dict[str, str], program: Path, text: str, limit: float = 100) -> "tuple[list[str], str]":
    """The names of the ops in such a program, with the flags of each; and what is said about it."""
    program.write_text("import dcuop, os, sys\n" + textwrap.dedent(text))
    code = "import sys; from dcuop import _collect; _collect._LONGEST_SECONDS = float(sys.argv[2]); sys.exit(_collect.main(sys.argv[1:2]))"
    done = in_python(code, real, program, limit, cwd=program.parent)
    ops = json.loads(done.stdout)["ops"] if done.returncode == 0 else []
    return [" ".join([op["op"]["name"], *op["build"]["cxx_flags"]]) for op in ops], done.stderr


@pytest.mark.parametrize(
    ("text", "ops"),
    [
        # The program's arguments are their defaults, and ours are not the program's.
        (
            """
            import argparse
            parser = argparse.ArgumentParser()
            parser.add_argument("--flag", default="-O1")
            arguments, others = parser.parse_known_args()
            dcuop.load("ext", "ext.cpp", [arguments.flag, *others])
            """,
            ["ext -O1"],
        ),
        # Of an environment that only a run can tell, arguments rarely depend.
        (
            """
            import argparse
            parser = argparse.ArgumentParser()
            parser.add_argument("data")
            arguments = parser.parse_args()
            os.environ["HIP_VISIBLE_DEVICES"] = arguments.data
            sys.path.append(arguments.data)
            sys.modules["ext"] = dcuop.load("ext", os.path.abspath("ext.cpp"))
            dcuop.load("needs", arguments.data)
            dcuop.load("other", os.path.abspath("ext.cpp"))
            """,
            ["ext", "other"],
        ),
        # Of what binds a needed name, the rest is not run.
        (
            """
            flags = []
            for epoch in range(3):
                os.mkdir("work")
                if epoch == 2:
                    os.mkdir("work")
                    break
                flags.append(f"-DE{epoch}")
            if flags:
                os.mkdir("work")
                name = "ext"
            else:
                os.mkdir("work")
            dcuop.load(name, "ext.cpp", flags)
            """,
            ["ext -DE0 -DE1"],
        ),
        # A loop's condition is made from what comes below it.
        (
            """
            count, step = 0, 1
            while count < 7:
                os.mkdir("work")
                count += step
                step *= 2
            dcuop.load(f"ext{count}", "ext.cpp")
            """,
            ["ext7"],
        ),
        # An import decides which way it goes.
        (
            """
            try:
                import no_such_module
                name = "with"
            except ImportError:
                os.mkdir("work")
                name = "without"
            dcuop.load(name, "ext.cpp")
            """,
            ["without"],
        ),
        ("if name := 'ext':\n    dcuop.load(name, 'ext.cpp')\n", ["ext"]),
        ("flag = os.system('echo printed')\ndcuop.load(f'ext{flag}', 'ext.cpp')\n", ["ext0"]),
        ("number = " + "+".join(["1"] * 900) + "\ndcuop.load(f'ext{number}', 'ext.cpp')\n", ["ext900"]),
    ],
    ids=["argparse", "changed-modules", "branches", "condition", "try", "walrus", "printed", "deep"],
)
def test_what_programs_make_arguments_from(real, source, tmp_path, text, ops):
    names, said = collected(real, source.parent / "program.py", text)
    assert names == ops, said
    assert not (source.parent / "work").exists()


def test_what_has_no_end_is_left_out(real, source):
    text = """
        name = "first"
        dcuop.load(name, "ext.cpp")
        while True:
            try:
                name = "second"
            except Exception:
                pass
        dcuop.load(name, "ext.cpp")
    """
    names, said = collected(real, source.parent / "program.py", text, limit=2)
    assert names == ["first"]
    assert "program.py:10: load() is left out: what its arguments are made from takes more than 2 s" in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = = 1\n", "invalid syntax"),
        ("print(1)\n", "has no call of load(), load_inline() or load_op()"),
        ("import dcuop\ndcuop.load(*unknown)\n", "NameError: name 'unknown'"),
    ],
)
def test_a_program_that_cannot_be_read_is_one_error(run, tmp_path, text, message):
    (tmp_path / "program.py").write_text(text)
    done = run("build", "--from", "program.py", env={"PYTHONPATH": str(ROOT / "python")})
    assert done.rc == 2 and message in done.stderr, done


def test_a_python_without_dcuop_is_said(run, tmp_path):
    (tmp_path / "program.py").write_text("import dcuop\n")
    done = run("build", "--from", "program.py", cwd=tmp_path)
    assert done.rc == 3 and "has no dcuop module" in done.stderr and "PYTHONPATH" in done.stderr


# Descriptions -----------------------------------------------------------------------------------------------------


def described(**changes: object) -> Dict[str, object]:
    op = {"label": "here:1", "op": {"name": "ext", "kind": "plain"}, "build": {"sources": ["a.cpp"]}, **changes}
    return {"ops": [{key: value for key, value in op.items() if value is not None}]}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("", 'no JSON object with "ops"'),
        ("[]", 'no JSON object with "ops"'),
        ('{"ops": []}', "at least one"),
        ('{"ops": [3]}', "described op 1: error: it must be an object"),
        (described(), 'one of "manifest", "directory" and "files"'),
        (described(directory="/tmp", files={"a.cpp": ""}), 'one of "manifest", "directory" and "files"'),
        (described(directory="tmp"), "absolute path"),
        (described(files={"../a.cpp": ""}), "'../a.cpp' is none"),
        (described(files={"/a.cpp": ""}), "'/a.cpp' is none"),
        (described(files={"x/../a.cpp": ""}), "is none"),
        (described(files={}), "object of texts"),
        (described(files={"a.cpp": 3}), "object of texts"),
        (described(files={"a.cpp": ""}, sources=3), 'unknown member "sources"'),
        (described(files={"a.cpp": ""}, build={"sources": ["b.cpp"]}), "here:1: error: source 'b.cpp' does not exist"),
        (described(files={"a.cpp": ""}, build={"source": ["a.cpp"]}), "did you mean 'sources'"),
        (described(files={"a.cpp": ""}, op={"name": None}), "'name' in [op] must be a string"),
        (described(manifest="relative", op=None, build=None), "absolute path"),
        ("[" * 200000, 'no JSON object with "ops"'),
    ],
)
def test_a_wrong_description_is_one_clear_error(run, tmp_path, document, message):
    (tmp_path / "ops.json").write_text(document if isinstance(document, str) else json.dumps(document))
    done = run("build", "--from", "ops.json")
    assert (done.rc, message in done.stderr) == (2, True), done


def test_a_description_builds_on_every_command(run, tmp_path):
    document = described(files={"a.cpp": textwrap.dedent(CXX_SOURCE), "include/x.h": ""}, build={"sources": ["a.cpp"], "include_dirs": ["include"]})
    (tmp_path / "ops.json").write_text(json.dumps(document))
    assert run("key", "--from", "ops.json").rc == 0
    assert run("build", "--from", "ops.json", "--json").op["status"] == "built"
    assert run("build", "--from", "ops.json", "--json").op["status"] == "hit"
    both = run("build", "--from", "ops.json", "another")
    assert both.rc == 2 and "both say which ops" in both.stderr


# setuptools -----------------------------------------------------------------------------------------------------------

SETUP = """
    from setuptools import Extension, setup
    from torch.utils.cpp_extension import CppExtension
    import dcuop
    setup(
        name="package", version="1.0", packages=["package"],
        ext_modules=[
            CppExtension("package._C", ["ext.cpp"], extra_compile_args={"cxx": ["-O1", "-DNAME=a b"]},
                         define_macros=[("VALUE", "21")], include_dirs=["include"]),
            Extension("package.plain", ["plain.c"]),
        ],
        cmdclass={"build_ext": dcuop.build_ext.with_options(use_ninja=False)},
    )
"""


def test_a_wheels_extension_comes_from_the_cache(real, tmp_path, cache_dir):
    project = tmp_path / "project"
    (project / "package").mkdir(parents=True)
    (project / "include").mkdir()
    (project / "package/__init__.py").write_text("")
    (project / "setup.py").write_text(textwrap.dedent(SETUP))
    (project / "ext.cpp").write_text(module_source())
    (project / "plain.c").write_text(
        "#include <Python.h>\nstatic struct PyModuleDef d = {PyModuleDef_HEAD_INIT, \"plain\", 0, -1, 0};\n"
        "PyMODINIT_FUNC PyInit_plain(void) { return PyModule_Create(&d); }\n"
    )
    build = ("setup.py", "-q", "build_ext", "--inplace")
    done = in_module(real, project, *build)
    assert done.returncode == 0, done.stderr
    assert len(list((cache_dir / "v1/entries").glob("*/*"))) == 1
    code = "import torch, package._C, package.plain; print(package._C.value())"
    assert in_module(real, project, "-c", code).stdout == "21\n"
    for file in (project / "package").glob("*.so"):
        file.unlink()
    assert in_module(real, project, *build, DCUOP_BUILD="never").returncode == 0
    assert in_module(real, project, "-c", code).stdout == "21\n"
    (project / "ext.cpp").write_text("int f() { return missing; }\n")
    broken = in_module(real, project, *build)
    assert broken.returncode != 0 and "missing" in broken.stderr and "Traceback" not in broken.stderr


# Public packages ------------------------------------------------------------------------------------------------------

PACKAGES = ROOT / "build" / "packages"  # script/full puts them there

SRU = """
    import torch
    from sru import SRU
    model, x = SRU(8, 16, num_layers=2).eval(), torch.randn(5, 3, 8)
    with torch.no_grad():
        by_kernel = model(x)[0]
    by_torch = model(x)[0]
    assert torch.allclose(by_kernel, by_torch, atol=1e-5)
"""

DEEPSPEED = """
    import torch
    from deepspeed.ops.adam import DeepSpeedCPUAdam
    ours, theirs = (torch.nn.Parameter(torch.ones(1000)) for _ in range(2))
    steps = DeepSpeedCPUAdam([ours], lr=0.1), torch.optim.AdamW([theirs], lr=0.1, weight_decay=0)
    for _ in range(3):
        for parameter, optimizer in zip((ours, theirs), steps):
            (parameter * parameter).sum().backward()
            optimizer.step()
            parameter.grad = None
    assert torch.allclose(ours, theirs, atol=1e-5)
"""


@pytest.mark.skipif(os.environ.get("DCUOP_FULL") != "1", reason="compiles torch's headers, and needs packages: make full")
@pytest.mark.parametrize(("program", "extension"), [(SRU, "sru_cpu"), (DEEPSPEED, "cpu_adam")], ids=["sru", "deepspeed"])
def test_a_public_package_builds_through_it_unchanged(real, tmp_path, run, program, extension):
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(program))
    path = f"{ROOT / 'python'}:{PACKAGES}"
    for env in ({}, {"DCUOP_BUILD": "never"}):
        done = in_module(real, tmp_path, "-m", "dcuop", "run", script, PYTHONPATH=path, **env)
        assert done.returncode == 0, done.stderr
    assert extension in run("list").stdout
