"""Which operator the doctor's fixes name: `dcuop build X` must be a command that builds that file again, or say what
is to be put there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from conftest import CXX_SOURCE, write_op

UNKNOWN = "dcuop build OP   (or install the package's build for this machine)"


def fixes(result):
    assert result.rc == 1, str(result)
    return [finding["fix"] for finding in result.json["findings"] if finding["severity"] == "error"]


def legend(name: str) -> str:
    return f"   (OP: the directory or name of the operator that {name} was built from)"


@pytest.fixture
def empty(tmp_path):
    """empty("scale.so"): a file of no bytes, which does not load."""

    def make(name: str) -> Path:
        path = tmp_path / "files" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")
        return path

    return make


@pytest.fixture
def scale(make_op, run) -> Path:
    """An op that is in the cache, its artifact cut down to nothing; the artifact's path."""
    path = Path(run("build", make_op("scale"), "--json").op["path"])
    path.chmod(0o644)
    path.write_bytes(b"")
    return path


def test_of_an_op_what_was_asked_for(run, scale, tmp_path):
    assert fixes(run("doctor", "scale", "--json", cwd=tmp_path / "ops")) == ["dcuop build scale"]
    assert fixes(run("doctor", "ops/scale", "--json")) == ["dcuop build ops/scale"]


def test_of_a_file_of_the_cache_by_its_manifest(run, scale, tmp_path):
    shutil.copytree(tmp_path / "cache", tmp_path / "other cache")
    directory = tmp_path / "ops" / "scale"
    of_another_cache = tmp_path / "other cache" / scale.relative_to(tmp_path / "cache")
    link = tmp_path / "renamed.so"
    link.symlink_to(scale)
    for path in (scale, of_another_cache, link):
        assert fixes(run("doctor", path, "--json")) == [f"dcuop build {directory}"]
        assert fixes(run("doctor", path, "--json", cwd=tmp_path / "ops")) == ["dcuop build scale"]
    directory.rename(tmp_path / "elsewhere")
    assert fixes(run("doctor", scale, "--json")) == [UNKNOWN + legend("scale.so")]


def test_of_a_lone_file_by_its_name(run, scale, empty, tmp_path):
    directory = tmp_path / "ops" / "scale"
    for name in ("scale.so", "scale.cpython-311-x86_64-linux-gnu.so"):
        alone = empty(name)
        assert fixes(run("doctor", alone, "--json", cwd=directory.parent)) == ["dcuop build scale"]
        assert fixes(run("doctor", alone, "--json")) == [f"dcuop build {directory}"], "the cache knows where it is"
        assert fixes(run("doctor", alone, "--json", env={"DCUOP_CACHE_DIR": str(tmp_path / "c2")})) == [
            UNKNOWN + legend(name)
        ]
    inside = directory / "scale.so"
    inside.write_bytes(b"")
    assert fixes(run("doctor", inside, "--json", env={"DCUOP_CACHE_DIR": str(tmp_path / "c2")})) == [
        f"dcuop build {directory}"
    ]


def test_of_a_lone_file_that_nobody_knows(run, empty):
    assert fixes(run("doctor", empty("fused.so"), "--json")) == [UNKNOWN + legend("fused.so")]
    chinese = run("doctor", empty("fused.so"), "--lang", "zh").stdout
    assert "dcuop build OP   （或安装该软件包面向本机的版本）   （OP：编译出 fused.so 的算子的目录或名称）" in chinese


def test_of_a_name_that_two_directories_have(run, empty, tmp_path):
    for place in ("one", "two"):
        assert run("build", write_op(tmp_path / place / "scale")).rc == 0
    assert fixes(run("doctor", empty("scale.so"), "--json")) == [UNKNOWN + legend("scale.so")]


def test_of_an_op_that_a_program_described(run, tmp_path):
    program = tmp_path / "my train.py"
    program.write_text("")
    op = {"name": "ext", "kind": "plain", "abi": "none"}
    described = {"label": f"{program}:3", "files": {"op.cpp": CXX_SOURCE}, "op": op, "build": {"sources": ["op.cpp"]}}
    (tmp_path / "ops.json").write_text(json.dumps({"ops": [described]}))
    path = Path(run("build", "--from", tmp_path / "ops.json", "--json").op["path"])
    path.chmod(0o644)
    path.write_bytes(b"")
    assert fixes(run("doctor", path, "--json")) == [f"dcuop build --from '{program}'"]
    program.unlink()
    assert fixes(run("doctor", path, "--json")) == [UNKNOWN + legend("ext.so")]


def test_of_a_message(run, make_op, tmp_path):
    log = tmp_path / "log"
    log.write_text("ImportError: /there/scale.so: version `GLIBC_2.99' not found (required by /there/scale.so)\n")
    make_op("scale")
    advice = "build it on a machine with that glibc or an older one (a container): dcuop build "
    assert fixes(run("doctor", "--message", log, "--json", cwd=tmp_path / "ops")) == [advice + "scale"]
    assert fixes(run("doctor", "--message", log, "--json")) == [advice + "OP" + legend("scale.so")]


def test_a_rules_text_says_what_OP_stands_for(run):
    assert "  OP: the operator's directory, or its name in the workspace\n" in run("rule", "DCU301").stdout
    assert "OP：算子的目录" in run("rule", "DCU301", "--lang", "zh").stdout
    assert "OP: " not in run("rule", "DCU401").stdout
