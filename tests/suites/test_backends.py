"""Several builds of one operator: [build] is HIP's, [backend.host] and [backend.cuda] say what differs."""

from __future__ import annotations

import ctypes
import json
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

    def test_is_configured_as_all_else(self, run, op, environment):
        assert run("build", op, "--json", env={"DCUOP_BACKEND": "host"}).op["backend"] == "host"
        config = Path(environment["HOME"]) / ".config/dcuop/config.toml"
        config.parent.mkdir(parents=True)
        config.write_text('backend = "host"\n')
        assert run("build", op, "--json").op["status"] == "hit"
        assert run("key", op, "--json").json["ops"][0]["backend"] == "host"
        assert run("config", "backend", "--origin").stdout.rstrip().endswith(f"{config}:1")
        assert run("build", op, "--backend", "hip", "--arch", ARCH, "--dry-run", "--json").op["backend"] == "hip"

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

    def test_explain_names_the_other_backend(self, run, op):
        run("build", op, "--arch", ARCH)
        text = run("explain", op, "--backend", "host").stdout
        assert text.startswith("fill host: would be a miss (nearest entry ")
        assert 'op           backend was "hip", is "host"' in text.splitlines()[1]
        run("build", op, "--backend", "host")
        answer = run("explain", op, "--backend", "host", "--json").json["ops"][0]
        assert (answer["backend"], answer["status"]) == ("host", "hit")
        (op / "fill_host.cpp").write_text("\n" + (op / "fill_host.cpp").read_text())
        answer = run("explain", op, "--backend", "host", "--json").json["ops"][0]
        assert [difference["name"] for difference in answer["differences"]] == ["fill_host.cpp"]

    def test_forbidden_build_names_the_command(self, run, op):
        result = run("build", op, "--backend", "host", "--json", env={"DCUOP_BUILD": "never"})
        assert result.rc == 5
        assert result.json["error"]["hint"] == f"dcuop build {op} --backend host"


class TestStale:
    def test_an_entry_goes_by_its_own_backend(self, run, op):
        run("build", op, "--arch", ARCH)
        run("build", op, "--backend", "host")
        manifest = (op / "dcuop.toml").read_text()
        (op / "dcuop.toml").write_text(manifest + 'cxx_flags = ["-DX=1"]\n')
        assert states(run) == {
            "hip": ("current", None),
            "host": ("stale", "shared.cpp flags gained -DX=1 and 1 more"),
        }
        (op / "dcuop.toml").write_text(manifest.replace(HOST, ""))
        gone = "the op there has no table of its backend any more"
        assert states(run) == {"hip": ("current", None), "host": ("stale", gone)}
        removed = run("clean", "--stale", "--json").json["removed"]
        assert [one["facts"]["backend"] for one in removed if one["kind"] == "entry"] == ["host"]
        assert run("build", op, "--arch", ARCH, "--json").op["status"] == "hit"

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
