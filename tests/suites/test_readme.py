"""The READMEs say only what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import ROOT

READMES = [ROOT / "README.md", ROOT / "README.zh.md", ROOT / "CONTRIBUTING.md"]


def code_of(readme: Path) -> "list[str]":
    """Indented lines, and what stands between backquotes."""
    text = readme.read_text(encoding="utf-8")
    indented = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    return indented + re.findall(r"`([^`\n]+)`", text)


def words_after(program: str) -> "set[tuple[Path, str]]":
    pattern = re.compile(rf"(?:^|[\s$;&(]|/){program} ([a-z][a-z0-9-]*)\b")
    return {(readme, word) for readme in READMES for code in code_of(readme) for word in pattern.findall(code)}


def test_each_dcuop_command_exists(run):
    mentioned = words_after("dcuop")
    assert {"build", "doctor", "clean", "explain"} <= {word for _, word in mentioned}
    for readme, command in sorted(mentioned):
        answer = run(command, "--help")
        assert answer.rc == 0, f"{readme.name} mentions `dcuop {command}`\n{answer}"


def test_each_command_of_the_program_is_in_the_readme(run):
    in_help = set(re.findall(r"^  ([a-z]+) +\S", run("--help").stdout, re.MULTILINE))
    assert "build" in in_help, "the help's layout has changed"
    for readme in READMES[:2]:
        text = readme.read_text(encoding="utf-8")
        assert {command for command in in_help if f"dcuop {command}" not in text} == set(), readme.name


def test_each_make_target_exists():
    # Read, not asked of make: even `make --dry-run` runs the lines that hold $(MAKE).
    targets = set(re.findall(r"^([a-z][a-z0-9-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {word for _, word in words_after("make")} <= targets


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.name)
def test_links_lead_to_files(readme):
    links = re.findall(r"\]\(([^)]+)\)", readme.read_text(encoding="utf-8"))
    for link in links:
        if "://" not in link:
            assert (readme.parent / link).exists(), link


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.name)
def test_scripts_exist(readme):
    for code in code_of(readme):
        for script in re.findall(r"\bscript/[a-z0-9]+", code):
            assert (ROOT / script).is_file(), script
