"""dcuop new: what it writes is built and passes its own tests; what it proposes for a setup.py can be built."""

from __future__ import annotations

import os
import subprocess
import textwrap
import tomllib
from pathlib import Path
from typing import Any, Dict, List

import pytest

from conftest import ARCH, HIP_SOURCE, PYTHON, ROOT, Result

# torch's own headers take half a minute to compile on a small machine: one op with them is enough for each change.
full = pytest.mark.skipif(not os.environ.get("DCUOP_FULL"), reason="DCUOP_FULL is not set")
KINDS = ["plain", "pybind", pytest.param("torch-library", marks=full)]
#: Each kind for one of the backends that has a compiler here; its own tests run the kernel on an emulated grid.
BUILDS = [("plain", "hip"), ("pybind", "host"), pytest.param("torch-library", "hip", marks=full)]


def own_tests(op: Path, environment: Dict[str, str], binary: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [PYTHON, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", op],
        env={**environment, "DCUOP": str(binary), "PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=op.parent,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )


def texts_in(directory: Path) -> Dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


class TestWhatItWrites:
    @pytest.mark.parametrize("kind, backend", BUILDS)
    def test_is_built_and_passes_its_own_tests(self, run, environment, dcuop_binary, tmp_path, kind, backend):
        # A name that <cmath>, HIP and torch have too.
        made = run("new", "exp", "--kind", kind)
        assert made.rc == 0, made
        op = tmp_path / "exp"
        assert made.stdout.strip() == str(op)
        arch = ["--arch", ARCH] if backend == "hip" else []
        built = run("build", op, "--backend", backend, *arch, "--json")
        assert built.rc == 0, built
        assert built.op["kind"] == kind
        tests = own_tests(op, environment, dcuop_binary)
        assert tests.returncode == 0, tests.stdout + tests.stderr
        assert "20 passed, 7 skipped" in tests.stdout, tests.stdout
        assert "the kernel runs on an emulated grid" in tests.stdout, tests.stdout

    @full
    def test_a_torch_library_knows_the_shape_without_a_device(self, run, environment, dcuop_binary, tmp_path):
        run("new", "exp", "--kind", "torch-library")
        code = """
            import dcuop, torch
            ops = dcuop.load_op("exp", arch="gfx906")
            like = lambda **what: torch.ones(2, 3, device="meta", **what)
            print(tuple(ops.exp(like(dtype=torch.half), 2.0, 1.0).shape))
            for x in like(), like(dtype=torch.half).t(), like(dtype=torch.half, requires_grad=True):
                try: ops.exp(x, 2.0, 1.0)
                except RuntimeError as error: print(str(error).split(",")[0])
        """
        done = subprocess.run(
            [PYTHON, "-c", textwrap.dedent(code)],
            env={**environment, "DCUOP": str(dcuop_binary), "PYTHONPATH": str(ROOT / "python")},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.splitlines() == [
            "(2, 3)",
            "exp: x must be float16",
            "exp: x must be contiguous",
            "exp: x requires grad",
        ], done.stderr

    def test_the_archs_are_those_asked_for(self, run, tmp_path):
        assert run("new", "--kind", "plain", "--arch", "gfx906,gfx936", "mul").rc == 0
        manifest = tomllib.loads((tmp_path / "mul" / "dcuop.toml").read_text())
        assert manifest["build"]["archs"] == ["gfx906", "gfx936"]
        refused = run("build", tmp_path / "mul", "--arch", "gfx90a")
        assert refused.rc == 2 and "gfx90a" in refused.stderr, refused

    def test_the_answer_as_json(self, run, tmp_path):
        made = run("new", "mul", "--json")
        assert made.rc == 0, made
        assert made.json["op"] == {
            "name": "mul",
            "kind": "pybind",
            "directory": str(tmp_path / "mul"),
            "files": sorted(texts_in(tmp_path / "mul")),
        }
        assert made.json["workspace"] is None
        assert made.json["next"] == ["dcuop build mul --arch gfx906", "python3 -m pytest mul"]

    def test_the_next_steps_are_three_lines(self, run):
        made = run("new", "mul")
        steps = made.stderr.splitlines()
        assert len(steps) == 3, made
        assert "dcuop build mul --arch gfx906" in steps[0] and "python3 -m pytest mul" in steps[1]
        assert "op_kernel.hip" in steps[2] and "binding.cpp" in steps[2] and "reference.py" in steps[2]
        assert run("--quiet", "new", "add").stderr == ""


class TestWhatItRefuses:
    @pytest.mark.parametrize("name", ["class", "2d", "a-b", "a/b", "../up", "a b", "größe", "int", "torch", "copy", ""])
    def test_names(self, run, tmp_path, name):
        before = sorted(tmp_path.iterdir())
        refused = run("new", name, "--json")
        assert refused.rc == 2, refused
        assert refused.json["error"]["message"] and refused.json["error"]["hint"]
        assert sorted(tmp_path.iterdir()) == before

    @pytest.mark.parametrize(
        "arguments, message",
        [
            ([], "a new op needs a name"),
            (["mul", "--kind", "pybin"], "did you mean 'pybind'?"),
            (["mul", "--kind", "executable"], "pybind, torch-library, plain"),
            (["aten", "--kind", "torch-library"], "is a namespace of torch's own operators"),
            (["mul", "--arch", "sm_80"], "'sm_80' (--arch) is no target id"),
            (["mul", "--write"], "--write goes with --from-cuda"),
            (["--from-cuda", ".", "--force"], "--from-cuda goes with neither"),
        ],
    )
    def test_arguments(self, run, arguments, message):
        refused = run("new", *arguments)
        assert refused.rc == 2, refused
        assert message in refused.stderr
        assert "fix:" in refused.stderr or "did you mean" in refused.stderr or "must be one of" in refused.stderr

    def test_a_directory_with_something_in_it(self, run, tmp_path):
        mine = tmp_path / "mul"
        mine.mkdir()
        (mine / "op.h").write_text("mine")
        refused = run("new", "mul")
        assert refused.rc == 2 and "exists and is not empty" in refused.stderr and "--force" in refused.stderr, refused
        assert texts_in(mine) == {"op.h": b"mine"}
        (mine / "notes.txt").write_text("mine too")
        assert run("new", "mul", "--force").rc == 0
        assert (mine / "op.h").read_text() != "mine"
        assert (mine / "notes.txt").read_text() == "mine too"
        assert not [name for name in os.listdir(mine) if name.startswith(".")]

    def test_a_place_that_cannot_be_written(self, run, tmp_path):
        (tmp_path / "file").write_text("")
        refused = run("new", "mul", "--dir", "file")
        assert refused.rc in (2, 3) and "file" in refused.stderr, refused
        # A file system that refuses root as well.
        refused = run("new", "mul", "--dir", "/proc")
        assert refused.rc == 3 and "/proc/mul" in refused.stderr and "--dir" in refused.stderr, refused

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_a_parent_that_is_read_only(self, run, tmp_path):
        (tmp_path / "closed").mkdir(mode=0o555)
        refused = run("new", "mul", "--dir", "closed/below")
        assert refused.rc == 3 and "closed" in refused.stderr, refused
        assert list((tmp_path / "closed").iterdir()) == []

    def test_a_file_system_that_is_full_half_way(self, run, tmp_path):
        if os.geteuid() != 0:
            pytest.skip("a mount takes root")
        small = tmp_path / "small"
        small.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "nr_inodes=6", "tmpfs", small], check=False).returncode != 0:
            pytest.skip("tmpfs cannot be mounted here")
        try:
            refused = run("new", "mul", "--dir", "small/deep")
            assert refused.rc == 3, refused
            assert list(small.iterdir()) == []
        finally:
            subprocess.run(["umount", small], check=True)


class TestInAWorkspace:
    @pytest.fixture
    def workspace(self, tmp_path: Path) -> Path:
        root = tmp_path / "work"
        (root / "src" / "deep").mkdir(parents=True)
        (root / "dcuop.toml").write_text('[workspace]\nmembers = ["ops/*", "single"]\n')
        (root / "single").mkdir()
        return root

    def test_it_is_made_where_the_members_are(self, run, workspace):
        for where, name in [(workspace, "one"), (workspace / "src" / "deep", "two"), (workspace / "ops", "three")]:
            made = run("new", name, "--kind", "plain", "--json", cwd=where)
            assert made.rc == 0, made
            assert made.json["op"]["directory"] == str(workspace / "ops" / name)
            assert made.json["workspace"] == {"root": str(workspace), "is_member": True, "members_line": None}
        keys = run("key", "one", "three", "--arch", ARCH, "--json", cwd=workspace)
        assert [op["name"] for op in keys.json["ops"]] == ["one", "three"], keys

    def test_one_that_is_no_member_is_said_to_be_none(self, run, workspace):
        made = run("new", "lone", "--kind", "plain", "--dir", "src", cwd=workspace)
        assert made.rc == 0, made
        line = 'members = ["ops/*", "single", "src/lone"]'
        assert "warning:" in made.stderr and line in made.stderr, made
        manifest = workspace / "dcuop.toml"
        manifest.write_text("[workspace]\n" + line + "\n")
        assert run("key", "lone", "--arch", ARCH, cwd=workspace).rc == 0

    def test_a_member_that_is_listed_before_it_is_there(self, run, workspace):
        (workspace / "single").rmdir()
        made = run("new", "single", "--kind", "plain", "--dir", ".", "--json", cwd=workspace)
        assert made.rc == 0, made
        assert made.json["workspace"]["is_member"] is True

    def test_a_name_that_another_member_has(self, run, workspace):
        assert run("new", "one", "--kind", "plain", cwd=workspace).rc == 0
        refused = run("new", "one", "--kind", "plain", "--dir", "src", cwd=workspace)
        assert refused.rc == 2 and "has an op called 'one'" in refused.stderr, refused
        assert not (workspace / "src" / "one").exists()


SETUP = """
    import glob
    import os
    import torch
    from setuptools import find_packages, setup
    from torch.utils.cpp_extension import CUDA_HOME, BuildExtension, CppExtension, CUDAExtension

    HERE = os.path.dirname(os.path.abspath(__file__))


    def get_extensions():
        root = os.path.join(HERE, "csrc")
        sources = [os.path.join(root, "binding.cpp")]
        on_device = glob.glob(os.path.join(root, "cuda", "*.cu"))
        extension = CppExtension
        arguments = {"cxx": ["-O3", "-std=c++17"]}
        macros = []
        if torch.cuda.is_available() and CUDA_HOME is not None:
            extension = CUDAExtension
            sources += on_device
            macros += [("WITH_CUDA", None), ("WIDTH", "4")]
            arguments["nvcc"] = [
                "-O3", "--use_fast_math", "-gencode", "arch=compute_80,code=sm_80", "-Xcompiler", "-fPIC", f"-DN={2 + 2}",
            ] + os.environ.get("NVCC_FLAGS", "").split()
        else:
            sources += ["cpu_only.cpp"]
        return [
            extension(
                "fast._C",
                sources,
                include_dirs=[root, os.path.join(CUDA_HOME, "include")],
                define_macros=macros,
                extra_compile_args=arguments,
                libraries=["cublas", "m"],
            )
        ]


    setup(name="fast", packages=find_packages(), ext_modules=get_extensions(), cmdclass={"build_ext": BuildExtension})
"""


@pytest.fixture
def extension(tmp_path: Path) -> Path:
    """Laid out as packages of CUDA operators are; its sources need no torch, so that it can be built quickly."""
    root = tmp_path / "fast"
    (root / "csrc" / "cuda").mkdir(parents=True)
    (root / "setup.py").write_text(textwrap.dedent(SETUP))
    (root / "csrc" / "binding.cpp").write_text('extern "C" int width() { return WIDTH; }\n')
    (root / "csrc" / "cuda" / "fill.cu").write_text(textwrap.dedent(HIP_SOURCE))
    return root


def proposed(result: Result) -> Dict[str, Any]:
    assert result.rc == 0, result
    return tomllib.loads(result.stdout)


def comments(result: Result) -> List[str]:
    return [line for line in result.stdout.splitlines() if line.startswith("# ")]


class TestFromCuda:
    def test_what_is_written_down_is_carried_over(self, run, extension):
        result = run("new", "--from-cuda", extension)
        assert proposed(result) == {
            "op": {"name": "_C", "kind": "plain", "abi": "none"},
            "build": {
                "sources": ["csrc/binding.cpp", "csrc/cuda/*.cu"],
                "include_dirs": ["csrc"],
                "cxx_standard": 17,
                "cxx_flags": ["-DWITH_CUDA", "-DWIDTH=4", "-O3"],
                "hip_flags": ["-DWITH_CUDA", "-DWIDTH=4", "-O3"],
                "libraries": ["m"],
                "archs": ["*"],
            },
        }
        assert not (extension / "dcuop.toml").exists()

    def test_what_is_not_is_said(self, run, extension):
        said = "\n".join(comments(run("new", "--from-cuda", extension)))
        for part in (
            "from setup.py:28, CUDAExtension",
            "`torch.cuda.is_available() and CUDA_HOME is not None` was taken to be true",
            "setup.py calls it fast._C",
            'Not read: setup.py:31: os.path.join(CUDA_HOME, "include")',
            'Not read: setup.py:24: os.environ.get("NVCC_FLAGS", "").split()',
            'Not read: setup.py:23: f"-DN={2 + 2}"',
            "Left out of hip_flags: --use_fast_math: ",
            "Left out of hip_flags: -gencode arch=compute_80,code=sm_80: ",
            "Left out of hip_flags: -Xcompiler -fPIC: ",
            "Left out of libraries: cublas is CUDA's; HIP has hipblas",
        ):
            assert part in said, f"{part}\n{said}"

    def test_it_is_written_once_and_can_be_built(self, run, extension):
        written = run("new", "--from-cuda", extension, "fast", "--arch", ARCH, "--write")
        assert written.rc == 0, written
        text = (extension / "dcuop.toml").read_text()
        assert tomllib.loads(text)["op"]["name"] == "fast"
        built = run("build", extension, "--arch", ARCH, "--json")
        assert built.rc == 0, built
        assert built.compiled() == ["csrc/binding.cpp", "csrc/cuda/fill.cu"]
        again = run("new", "--from-cuda", extension, "--write")
        assert again.rc == 2 and "is not written over" in again.stderr, again
        assert (extension / "dcuop.toml").read_text() == text

    def test_nothing_of_it_is_run(self, run, extension):
        for module in ("ast", "json", "sysconfig", "sitecustomize", "usercustomize"):
            (extension / f"{module}.py").write_text("open('was_run', 'w')")
        with open(extension / "setup.py", "a", encoding="utf-8") as setup:
            setup.write("\nopen('was_run', 'w')\n")
        result = run("new", "--from-cuda", ".", cwd=extension)
        assert proposed(result)["op"]["name"] == "_C"
        assert not (extension / "was_run").exists()

    @pytest.mark.parametrize(
        "setup, sources",
        [
            ("CUDAExtension('x', ['a.cu', 'b.cpp'])", ["a.cu", "b.cpp"]),
            ("CUDAExtension(name='x', sources=sorted(glob.glob('*.c*')))", ["*.c*"]),
            ("here = Path(__file__).parent\nCUDAExtension('x', [str(here / 'a.cu')])", ["a.cu"]),
            ("here = Path(__file__).resolve().parent\nCUDAExtension('x', list(here.rglob('*.cu')))", ["**/*.cu"]),
            ("s = ['a', 'b.c']\nCUDAExtension('x', [f'{n}{e}' for n, e in (('a', '.cu'),)])", ["a.cu"]),
            ("d = {'s': []}\nd['s'].append('a.cu')\nd['s'] += ['b.cpp']\nCUDAExtension('x', d['s'])", ["a.cu", "b.cpp"]),
            ("def f(n, more=['b.cpp']):\n    return CUDAExtension(n, ['a.cu'] + more)\nf('x')", ["a.cu", "b.cpp"]),
            ("for n in ['x']:\n    e = CUDAExtension(n, ['%s.cu' % 'a'])", ["a.cu"]),
            ("import torch.utils.cpp_extension as e\ne.CUDAExtension('x', ['a.cu'])", ["a.cu"]),
            ("from torch.utils.cpp_extension import CUDAExtension as E\nk = dict(sources=['a.cu'])\nE('x', **k)", ["a.cu"]),
            ("cpu = torch.x()\nCUDAExtension('x', ['b.cpp'] if cpu else ['a.cu'])", ["a.cu"]),
            ("CUDAExtension('x', ['a.cu', unknown(), *more, 'gone.cu', 'a.cu'])", ["a.cu"]),
            ("try:\n    s = ['a.cu']\nexcept ImportError:\n    s = []\nCUDAExtension('x', s)", ["a.cu"]),
            ("class B(build_ext):\n    def run(self):\n        CUDAExtension('x', ['a.cu'])", ["a.cu"]),
        ],
    )
    def test_ways_to_write_it(self, run, tmp_path, setup, sources):
        root = tmp_path / "x"
        root.mkdir()
        (root / "a.cu").write_text("")
        (root / "b.cpp").write_text("")
        (root / "setup.py").write_text("import glob, os\nfrom pathlib import Path\n" + setup + "\n")
        result = run("new", "--from-cuda", root)
        assert proposed(result)["build"]["sources"] == sources, result
        assert proposed(result)["op"]["name"] == "x"

    @pytest.mark.parametrize(
        "setup, message",
        [
            ("print 'python 2'", "setup.py could not be read: line 1: "),
            ("x = ['']\n" + "x += x\n" * 60, "it computes more than can be followed"),
            ("x = 'x'\n" + "x = x + x\n" * 60, "it computes more than can be followed"),
            ("def f(): return f()\nf()", "it computes more than can be followed"),
            ("x = " + "(" * 5000 + ")" * 5000, "setup.py could not be read: "),
            ("x\x00y", "setup.py could not be read: "),
            ("", "setup.py makes no extension that could be read"),
        ],
        ids=range(7),
    )
    def test_a_setup_that_cannot_be_read_leaves_the_sources(self, run, tmp_path, setup, message):
        root = tmp_path / "x"
        root.mkdir()
        (root / "a.cu").write_text("#include <cuda_runtime.h>\n")
        (root / "setup.py").write_text(setup)
        result = run("new", "--from-cuda", root)
        assert proposed(result)["build"]["sources"] == ["a.cu"], result
        said = "\n".join(comments(result))
        assert message in said and "a.cu (cuda_runtime.h)" in said, said

    def test_one_of_several_extensions(self, run, tmp_path):
        (tmp_path / "a.cpp").write_text("")
        (tmp_path / "b.cpp").write_text("PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}")
        (tmp_path / "setup.py").write_text("CppExtension('p._a', ['a.cpp'])\nCppExtension('p._b', ['b.cpp'])\n")
        first = run("new", "--from-cuda", ".", "--json")
        assert first.json["name"] == "_a" and first.json["other_extensions"] == ["p._b"], first
        second = proposed(run("new", "--from-cuda", ".", "_b"))
        assert second["op"] == {"name": "_b", "kind": "pybind", "abi": "torch-python"}
        assert "archs" not in second["build"]
        refused = run("new", "--from-cuda", ".", "_c")
        assert refused.rc == 2 and "p._a, p._b" in refused.stderr, refused

    def test_as_json(self, run, extension):
        answer = run("new", "--from-cuda", extension, "--json").json
        assert answer["path"] == str(extension / "dcuop.toml") and answer["written"] is False
        assert tomllib.loads(answer["manifest"])["op"]["name"] == "_C"
        assert answer["refusal"] is None
        assert any("cublas" in remark for remark in answer["remarks"])

    def test_directories_with_nothing(self, run, tmp_path):
        (tmp_path / "empty").mkdir()
        for where, message in [("empty", "no source in it"), ("gone", "does not exist"), ("file", "is no directory")]:
            (tmp_path / "file").write_text("")
            refused = run("new", "--from-cuda", where)
            assert refused.rc == 2 and message in refused.stderr, refused

    def test_without_a_python_the_sources_are_proposed(self, run, extension):
        result = run("new", "--from-cuda", extension, "fast", env={"DCUOP_PYTHON": "/no/python"})
        assert proposed(result)["build"]["sources"] == ["csrc/binding.cpp", "csrc/cuda/fill.cu"]
        assert "setup.py could not be read: no Python at '/no/python'" in "\n".join(comments(result))
