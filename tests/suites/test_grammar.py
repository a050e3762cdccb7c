"""script/grammar: what is compiled into the program is what the hash says, wherever it comes from; no test asks a network."""

from __future__ import annotations

import hashlib
import io
import os
import re
import subprocess
import tarfile
from pathlib import Path
from typing import Dict

import pytest

from conftest import PYTHON, ROOT

SCRIPT = ROOT / "script" / "grammar"
ARCHIVE = "tree_sitter_cpp-0.23.4.tar.gz"
FILES = {"LICENSE": "the license\n", "src/parser.c": "int parser;\n", "src/scanner.c": "int scanner;\n"}


def make_archive(path: Path) -> str:
    """A small one of the same layout; its hash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, text in FILES.items():
            member = tarfile.TarInfo(f"tree_sitter_cpp-0.23.4/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return hashlib.sha256(path.read_bytes()).hexdigest()


def grammar(script: Path, directory: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    environment: Dict[str, str] = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    environment.update(PATH="/usr/bin:/bin", PIP_NO_INDEX="1", DCUOP_PIP_PYTHON=PYTHON, PIP_CONFIG_FILE=os.devnull, **variables)
    return subprocess.run(
        [str(script), str(directory)], env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def holds(directory: Path) -> Dict[str, str]:
    return {str(path.relative_to(directory)): path.read_text(encoding="utf-8") for path in directory.rglob("*") if path.is_file()}


@pytest.fixture
def expecting(tmp_path: Path):
    """The script as if `digest` were the pinned hash."""

    def make(digest: str) -> Path:
        text, count = re.subn(r"^sha256=\w+$", f"sha256={digest}", SCRIPT.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert count == 1
        script = tmp_path / "grammar.sh"
        script.write_text(text, encoding="utf-8")
        script.chmod(0o755)
        return script

    return make


def test_without_a_network_it_says_what_to_put_where(tmp_path):
    answer = grammar(SCRIPT, tmp_path / "out")
    assert answer.returncode == 3
    (line,) = [line for line in answer.stderr.splitlines() if line.startswith("grammar: ")]
    assert f"put {ARCHIVE} from https://pypi.org/project/tree-sitter-cpp/0.23.4/#files into {tmp_path / 'out'}" in line
    assert holds(tmp_path / "out") == {}


def test_an_archive_with_another_hash_is_not_opened(tmp_path):
    make_archive(tmp_path / "index" / ARCHIVE)
    answer = grammar(SCRIPT, tmp_path / "out", PIP_FIND_LINKS=str(tmp_path / "index"))
    assert answer.returncode == 3
    assert "DO NOT MATCH THE HASHES" in answer.stderr and "cannot fetch" in answer.stderr
    assert holds(tmp_path / "out") == {}


def test_one_that_was_put_there_by_hand_is_compared_too(tmp_path):
    make_archive(tmp_path / "out" / ARCHIVE)
    before = (tmp_path / "out" / ARCHIVE).read_bytes()
    assert grammar(SCRIPT, tmp_path / "out").returncode == 3
    assert [path.name for path in (tmp_path / "out").iterdir()] == [ARCHIVE]
    assert (tmp_path / "out" / ARCHIVE).read_bytes() == before


def test_the_right_one_is_unpacked_and_not_asked_for_again(tmp_path, expecting):
    out = tmp_path / "out"
    script = expecting(make_archive(out / ARCHIVE))
    assert grammar(script, out).returncode == 0
    (out / ARCHIVE).unlink()
    assert holds(out) == FILES
    again = grammar(script, out)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    (out / "src" / "parser.c").unlink()  # as if it had been killed before its last step
    assert grammar(script, out).returncode == 3


def test_what_the_build_uses_is_the_pinned_version():
    parser = (ROOT / "build" / "grammar" / "src" / "parser.c").read_bytes()
    assert hashlib.sha256(parser).hexdigest() == "2a35a43b4af6c9f7b69624ac00c2c50808912591450dc79c05dea03ac1bae814"
