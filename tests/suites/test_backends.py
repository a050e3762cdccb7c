"""Several builds of one operator: [build] is HIP's, [backend.host] and [backend.cuda] say what differs."""

from __future__ import annotations

import ctypes
import json
import re
import shutil
from pathlib import Path
from typing import Callable, Dict

import pytest

from conftest import ARCH, HIP_SOURCE, in_python

#: Shared by both builds, with the same flags: one object.
SHARED = """
    #include "value.h"
    extern "C" int value() { return VALUE; }
"""

HOST_SOURCE = """
    #include "value.h"
    extern "C" int scaled(int x) { return x * SCALE * VALUE; }
"""

HOST = """
[backend.host]
sources = ["shared.cpp", "fill_host.cpp"]
"""


def tables(op: Path, text: str) -> Path:
    """The manifest with more tables."""
    manifest = op / "dcuop.toml"
    manifest.write_text(manifest.read_text() + text)
    return op


@pytest.fixture
def op(make_op: Callable[..., Path]) -> Path:
    return tables(
        make_op(
            "fill",
            sources={"shared.cpp": SHARED, "fill.hip": HIP_SOURCE},
            files={
                "fill_host.cpp": HOST_SOURCE,
                "value.h": "#define VALUE 5\n#define SCALE 2\n",
            },
        ),
        HOST,
    )


@pytest.fixture
def light_op(make_op: Callable[..., Path]) -> Path:
    """The same without device code: seconds less."""
    return tables(
        make_op(
            "fill",
            sources={"shared.cpp": SHARED, "fill.cpp": "int fill() { return 1; }\n"},
            files={"fill_host.cpp": HOST_SOURCE, "value.h": "#define VALUE 5\n#define SCALE 2\n"},
        ),
        HOST,
    )


def states(run) -> Dict[str, tuple]:
    listed = run("list", "--json").json["entries"]
    return {entry["facts"]["backend"]: (entry["state"], entry.get("stale_because")) for entry in listed}


class TestHost:
    def test_lies_beside_hip_and_shares_what_is_the_same(self, run, op):
        hip = run("build", op, "--arch", ARCH, "--json")
        assert (hip.op["backend"], hip.op["archs"], hip.op["status"]) == ("hip", [ARCH], "built")
        host = run("build", op, "--backend", "host", "--json")
        assert (host.op["backend"], host.op["archs"], host.op["status"]) == ("host", [], "built")
        assert host.op["reason"] == "first build for host"
        assert [(unit["source"], unit["status"]) for unit in host.op["units"]][1] == ("fill_host.cpp", "compiled")
        assert hip.op["entry"] != host.op["entry"]
        assert ctypes.CDLL(host.op["path"]).scaled(3) == 30
        for arguments in (["--arch", ARCH], ["--backend", "host"]):
            again = run("build", op, *arguments, "--json")
            assert again.op["status"] == "hit" and again.json["processes_started"] == 0
        assert states(run) == {"hip": ("current", None), "host": ("current", None)}
        assert run("clean", "--stale", "--dry-run").stdout == "nothing to remove\n"

    def test_needs_neither_hip_nor_an_arch(self, run, op, tmp_path):
        bare = tmp_path / "bin"
        bare.mkdir()
        for name in ("c++", "ld", "as"):
            (bare / name).symlink_to(f"/usr/bin/{name}")
        result = run("build", op, "--backend", "host", env={"PATH": str(bare), "DCUOP_HIPCC": "/nonexistent/hipcc"})
        assert result.rc == 0, result
        assert result.stderr.startswith("backend host · c++ ")

    def test_is_configured_as_all_else(self, run, light_op, environment):
        assert run("build", light_op, "--json", env={"DCUOP_BACKEND": "host"}).op["backend"] == "host"
        config = Path(environment["HOME"]) / ".config/dcuop/config.toml"
        config.parent.mkdir(parents=True)
        config.write_text('backend = "host"\n')
        assert run("build", light_op, "--json").op["status"] == "hit"
        assert run("key", light_op, "--json").json["ops"][0]["backend"] == "host"
        assert run("config", "backend", "--origin").stdout.rstrip().endswith(f"{config}:1")
        assert run("build", light_op, "--backend", "hip", "--dry-run", "--json").op["backend"] == "hip"

    def test_an_edit_concerns_the_builds_that_read_it(self, run, op):
        run("build", op, "--arch", ARCH)
        run("build", op, "--backend", "host")
        (op / "fill_host.cpp").write_text((op / "fill_host.cpp").read_text() + "// edited\n")
        assert run("build", op, "--arch", ARCH, "--json").op["status"] == "hit"
        edited = run("build", op, "--backend", "host", "--json")
        assert (edited.compiled(), edited.op["reason"]) == (["fill_host.cpp"], "fill_host.cpp changed")
        (op / "value.h").write_text("#define VALUE 7\n#define SCALE 2\n")
        both = [run("build", op, *which, "--json") for which in (["--backend", "host"], ["--arch", ARCH])]
        assert [result.op["reason"] for result in both] == ["value.h changed"] * 2
        # The HIP build's shared.cpp has another flag (the platform's).
        assert [result.compiled() for result in both] == [["fill_host.cpp", "shared.cpp"], ["shared.cpp"]]

    def test_explain_names_the_other_backend(self, run, light_op):
        run("build", light_op)
        text = run("explain", light_op, "--backend", "host").stdout
        assert text.startswith("fill host: would be a miss (nearest entry ")
        assert 'op           backend was "hip", is "host"' in text.splitlines()[1]
        run("build", light_op, "--backend", "host")
        answer = run("explain", light_op, "--backend", "host", "--json").json["ops"][0]
        assert (answer["backend"], answer["status"]) == ("host", "hit")
        (light_op / "fill_host.cpp").write_text("\n" + (light_op / "fill_host.cpp").read_text())
        answer = run("explain", light_op, "--backend", "host", "--json").json["ops"][0]
        assert [difference["name"] for difference in answer["differences"]] == ["fill_host.cpp"]

    def test_forbidden_build_names_the_command(self, run, light_op):
        result = run("build", light_op, "--backend", "host", "--json", env={"DCUOP_BUILD": "never"})
        assert result.rc == 5
        assert result.json["error"]["hint"] == f"dcuop build {light_op} --backend host"


class TestStale:
    def test_an_entry_goes_by_its_own_backend(self, run, light_op):
        run("build", light_op)
        run("build", light_op, "--backend", "host")
        manifest = (light_op / "dcuop.toml").read_text()
        (light_op / "dcuop.toml").write_text(manifest + 'cxx_flags = ["-DX=1"]\n')
        assert states(run) == {
            "hip": ("current", None),
            "host": ("stale", "shared.cpp flags gained -DX=1 and 1 more"),
        }
        (light_op / "dcuop.toml").write_text(manifest.replace(HOST, ""))
        gone = "the op there has no table of its backend any more"
        assert states(run) == {"hip": ("current", None), "host": ("stale", gone)}
        removed = run("clean", "--stale", "--json").json["removed"]
        assert [one["facts"]["backend"] for one in removed if one["kind"] == "entry"] == ["host"]
        assert run("build", light_op, "--json").op["status"] == "hit"

    def test_an_object_of_two_builds_is_kept_for_the_other(self, run, make_op):
        op = tables(make_op("plain", sources={"a.cpp": "int a() { return 1; }\n"}), "[backend.host]\n")
        run("build", op)
        host = run("build", op, "--backend", "host", "--json")
        assert (host.op["status"], host.compiled()) == ("built", [])
        manifest = op / "dcuop.toml"
        manifest.write_text(manifest.read_text().replace("[build]", '[build]\ncxx_flags = ["-DX=1"]') + "cxx_flags = []\n")
        removed = run("clean", "--stale", "--json").json["removed"]
        assert [(one["kind"], one["facts"]["backend"]) for one in removed] == [("entry", "hip")]
        assert run("build", op, "--backend", "host", "--json").op["status"] == "hit"


class TestErrors:
    def test_unknown_backend(self, run, op):
        result = run("build", op, "--backend", "hots")
        assert result.rc == 2
        assert "--backend must be one of hip, host, cuda, not 'hots'; did you mean 'host'?" in result.stderr
        result = run("build", op, env={"DCUOP_BACKEND": "musa"})
        assert result.rc == 2 and "DCUOP_BACKEND must be one of hip, host, cuda, not 'musa'" in result.stderr

    def test_backend_that_the_op_has_not(self, run, op):
        result = run("build", op, "--backend", "cuda")
        assert result.rc == 2
        assert "ops/fill/dcuop.toml:1:1: error: the op has no [backend.cuda]; it is built for hip, host" in result.stderr

    def test_device_code_in_a_host_build(self, run, op):
        manifest = op / "dcuop.toml"
        manifest.write_text(manifest.read_text().replace('sources = ["shared.cpp", "fill_host.cpp"]\n', ""))
        result = run("build", op, "--backend", "host")
        assert result.rc == 2
        assert "ops/fill/dcuop.toml:6:26: error: source 'fill.hip' is device code" in result.stderr


class TestPython:
    def test_load_op(self, op, environment, dcuop_binary):
        code = """
            import sys, dcuop
            library = dcuop.load_op(sys.argv[1], backend="host")
            assert library.scaled(1) == 10
            assert dcuop.load_op(sys.argv[1], backend="host") is library
            try:
                dcuop.load_op(sys.argv[1], backend="musa")
            except dcuop.UsageProblem as error:
                assert "must be one of hip, host, cuda" in str(error), error
            try:
                dcuop.load_op(sys.argv[1], backend=1)
            except TypeError as error:
                print(error)
        """
        done = in_python(code, {**environment, "DCUOP": str(dcuop_binary)}, op)
        assert done.returncode == 0, done.stderr
        assert done.stdout == "load_op: backend must be a str or None, not int\n"

    def test_build_from_a_program_knows_its_backend(self, run, op, environment, tmp_path):
        program = tmp_path / "train.py"
        program.write_text(f"import dcuop\nop = dcuop.load_op({str(op)!r}, backend='host')\n")
        env = {"PYTHONPATH": str(Path(__file__).resolve().parents[2] / "python")}
        result = run("build", "--from", program, "--json", env=env)
        assert result.rc == 0, result
        assert (result.op["backend"], result.op["name"]) == ("host", "fill")

    def test_a_described_op_has_one_build(self, run, op, tmp_path):
        described = {
            "ops": [{"label": "t.py:1", "directory": str(op), "op": {"name": "x", "kind": "plain"},
                     "build": {"sources": ["shared.cpp"]}}]
        }
        file = tmp_path / "ops.json"
        file.write_text(json.dumps(described))
        assert run("build", "--from", file, "--json", env={"DCUOP_BACKEND": "host"}).op["backend"] == "hip"
        result = run("build", "--from", file, "--backend", "host")
        assert result.rc == 2 and "only ops with a dcuop.toml" in result.stderr


# CUDA ---------------------------------------------------------------------------------------------------------

NVCC = shutil.which("nvcc", path="/usr/local/cuda/bin:/usr/bin:/usr/local/bin")

needs_nvcc = pytest.mark.skipif(NVCC is None, reason="no nvcc on PATH or in /usr/local/cuda/bin")

CUDA_SOURCE = """
    #ifdef __CUDA_ARCH__
    #include "device.h"
    #else
    #include "host.h"
    #endif
    __global__ void fill(float* y, int n) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
    #ifdef __CUDA_ARCH__
      if (i < n) { y[i] = DEVICE_VALUE; }
    #endif
    }
    extern "C" int launch(float* y, int n) {
      fill<<<1, 64>>>(y, n);
      return cudaGetLastError();
    }
    #ifndef __CUDA_ARCH__
    extern "C" int value() { return HOST_VALUE; }
    #endif
"""

CUDA = """
[backend.cuda]
sources = ["shared.cpp", "fill.cu"]
archs = ["sm_80", "sm_90"]
"""


@pytest.fixture
def cuda_op(make_op: Callable[..., Path]) -> Path:
    """It has no HIP sources: what nvcc is asked shows alone."""
    return tables(
        make_op(
            "fill",
            sources={"shared.cpp": "#include <cuda_runtime.h>\nint version() { return CUDART_VERSION; }\n"},
            files={"fill.cu": CUDA_SOURCE, "device.h": "#define DEVICE_VALUE 3.0f\n", "host.h": "#define HOST_VALUE 4\n"},
            build={"archs": []},
        ),
        CUDA,
    )


def cuda(run, op: Path, *arguments, **kwargs):
    return run("build", op, "--backend", "cuda", *arguments, "--json", **kwargs)


@needs_nvcc
class TestCuda:
    def test_build_hit_and_what_each_pass_reads(self, run, cuda_op, tmp_path):
        first = cuda(run, cuda_op, "--arch", "sm_90")
        assert (first.op["status"], first.op["backend"], first.op["archs"]) == ("built", "cuda", ["sm_90"]), first
        assert first.op["cached"] and first.compiled() == ["fill.cu", "shared.cpp"]
        assert first.stderr.startswith("backend cuda · arch sm_90 (--arch) · nvcc ")
        assert ctypes.CDLL(first.op["path"]).value() == 4, "libcudart is found by its RUNPATH"
        again = cuda(run, cuda_op, "--arch", "sm_90")
        assert (again.op["status"], again.json["processes_started"]) == ("hit", 0)
        moved = tmp_path / "elsewhere" / "fill"
        shutil.copytree(cuda_op, moved)
        assert cuda(run, moved, "--arch", "sm_90").op["entry"] == first.op["entry"]
        for header, text in (("device.h", "#define DEVICE_VALUE 5.0f\n"), ("host.h", "#define HOST_VALUE 6\n")):
            (cuda_op / header).write_text(text)
            edited = cuda(run, cuda_op, "--arch", "sm_90")
            assert (edited.compiled(), edited.op["reason"]) == (["fill.cu"], f"{header} changed"), edited
        assert ctypes.CDLL(edited.op["path"]).value() == 6
        (cuda_op / "device.h").write_text("#define DEVICE_VALUE 3.0f\n")
        (cuda_op / "host.h").write_text("#define HOST_VALUE 4\n")
        assert cuda(run, cuda_op, "--arch", "sm_90").op["entry"] == first.op["entry"]
        assert states(run)["cuda"] == ("current", None)
        inspected = run("inspect", first.op["path"], "--json")
        assert inspected.rc == 0 and inspected.json["file"]["has_cuda_fatbin"]
        assert "DCU306" in run("doctor", first.op["path"]).stdout, "a CUDA build, and no fault of reading it"

    def test_untraced(self, run, cuda_op):
        env = {"DCUOP_TRACE": "never"}
        assert cuda(run, cuda_op, "--arch", "sm_80,sm_90", env=env).op["cached"]
        assert cuda(run, cuda_op, "--arch", "sm_90,sm_80", env=env).op["status"] == "hit"
        for header in ("device.h", "host.h"):
            with (cuda_op / header).open("a") as file:
                file.write("// edited\n")
            result = cuda(run, cuda_op, "--arch", "sm_80,sm_90", "--dry-run", env=env)
            assert result.op["reason"] == f"{header} changed"
            (cuda_op / header).write_text((cuda_op / header).read_text().replace("// edited\n", ""))
        (cuda_op / "cuda_fp16.h").touch()  # a name that no include asks for here
        assert cuda(run, cuda_op, "--arch", "sm_80,sm_90", env=env).op["status"] == "hit"

    def test_an_error_has_its_place_and_a_reason(self, run, cuda_op):
        with (cuda_op / "fill.cu").open("a") as file:
            file.write("int broken() { return missing; }\n")
        result = run("build", cuda_op, "--backend", "cuda", "--arch", "sm_90")
        assert result.rc == 1
        assert "fill.cu (sm_90)" in result.stderr
        assert re.search(r'ops/fill/fill\.cu\(\d+\): error: identifier "missing" is undefined', result.stderr), result

    def test_archs(self, run, cuda_op, tmp_path):
        def asked(*arguments, **env):
            return run("key", cuda_op, "--backend", "cuda", *arguments, "--json", env={"PATH": "/usr/bin:/bin", **env})

        def archs(*arguments, **env):
            return asked(*arguments, **env).json["ops"][0]["archs"]

        def error(*arguments, **env):
            result = asked(*arguments, **env)
            return result.rc, result.json["error"]["message"]

        assert error() == (
            3, "no CUDA arch: no --arch, no DCUOP_ARCH, no device visible (nvidia-smi is not on PATH)")
        assert error("--arch", "sm_9O") == (2, "'sm_9O' (--arch) is no arch of nvcc; did you mean 'sm_90'?")
        assert error(DCUOP_ARCH="gfx906")[0] == 2
        assert error("--arch", "sm_75") == (2, "fill does not support sm_75 (--arch); it supports sm_80, sm_90")
        manifest = cuda_op / "dcuop.toml"
        text = manifest.read_text()
        manifest.write_text(text.replace('["sm_80", "sm_90"]', '["sm_90a", "compute_75", "compute_80", "sm_86", "sm_20"]'))
        assert re.fullmatch(r"nvcc [\d.]+ cannot compile for sm_20", error("--arch", "sm_20")[1])
        # No GPU is here: the answers of nvidia-smi are written down.
        smi = tmp_path / "smi" / "nvidia-smi"
        smi.parent.mkdir()
        for capability, chosen in (("9.0", "sm_90a"), ("8.9", "sm_86"), ("12.0", "compute_80"), ("7.5", "compute_75")):
            smi.write_text(f"#!/bin/sh\necho {capability}\n")
            smi.chmod(0o755)
            assert archs(PATH=f"{smi.parent}:/usr/bin:/bin") == [chosen]
        assert archs(DCUOP_ARCH="compute_80") == ["compute_80"]
        manifest.write_text(text.replace('["sm_80", "sm_90"]', '["sm_90"]'))
        assert archs() == ["sm_90"], "the only one"

    def test_the_toolkit_is_known_by_content(self, run, cuda_op, tmp_path):
        root = Path(NVCC).resolve().parents[1]
        home = tmp_path / "cuda"
        (home / "bin").mkdir(parents=True)
        for name in ("nvvm", "targets", "include", "lib"):
            if (root / name).exists():
                (home / name).symlink_to(root / name)
        for program in (root / "bin").iterdir():
            (home / "bin" / program.name).symlink_to(program)
        profile = home / "bin" / "nvcc.profile"
        text = profile.read_text()
        profile.unlink()
        profile.write_text(text)
        env = {"CUDA_HOME": str(home)}

        def components():
            answer = run("key", cuda_op, "--backend", "cuda", "--arch", "sm_90", "--json", env=env)
            assert answer.json["ops"][0]["uncacheable"] == []
            return {(one["group"], one["name"], one["digest"]) for one in answer.json["ops"][0]["components"]}

        before = components()
        names = {name for group, name, _ in before if group in ("toolchain", "bitcode")}
        assert names >= {"driver nvcc", "script nvcc.profile", "compiler cicc", "compiler cudafe++", "assembler ptxas",
                         "tool fatbinary", "bitcode libdevice.10.bc", "compiler cc1plus", "host compiler called"}
        profile.write_text(text + "\nCUDAFE_FLAGS += --diag_suppress=1\n")
        changed = {name for _, name, _ in components() ^ before}
        assert changed == {"script nvcc.profile"}
        manifest = cuda_op / "dcuop.toml"
        manifest.write_text(manifest.read_text() + 'cuda_flags = ["-Xcompiler=-march=native"]\n')
        assert "fill.cu native" in {name for _, name, _ in components()}, "this processor is in the key"

    def test_nothing_of_the_op_reaches_a_shell(self, run, cuda_op, tmp_path):
        odd = tmp_path / "$(touch pwned)"
        shutil.copytree(cuda_op, odd)
        result = run("build", odd, "--backend", "cuda", "--arch", "sm_90")
        assert result.rc == 2 and "nvcc would hand" in result.stderr
        result = run("build", cuda_op, "--backend", "cuda", "--arch", "sm_90", "--cache-dir", tmp_path / "`touch pwned`")
        assert result.rc == 3 and "choose another cache" in result.stderr
        spaces = tmp_path / "a directory (new); & more"
        shutil.copytree(cuda_op, spaces)
        assert cuda(run, spaces, "--arch", "sm_90").op["status"] == "built"
        assert not list(tmp_path.rglob("pwned"))


class TestNvccOfTheUser:
    def test_missing(self, run, cuda_op):
        env = {"DCUOP_NVCC": "/nonexistent/nvcc"}
        result = run("build", cuda_op, "--backend", "cuda", "--arch", "sm_90", env=env)
        assert result.rc == 3
        assert "DCUOP_NVCC=/nonexistent/nvcc is not a program that can be run" in result.stderr

    @pytest.mark.parametrize("name, arguments", [("nvcc", ["--backend", "cuda", "--arch", "sm_90"]), ("hipcc", ["--arch", ARCH])])
    def test_config_toml_names_compilers(self, run, op, environment, name, arguments):
        tables(op, '[backend.cuda]\nsources = ["fill.cu"]\narchs = ["sm_90"]\n')
        (op / "fill.cu").write_text("")
        config = Path(environment["HOME"]) / ".config/dcuop/config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(f'{name} = "/nonexistent/{name}"\n')
        result = run("build", op, *arguments)
        assert result.rc == 3
        assert f"/nonexistent/{name} is not a program that can be run" in result.stderr

    def test_a_cpu_torch_is_refused_unless_allowed(self, run, cuda_op):
        manifest = cuda_op / "dcuop.toml"
        text = manifest.read_text().replace('abi = "none"', 'abi = "torch"')
        manifest.write_text(text.replace("allow_cpu_torch = true", "allow_cpu_torch = false"))
        result = run("key", cuda_op, "--backend", "cuda", "--arch", "sm_90")
        assert result.rc == 3
        assert "CPU-only build, and fill has CUDA sources" in result.stderr
