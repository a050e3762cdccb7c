"""CUDA sources through torch's own hipify: what it is given, what is made of its result, and hits without it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import textwrap
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

import pytest

from conftest import ARCH, PYTHON, ROOT, Run, in_python

Load = Callable[..., "subprocess.CompletedProcess[str]"]

# The Python C API instead of pybind11's headers: those take ten seconds.
BINDING = """
    #include <Python.h>
    #include <cuda_runtime.h>
    #include "answer.h"
    static PyObject* value(PyObject*, PyObject*) {
      cudaError_t error = cudaSuccess;
      return PyLong_FromLong(answer() + error);
    }
    static PyMethodDef methods[] = {{"value", value, METH_NOARGS, ""}, {nullptr, nullptr, 0, nullptr}};
    static PyModuleDef module = {PyModuleDef_HEAD_INIT, "cuda_op", "", -1, methods};
    extern "C" __attribute__((visibility("default"))) PyObject* PyInit_cuda_op() { return PyModule_Create(&module); }
"""
KERNEL = """
    #include <cuda_runtime.h>
    #include "answer.h"
    #include "device/scale.cuh"
    __global__ void fill(float* y, int n) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) { y[i] = scale(y[i]); }
    }
    int answer() {
      fill<<<1, 64, 0, 0>>>(nullptr, 0);
      static_cast<void>(cudaGetLastError());
      return 40 + SCALE;
    }
"""
SCALE = """
    #pragma once
    #include <cuda_runtime.h>
    #define SCALE 2
    __device__ inline float scale(float x) { return SCALE * x; }
    inline void settle() { static_cast<void>(cudaDeviceSynchronize()); }
"""
PROJECT = {"binding.cpp": BINDING, "fill.cu": KERNEL, "device/scale.cuh": SCALE, "answer.h": "int answer();\n"}

LOADER = """
    import json, sys
    import dcuop, dcuop._hipify
    directory = sys.argv[1]
    def load(**more):
        return dcuop.load("cuda_op", [f"{directory}/binding.cpp", f"{directory}/fill.cu"], allow_cpu_torch=True, **more)
    def no_hipify():
        def run(*_):
            raise AssertionError("hipify runs")
        dcuop._hipify._run = run
"""


def write(directory: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
    return directory


def files_below(directory: Path) -> Dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "project", PROJECT)


def loader(run: Load, environment: Dict[str, str], dcuop_binary: Path) -> Load:
    def run_python(code: str, *arguments: object, **variables: str) -> "subprocess.CompletedProcess[str]":
        env = {**environment, "DCUOP": str(dcuop_binary), "DCUOP_ARCH": ARCH, **variables}
        return run(textwrap.dedent(LOADER) + textwrap.dedent(code), env, *arguments)

    return run_python


@pytest.fixture
def python(in_torch: Load, environment: Dict[str, str], dcuop_binary: Path) -> Load:
    """python(code, *arguments, DCUOP_BUILD="never"): runs it after LOADER."""
    return loader(in_torch, environment, dcuop_binary)


class TestLoad:
    """With real compilers."""

    @pytest.fixture(autouse=True)
    def needs_another_torch_than_one_for_cuda(self, torch_dir: Path) -> None:
        facts: Dict[str, Any] = {}
        exec((torch_dir / "version.py").read_text(encoding="utf-8"), facts)  # pylint: disable=exec-used
        if facts["cuda"]:
            pytest.skip(f"torch {facts['__version__']} builds CUDA sources itself")

    def test_edits_of_source_and_header_give_new_code_beside_the_old(self, python: Load, project: Path) -> None:
        before = files_below(project)
        for path in [project, project / "device"]:
            path.chmod(0o555)
        done = python(
            """
            import os, pathlib
            def edit(name, old, new):
                path = pathlib.Path(directory, name)
                path.write_text(path.read_text().replace(old, new))
            runs, run = [], dcuop._hipify._run
            dcuop._hipify._run = lambda *arguments: runs.append(1) or run(*arguments)
            modules = [load()]
            listing = sorted(str(path) for path in pathlib.Path(directory).rglob("*"))
            edit("fill.cu", "40 +", "50 +")
            modules.append(load())
            edit("device/scale.cuh", "SCALE 2", "SCALE 3")
            modules.append(load())
            assert load() is modules[-1]
            print(json.dumps([[module.value() for module in modules], len(runs), listing]))
            """,
            project,
        )
        assert done.returncode == 0, done.stderr
        values, runs, listing = json.loads(done.stdout)
        assert values == [42, 52, 53]
        assert runs == 3
        assert {os.path.relpath(path, project) for path in listing} == {*before, "device"}
        assert sorted(files_below(project)) == sorted(before)
        assert done.stderr == ""

    def test_the_same_text_elsewhere_is_a_hit_without_hipify(self, python: Load, project: Path, tmp_path: Path) -> None:
        write(tmp_path / "lib", {"answer.h": "int answer();\n"})
        (project / "answer.h").unlink()
        code = "print(load(extra_include_paths=[sys.argv[2]]).value())"
        done = python(code, project, tmp_path / "lib")
        assert (done.returncode, done.stdout) == (0, "42\n"), done.stderr
        moved = tmp_path / "moved" / "again"
        shutil.copytree(project, moved / "src")
        shutil.copytree(tmp_path / "lib", moved / "include")
        done = python(f"no_hipify()\n{code}", moved / "src", moved / "include", DCUOP_BUILD="never")
        assert (done.returncode, done.stdout) == (0, "42\n"), done.stderr

    @pytest.mark.parametrize(
        "name, old, line",
        [("fill.cu", "return 40", 12), ("device/scale.cuh", "return SCALE", 5), ("binding.cpp", "return PyLong", 7)],
    )
    def test_errors_are_where_the_original_has_them(
        self, python: Load, project: Path, name: str, old: str, line: int
    ) -> None:
        path = project / name
        path.write_text(path.read_text().replace(old, f"return missing_name; {old}"))
        done = python(
            """
            try:
                load()
            except dcuop.BuildError as error:
                print(error.message)
            """,
            project,
        )
        assert f"{path}:{line}:" in done.stdout, done.stdout + done.stderr
        assert "missing_name" in done.stdout

    def test_errors_in_another_include_directory(self, python: Load, project: Path, tmp_path: Path) -> None:
        (project / "answer.h").unlink()
        write(
            tmp_path / "the lib",
            {"answer.h": "#include <cuda_runtime.h>\ncudaError_t x = missing_name;\nint answer();"},
        )
        done = python(
            """
            try:
                load(extra_include_paths=[sys.argv[2]])
            except dcuop.BuildError as error:
                print(error.message)
            """,
            project,
            tmp_path / "the lib",
        )
        assert f"{tmp_path}/the lib/answer.h:2:" in done.stdout, done.stdout + done.stderr

    def test_inline_cuda_sources(self, python: Load) -> None:
        done = python(
            """
            binding, kernel = sys.argv[1:]
            options = dict(no_implicit_headers=True, allow_cpu_torch=True)
            print(dcuop.load_inline("cuda_op", binding, kernel, **options).value())
            no_hipify()
            print(dcuop.load_inline("cuda_op", binding, kernel, **options).value())
            """,
            BINDING.replace('#include "answer.h"', "int answer();"),
            KERNEL.replace('#include "answer.h"', "").replace(
                '#include "device/scale.cuh"', SCALE.replace("#pragma once", "")
            ),
        )
        assert (done.returncode, done.stdout) == (0, "42\n42\n"), done.stderr


class TestHipTorch:
    @pytest.fixture
    def python(self, environment: Dict[str, str], dcuop_binary: Path) -> Load:
        """One that has not imported the usual torch."""
        return loader(in_python, environment, dcuop_binary)

    def test_a_hip_torch_translates_plain_cpp_too(self, python: Load, tmp_path: Path, torch_dir: Path) -> None:
        """with_cuda says that it needs it. A HIP torch is this torch with another version.py."""
        site = tmp_path / "site" / "torch"
        site.mkdir(parents=True)
        for path in torch_dir.iterdir():
            if path.name not in ("version.py", "__pycache__"):
                (site / path.name).symlink_to(path)
        facts = (torch_dir / "version.py").read_text(encoding="utf-8")
        (site / "version.py").write_text(f"{facts}\ncuda = None\nhip = '5.2.21153'\n", encoding="utf-8")
        write(tmp_path / "project", {"op.cpp": BINDING, "answer.h": "inline int answer() { return 7; }\n"})
        done = python(
            """
            sys.path.insert(0, sys.argv[2])
            from dcuop._description import Extension, describe
            extension = Extension("cuda_op", "pybind", [f"{directory}/op.cpp"], with_cuda=True)
            described = describe(extension)[0]["ops"][0]
            print(json.dumps([described["build"]["sources"], described["files"]]))
            without = describe(extension._replace(with_cuda=None))[0]["ops"][0]
            assert "files" not in without, without
            linked = describe(extension._replace(with_cuda=None, link_flags=["-lcudnn"]))[0]["ops"][0]
            assert linked["build"]["sources"] == described["build"]["sources"]
            """,
            tmp_path / "project",
            site.parent,
        )
        assert done.returncode == 0, done.stderr
        sources, files = json.loads(done.stdout)
        assert sources == ["op_hip.cpp"]
        assert "#include <hip/hip_runtime.h>" in files["op_hip.cpp"]


@pytest.fixture(scope="session")
def torch_dir() -> Path:
    code = "import importlib.util; print(importlib.util.find_spec('torch').origin)"
    found = subprocess.run([PYTHON, "-c", code], stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
    return Path(found.strip()).parent


class Hipify:
    """dcuop._hipify in this process, with the torch of the tests' interpreter."""

    def __init__(self, module: Any, monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
        self.module = module
        self.cache = cache
        self.runs = 0
        run = module._run

        def counted(*arguments: Any) -> Any:
            self.runs += 1
            return run(*arguments)

        monkeypatch.setattr(module, "_run", counted)

    def extension(self, sources: Sequence[Path], **more: Any) -> Any:
        from dcuop._description import Extension  # pylint: disable=import-outside-toplevel

        return Extension("op", "pybind", [str(path) for path in sources], **more)

    def __call__(self, sources: Sequence[Path], **more: Any) -> Any:
        return self.module.hipify(self.extension(sources, **more), str(self.cache))

    def memos(self) -> List[Path]:
        return sorted((self.cache / "v1" / "memo" / "hipify").iterdir())


@pytest.fixture
def hipify(
    monkeypatch: pytest.MonkeyPatch, torch_dir: Path, cache_dir: Path, dcuop_binary: Path, environment: Dict[str, str]
) -> Hipify:
    monkeypatch.syspath_prepend(str(ROOT / "python"))
    for name, value in {**environment, "DCUOP": str(dcuop_binary)}.items():
        monkeypatch.setenv(name, value)
    from dcuop import _hipify  # pylint: disable=import-outside-toplevel

    monkeypatch.setattr(_hipify, "_torch_dir", lambda: str(torch_dir))
    monkeypatch.setattr(_hipify.tempfile, "tempdir", environment["TMPDIR"])
    return Hipify(_hipify, monkeypatch, cache_dir)


class TestFiles:
    """What is translated, and what it is called."""

    def test_originals_lie_beside_what_was_made_of_them(self, hipify: Hipify, project: Path) -> None:
        made = hipify([project / "binding.cpp", project / "fill.cu"])
        assert made.sources == ["binding_hip.cpp", "fill.hip"]
        assert made.include_dirs == []
        for name, text in PROJECT.items():
            assert made.files[name] == textwrap.dedent(text)
        assert sorted(set(made.files) - set(PROJECT)) == ["binding_hip.cpp", "device/scale_hip.cuh", "fill.hip"]
        assert '#include "device/scale_hip.cuh"' in made.files["fill.hip"]
        assert "hipDeviceSynchronize()" in made.files["device/scale_hip.cuh"]
        assert '#include "answer.h"' in made.files["fill.hip"]

    def test_line_numbers_begin_anew_below_what_hipify_puts_on_top(self, hipify: Hipify, project: Path) -> None:
        (project / "fill.cu").write_text("__global__ void k() {}\n", encoding="utf-8")
        text = hipify([project / "fill.cu"]).files["fill.hip"]
        assert text.endswith('\n#include "hip/hip_runtime.h"\n#line 1 "fill.cu"\n__global__ void k() {}\n')

    def test_names_with_what_hipify_replaces_or_c_escapes(self, hipify: Hipify, tmp_path: Path) -> None:
        name = 'cuda/a"b\\n cuda.cu'
        write(tmp_path / "p", {name: "__global__ void k() {}\n", "x.cu": "__global__ void k() {}\n"})
        made = hipify([tmp_path / "p" / name, tmp_path / "p" / "x.cu"])
        assert made.sources[0] == 'hip/a"b\\n hip.hip'
        assert '#line 1 "cuda/a\\"b\\\\n cuda.cu"\n' in made.files[made.sources[0]]

    def test_headers_beside_above_and_in_skipped_directories(self, hipify: Hipify, tmp_path: Path) -> None:
        write(
            tmp_path,
            {
                "repo/csrc/cuda/op.cu": '#include "../../common/a.cuh"\n#  include "third_party/build/b.cuh"\n',
                "repo/common/a.cuh": '#include "a/deep.cuh"\nint f() { return cudaSuccess; }\n',
                "repo/common/a/deep.cuh": "#pragma once\nint g() { return cudaSuccess; }\n",
                "repo/csrc/cuda/third_party/build/b.cuh": "#include <cuda.h>\n",
                "repo/not_reached.cuh": "#include <cuda.h>\n",
            },
        )
        made = hipify([tmp_path / "repo/csrc/cuda/op.cu"])
        assert made.sources == ["csrc/hip/op.hip"]
        assert '#include "../../common/a_hip.cuh"' in made.files["csrc/hip/op.hip"]
        assert "third_party/build/b.cuh" in made.files["csrc/hip/op.hip"]
        assert "#include <hip/hip_runtime.h>" in made.files["csrc/hip/third_party/build/b.cuh"]
        assert '#include "a/deep_hip.cuh"' in made.files["common/a_hip.cuh"]
        assert not any("not_reached" in name for name in made.files)

    def test_include_directories_elsewhere_get_names_of_their_own(self, hipify: Hipify, tmp_path: Path) -> None:
        write(
            tmp_path,
            {
                "src/op.cu": '#include "one.cuh"\n#include <sub/two.cuh>\n',
                "src/include-1/x": "",
                "one/one.cuh": "#include <cuda.h>\n",
                "two/include/sub/two.cuh": '#include "../../private/three.cuh"\n',
                "two/private/three.cuh": "#include <cuda.h>\n",
                "unused/four.cuh": "",
            },
        )
        dirs = [str(tmp_path / name) for name in ("unused", "one", "two/include")] + ["/usr/include/elsewhere"]
        made = hipify([tmp_path / "src/op.cu"], include_dirs=dirs)
        assert made.include_dirs == ["include-1", "include-2/include", "/usr/include/elsewhere"]
        assert '#include "one_hip.cuh"\n#include <sub/two_hip.cuh>\n' in made.files["op.hip"]
        assert made.files["include-1/one_hip.cuh"].endswith("#include <hip/hip_runtime.h>\n")
        assert '#include "../../private/three_hip.cuh"' in made.files["include-2/include/sub/two_hip.cuh"]
        places = hipify.module.originals(hipify.extension([tmp_path / "src/op.cu"], include_dirs=dirs))
        assert places["include-2/private/three.cuh"] == str(tmp_path / "two/private/three.cuh")

    def test_directories_stay_where_they_are_for_computed_includes(self, hipify: Hipify, tmp_path: Path) -> None:
        write(tmp_path, {"src/op.cu": "#include CHOSEN\n#include <one.h>\n", "lib/one.h": "", "src/chosen.h": ""})
        made = hipify([tmp_path / "src/op.cu"], include_dirs=[str(tmp_path / "lib")])
        assert made.include_dirs == ["include-1", str(tmp_path / "lib"), str(tmp_path / "src")]

    def test_headers_that_include_each_other(self, hipify: Hipify, tmp_path: Path) -> None:
        write(
            tmp_path / "p",
            {
                "op.cu": '#include "a.h"\n',
                "a.h": '#ifndef A\n#define A\n#  include "b.h"\n#endif\n',
                "b.h": '#pragma once\n#include "a.h"\nint b = cudaSuccess;\n',
                "self.cu": '#ifndef S\n#define S\n#include "self.cu"\n#endif\n',
            },
        )
        made = hipify([tmp_path / "p/op.cu", tmp_path / "p/self.cu"])
        assert '#include "a_hip.h"' in made.files["op.hip"]
        assert '#include "b_hip.h"' in made.files["a_hip.h"]
        assert '#include "a_hip.h"\nint b = hipSuccess;' in made.files["b_hip.h"]
        assert '#include "self.hip"' in made.files["self.hip"]

    def test_a_translation_by_hand_is_kept(self, hipify: Hipify, tmp_path: Path) -> None:
        by_hand = "#pragma once\nint by_hand = 1;\n"
        write(
            tmp_path / "p",
            {
                "op.cu": '#ifdef USE_ROCM\n#include "a_hip.cuh"\n#else\n#include "a.cuh"\n#endif\n',
                "a.cuh": "#include <cuda.h>\n",
                "a_hip.cuh": by_hand,
            },
        )
        made = hipify([tmp_path / "p/op.cu"])
        assert made.files["a_hip.cuh"] == by_hand
        assert made.sources == ["op.hip"]
        assert made.files["op.hip"] == '#line 1 "op.cu"\n' + made.files["op.cu"]

    def test_a_translation_from_before_is_made_anew(self, hipify: Hipify, tmp_path: Path) -> None:
        stale = "// !!! This is a file automatically generated by hipify!!!\nint stale;\n"
        write(
            tmp_path / "p",
            {"op.cu": '#include "a.cuh"\n#include "a_hip.cuh"\n', "a.cuh": "#include <cuda.h>\n", "a_hip.cuh": stale},
        )
        made = hipify([tmp_path / "p/op.cu"])
        assert made.files["a_hip.cuh"].endswith('#line 1 "a.cuh"\n#include <hip/hip_runtime.h>\n')

    def test_crlf_and_a_byte_order_mark(self, hipify: Hipify, tmp_path: Path) -> None:
        write(tmp_path, {"a.h": "#define A\n"})
        (tmp_path / "op.cu").write_bytes(b'\xef\xbb\xbf#include "a.h"\r\nint x = cudaSuccess;\r\n')
        text = hipify([tmp_path / "op.cu"]).files["op.hip"]
        assert text.endswith('#line 1 "op.cu"\n#include "a.h"\nint x = hipSuccess;\n')

    def test_nothing_is_said_and_nothing_is_left(
        self, hipify: Hipify, project: Path, environment: Dict[str, str], capfd: pytest.CaptureFixture[str]
    ) -> None:
        hipify([project / "fill.cu"])
        assert capfd.readouterr() == ("", "")
        assert os.listdir(environment["TMPDIR"]) == []


class TestMemo:
    def test_it_answers_until_a_text_changes(self, hipify: Hipify, project: Path) -> None:
        sources = [project / "binding.cpp", project / "fill.cu"]
        first = hipify(sources)
        assert hipify(sources) == first
        assert hipify.runs == 1
        (project / "answer.h").write_text("int answer(); // edited\n", encoding="utf-8")
        assert hipify(sources).files["answer.h"] == "int answer(); // edited\n"
        assert hipify(list(reversed(sources))).sources == ["fill.hip", "binding_hip.cpp"]
        assert hipify.runs == 3

    def test_a_header_that_appears_first_on_the_path_counts(self, hipify: Hipify, tmp_path: Path) -> None:
        write(tmp_path, {"src/op.cu": "#include <x.cuh>\n", "one/y": "", "two/x.cuh": "int two = cudaSuccess;\n"})
        dirs = [str(tmp_path / "one"), str(tmp_path / "two")]
        assert "int two" in hipify([tmp_path / "src/op.cu"], include_dirs=dirs).files["include-1/x_hip.cuh"]
        write(tmp_path, {"one/x.cuh": "int one = cudaSuccess;\n"})
        assert "int one" in hipify([tmp_path / "src/op.cu"], include_dirs=dirs).files["include-1/x_hip.cuh"]

    def test_a_damaged_one_is_none(self, hipify: Hipify, project: Path) -> None:
        right = hipify([project / "fill.cu"])
        (memo,) = hipify.memos()
        content = memo.read_bytes()
        at = content.index(b"hipGetLastError")
        damages = [b"", content[:70], content[:-1], content[:at] + b"X" + content[at + 1 :], b"\xff" * 100, b"{}"]
        for runs, damaged in enumerate(damages, 2):
            memo.write_bytes(damaged)
            assert hipify([project / "fill.cu"]) == right
            assert hipify.runs == runs
            assert memo.read_bytes() == content

    def test_another_hipify_or_rocm_translates_anew(
        self, hipify: Hipify, project: Path, tmp_path: Path, torch_dir: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        hipify([project / "fill.cu"])
        copy = tmp_path / "torch" / "utils" / "hipify"
        shutil.copytree(torch_dir / "utils" / "hipify", copy, ignore=shutil.ignore_patterns("__pycache__"))
        mappings = copy / "cuda_to_hip_mappings.py"
        mappings.write_text(
            mappings.read_text(encoding="utf-8").replace("hipGetLastError", "hipLatest"), encoding="utf-8"
        )
        monkeypatch.setattr(hipify.module, "_torch_dir", lambda: str(tmp_path / "torch"))
        assert "hipLatest" in hipify([project / "fill.cu"]).files["fill.hip"]
        assert hipify.runs == 2
        write(tmp_path, {"rocm/include/rocm_version.h": "#define ROCM_VERSION_MAJOR 6\n"})
        monkeypatch.setenv("ROCM_PATH", str(tmp_path / "rocm"))
        hipify([project / "fill.cu"])
        assert hipify.runs == 3

    def test_a_cache_that_cannot_be_written_is_no_error(self, hipify: Hipify, project: Path) -> None:
        hipify.cache.write_text("no directory", encoding="utf-8")
        assert hipify([project / "fill.cu"]).sources == ["fill.hip"]
        assert hipify([project / "fill.cu"]).sources == ["fill.hip"]
        assert hipify.runs == 2

    def test_the_cache_begins_as_the_program_begins_it(self, hipify: Hipify, project: Path, run: Run) -> None:
        hipify([project / "fill.cu"])
        assert (hipify.cache / "CACHEDIR.TAG").is_file()
        assert hipify.cache.stat().st_mode & 0o777 == 0o700
        (memo,) = hipify.memos()
        os.utime(memo, (1, 1))
        assert run("cache", "prune").rc == 0
        assert not memo.exists()

    def test_where_the_cache_is(self, hipify: Hipify, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def find() -> Optional[str]:
            return hipify.module.cache_directory(os.environ)

        assert find() == str(hipify.cache)
        monkeypatch.delenv("DCUOP_CACHE_DIR")
        assert find() == str(tmp_path / "home/.cache/dcuop")
        monkeypatch.setenv("XDG_CACHE_HOME", "relative")
        assert find() == str(tmp_path / "home/.cache/dcuop")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
        assert find() == str(tmp_path / "xdg/dcuop")
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.delenv("HOME")
        assert find() is None


class TestErrors:
    @pytest.mark.parametrize(
        "content, said",
        [
            (b"int a;\n// caf\xe9\n", "op.cu:2: byte 0xe9 is no UTF-8"),
            (b"int a;\0\n", "op.cu is no text: it has NUL bytes"),
        ],
    )
    def test_a_source_or_header_that_is_no_text(
        self, hipify: Hipify, tmp_path: Path, content: bytes, said: str
    ) -> None:
        import dcuop  # pylint: disable=import-outside-toplevel

        (tmp_path / "op.cu").write_bytes(content)
        with pytest.raises(dcuop.UsageProblem) as raised:
            hipify([tmp_path / "op.cu"])
        assert f"{tmp_path}/{said}" in raised.value.message
        write(tmp_path, {"main.cu": '#include "op.cu"\n'})
        with pytest.raises(dcuop.UsageProblem, match="op.cu"):
            hipify([tmp_path / "main.cu"])

    def test_a_missing_header_is_for_the_compiler(self, hipify: Hipify, tmp_path: Path) -> None:
        write(tmp_path, {"op.cu": '#include "missing.cuh"\n#include <gone.cuh>\n'})
        assert '#include "missing.cuh"\n#include <gone.cuh>\n' in hipify([tmp_path / "op.cu"]).files["op.hip"]

    def test_two_sources_that_become_one(self, hipify: Hipify, tmp_path: Path) -> None:
        import dcuop  # pylint: disable=import-outside-toplevel

        write(tmp_path, {"op.cu": "int a;\n", "op.hip": "int b;\n"})
        with pytest.raises(dcuop.UsageProblem, match="op.hip of op.cu, and the extension has such a file already"):
            hipify([tmp_path / "op.cu", tmp_path / "op.hip"])
        write(tmp_path, {"cuda/op.cu": "int a;\n", "hip/op.cu": "int b;\n"})
        with pytest.raises(dcuop.UsageProblem, match="hip/op.hip of hip/op.cu, and of cuda/op.cu too"):
            hipify([tmp_path / "cuda/op.cu", tmp_path / "hip/op.cu"])

    def test_what_torch_left_beside_the_sources_is_no_second_one(self, hipify: Hipify, project: Path) -> None:
        left = "// !!! This is a file automatically generated by hipify!!!\nint stale;\n"
        write(project, {"binding_hip.cpp": left})
        made = hipify(sorted(project.glob("*.cpp")))
        assert made.sources == ["binding_hip.cpp"]
        assert "stale" not in made.files["binding_hip.cpp"]

    @pytest.mark.parametrize("launch", ["k<<<1, 2();", "k<<<1, 2>>>;", "k<<<1, 2(); /* >>>( */"])
    def test_a_launch_without_an_end(self, hipify: Hipify, tmp_path: Path, launch: str) -> None:
        """hipify 1.0 and 2.0 search for it forever, or fill the memory."""
        import dcuop  # pylint: disable=import-outside-toplevel

        comments = '// a <<< b\nconst char* s = "<<<";\n'
        write(tmp_path, {"op.cu": f"{comments}int a;\n#define X {launch}\n// k<<<"})
        with pytest.raises(dcuop.BuildError) as raised:
            hipify([tmp_path / "op.cu"])
        assert f"{tmp_path}/op.cu:4: error: a kernel launch is not complete" in raised.value.message
        write(tmp_path, {"op.cu": comments})
        assert hipify([tmp_path / "op.cu"]).files["op.hip"] == f'#line 1 "op.cu"\n{comments}'

    def test_hipify_that_fails(
        self, hipify: Hipify, tmp_path: Path, torch_dir: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import dcuop  # pylint: disable=import-outside-toplevel

        def fails(_: str) -> str:
            raise ValueError("the reason")

        implementation = hipify.module._implementation(str(torch_dir / "utils" / "hipify"))
        monkeypatch.setattr(implementation, "hip_header_magic", fails)
        write(tmp_path, {"op.cu": "int a;\n"})
        with pytest.raises(dcuop.BuildError) as raised:
            hipify([tmp_path / "op.cu"])
        assert f"torch's hipify fails on {tmp_path}/op.cu: ValueError: the reason" in raised.value.message
        monkeypatch.undo()

    def test_a_torch_without_hipify(self, hipify: Hipify, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        import dcuop  # pylint: disable=import-outside-toplevel

        write(tmp_path, {"op.cu": "int a;\n", "torch/utils/hipify/__init__.py": ""})
        monkeypatch.setattr(hipify.module, "_torch_dir", lambda: str(tmp_path / "torch"))
        with pytest.raises(dcuop.EnvironmentProblem, match="torch's hipify in .* cannot be used"):
            hipify([tmp_path / "op.cu"])
