"""The READMEs say only what is there."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import PYTHON, ROOT, copy_op

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


@pytest.mark.parametrize("chinese", sorted((ROOT / "docs").glob("*.zh.md")), ids=lambda path: path.name)
def test_a_chinese_page_has_what_the_english_one_has(chinese):
    english = chinese.with_name(chinese.name.replace(".zh", ""))
    pages = {page: page.read_text(encoding="utf-8") for page in (english, chinese)}
    assert f"\n\n[中文]({chinese.name})\n\n" in pages[english] and f"\n\n[English]({english.name})\n\n" in pages[chinese]
    for start in ("## ", "    ", "| ", "- "):
        sizes = {page.name: len(re.findall(f"^{re.escape(start)}", text, re.MULTILINE)) for page, text in pages.items()}
        assert len(set(sizes.values())) == 1, f"{start!r}: {sizes}"
    links = [{link.replace(".zh", "") for link in re.findall(r"\]\(([^)]+)\)", text)} for text in pages.values()]
    assert links[0] == links[1]
    first_columns = [re.findall(r"^\| (.*?)(?: \||$)", text, re.MULTILINE) for text in pages.values()]
    keys = [[re.findall(r"`[^`]+`|DCU\d+", cell) for cell in column] for column in first_columns]
    assert keys[0] == keys[1]


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.name)
def test_scripts_exist(readme):
    for code in code_of(readme):
        for script in re.findall(r"\bscript/[a-z0-9]+", code):
            assert (ROOT / script).is_file(), script


def sessions(readme: Path) -> "list[tuple[str, list[str]]]":
    """The tour's commands ("$ ..."), each with the output that is shown."""
    found: "list[tuple[str, list[str]]]" = []
    shown: "list[str] | None" = None
    for line in readme.read_text(encoding="utf-8").splitlines():
        if line.startswith("    $ "):
            shown = []
            found.append((line[6:], shown))
        elif line.startswith("    ") and shown is not None:
            shown.append(line[4:])
        else:
            shown = None
    return found


#: What differs from machine to machine: digests, what is left out, the home, counts, times, versions; and blanks.
VARIES = re.compile(r"(?P<digest>\b[0-9a-f]{2}/[0-9a-f]{8}(?=…)|\b[0-9a-f]{8}(?=…))|(?P<rest>[…~])|(?P<number>\b\d[\w.]*)|(?P<blank> +)")
SOMETHING = {"digest": "[0-9a-f/]+", "rest": ".*", "number": r"[\w.+]+(?: \d+s)?", "blank": r"\s+"}


def pattern_of(line: str) -> str:
    pattern, end = "", 0
    for found in VARIES.finditer(line):
        pattern += re.escape(line[end : found.start()]) + SOMETHING[str(found.lastgroup)]
        end = found.end()
    return pattern + re.escape(line[end:])


def test_the_tour_as_it_is_pasted(dcuop_binary, environment, tmp_path):
    """In one shell, in order, in a copy of what of the repository it uses; what is shown is what comes."""
    checkout = tmp_path / "home" / "kernels"
    copy_op(ROOT / "ops", checkout / "ops")
    shutil.copy(ROOT / "dcuop.toml", checkout)
    (checkout / "python").symlink_to(ROOT / "python")
    (checkout / "build" / "release").mkdir(parents=True)
    (checkout / "build" / "release" / "dcuop").symlink_to(dcuop_binary)
    tour = sessions(ROOT / "README.md")
    script = "\n".join(f"{command} 2>&1; echo; echo '=== end'" for command, _ in tour)
    env = {name: value for name, value in environment.items() if name not in ("DCUOP_CACHE_DIR", "DCUOP_PYTHON")}
    env["PATH"] = f"{Path(PYTHON).parent}:{env['PATH']}"
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    done = subprocess.run(
        ["bash", "-c", script], cwd=checkout, env=env, capture_output=True, encoding="utf-8", timeout=300
    )
    outputs = done.stdout.split("=== end\n")
    assert len(outputs) == len(tour) + 1 and done.stderr == "", done.stderr
    for (command, shown), output in zip(tour, outputs):
        for line in shown:
            assert re.search(pattern_of(line.replace("/usr/bin/python3", PYTHON)), output), f"$ {command}\n{output}\n--- is not\n{line}"
        if not shown:
            assert output.strip() == "", f"$ {command}\n{output}"


def test_both_tours_are_one():
    assert sessions(ROOT / "README.zh.md") == sessions(ROOT / "README.md")
    assert len(sessions(ROOT / "README.md")) >= 10
