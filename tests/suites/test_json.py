"""docs/json.md names the keys that the program gives; --sarif is what SARIF 2.1.0 wants."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Dict, Set

import pytest

from conftest import ROOT
from test_machine import compile_library

TABLE = re.compile(r"^\| (`[^|]*`)?\s*\| *\|\n\|---\|---\|\n((?:\|.*\n)+)", re.MULTILINE)
WORD = re.compile(r"`([a-z_]+)(?:\[\])?`")


def section(command: str) -> str:
    text = (ROOT / "docs/json.md").read_text(encoding="utf-8")
    found = re.search(rf"^## `{re.escape(command)}`\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"docs/json.md has no section {command}"
    return found[1]


def tables(command: str) -> Dict[str, Set[str]]:
    """Of each table what its first column names: "" for the answer itself, "findings" for one of `findings[]`."""
    return {
        (title or "").strip("`.[]"): {
            word for row in rows.splitlines() for word in WORD.findall(row.split("|")[1])
        }
        for title, rows in TABLE.findall(section(command))
    }


def braces(command: str) -> Set[str]:
    return set(re.findall(r'"([a-z_]+)"', re.search(r"`\{(.*?)\}`", section(command))[1]))


def keys(document) -> Set[str]:
    return set(document)


@pytest.fixture
def broken(tmp_path) -> Path:
    return compile_library(tmp_path / "broken.so", "void elsewhere(void); void f(void) { elsewhere(); }")


@pytest.fixture
def sleeper():
    process = subprocess.Popen([sys.executable, "-c", "print(flush=True); input()"], stdin=-1, stdout=-1)
    process.stdout.readline()
    yield process
    process.communicate(b"\n")


class TestDocumentedKeys:
    FILE = "dcuop doctor [OP or FILE.so] --json"

    def test_doctor(self, run, broken):
        answer = run("doctor", broken, "--json", "--arch", "gfx906").json
        named = tables(self.FILE)
        assert keys(answer) == named[""] | {"schema"}
        assert answer["verdict"] == "does_not_load" and answer["findings"]
        for finding in answer["findings"]:
            assert keys(finding) == named["findings"]
            assert all(keys(row) == {"label", "text"} for row in finding["evidence"])
        assert all(keys(fact) == {"name", "value", "origin"} for fact in answer["facts"])
        assert keys(answer["counts"]) == {"error", "warning", "note"}
        assert answer["counts"]["error"] == sum(one["severity"] == "error" for one in answer["findings"])
        assert keys(run("doctor", "--json").json) == keys(answer)

    def test_doctor_of_a_process(self, run, broken, sleeper):
        named = tables("dcuop doctor --pid PID [FILE.so] --json")[""] | {"schema"}
        alone = run("doctor", "--pid", str(sleeper.pid), "--json").json
        assert keys(alone) == named and alone["verdict"] == "process" and alone["diagnosis"] is None
        assert keys(alone["process"]) == {
            "pid", "command_line", "executable", "user", "state", "other_mounts",
        }
        assert keys(alone["loaded"][0]) == {
            "path", "soname", "device", "inode", "on_disk", "module", "targets",
        }
        with_file = run("doctor", "--pid", str(sleeper.pid), broken, "--json").json
        assert keys(with_file) == named
        assert keys(with_file["diagnosis"]) == tables(self.FILE)[""] | {"schema"}

    def test_doctor_of_a_message(self, run, broken, tmp_path):
        named = tables("dcuop doctor --message FILE [FILE.so] --json")[""] | {"schema"}
        message = tmp_path / "message"
        message.write_text("ImportError: /nowhere/x.so: undefined symbol: _ZN3c104testEv\n")
        answer = run("doctor", "--message", message, "--json").json
        assert keys(answer) == named and answer["diagnosis"] is None and answer["claim_holds"] is None
        assert keys(answer["clues"][0]) == {"rule", "file", "says", "name", "detail", "line", "ranks"}
        message.write_text(f"ImportError: {broken}: undefined symbol: elsewhere\n")
        here = run("doctor", "--message", message, "--json").json
        assert keys(here) == named and here["file_is_here"] and here["claim_holds"] is True
        assert here["diagnosis"]["verdict"] == "does_not_load"

    def test_doctor_of_torchs_cache(self, run, tmp_path):
        entry = tmp_path / "extensions/py311_cpu/half"
        entry.mkdir(parents=True)
        (entry / "build.ninja").write_text("")
        answer = run("doctor", "--torch-extensions", "--json", env={"TORCH_EXTENSIONS_DIR": str(tmp_path / "extensions")})
        assert keys(answer.json) == braces("dcuop doctor --torch-extensions --json"), str(answer)
        assert keys(answer.json["entries"][0]) == {"directory", "name", "tag"}

    def test_env(self, run):
        saved = ROOT / "tests/corpus/rocminfo/two_hcu.txt"
        answer = run("env", "--json", "--rocminfo", saved).json
        assert keys(answer) == braces("dcuop env --json")
        text = section("dcuop env --json")
        for agent in answer["rocminfo"]["agents"]:
            assert keys(agent) <= set(WORD.findall(text)), agent
        assert keys(answer["rocminfo"]) == {"runtime_version", "problem", "agents"}

    def test_inspect(self, run, broken):
        one = run("inspect", broken, "--json").json
        assert keys(one) == braces("dcuop inspect FILE --json") - {"launch"}
        assert keys(one["file"]) == tables("dcuop inspect FILE --json")["file"]
        two = run("inspect", broken, broken, "--json").json
        assert keys(two) == braces("dcuop inspect OLD NEW --json")
        assert keys(two["comparison"]) == tables("dcuop inspect OLD NEW --json")["comparison"]


class TestSarif:
    """https://docs.oasis-open.org/sarif/sarif/v2.1.0/: what it requires, and what readers of it rely on."""

    def check(self, log) -> list:
        assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json")
        (sarif_run,) = log["runs"]
        driver = sarif_run["tool"]["driver"]
        assert driver["name"] == "dcuop" and re.fullmatch(r"\d+\.\d+\.\d+", driver["version"])
        ids = [rule["id"] for rule in driver["rules"]]
        assert len(ids) == len(set(ids)) and "DCU210" in ids
        for rule in driver["rules"]:
            assert rule["shortDescription"]["text"] and rule["fullDescription"]["text"] and rule["help"]["text"]
            assert rule["defaultConfiguration"]["level"] in ("error", "warning", "note")
            assert rule.get("helpUri", "https://").startswith("https://")
        assert sarif_run["invocations"] == [{"executionSuccessful": True}]
        for result in sarif_run["results"]:
            assert result["message"]["text"] and result["level"] in ("error", "warning", "note")
            assert ids[result["ruleIndex"]] == result["ruleId"]
            for location in result.get("locations", []):
                uri = location["physicalLocation"]["artifactLocation"]["uri"]
                assert re.fullmatch(r"file:///(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+", uri), uri
        return sarif_run["results"]

    def test_a_file(self, run, tmp_path):
        (tmp_path / "a b").mkdir()
        file = compile_library(tmp_path / "a b/é.so", "void elsewhere(void); void f(void) { elsewhere(); }")
        answer = run("doctor", file, "--sarif")
        assert answer.rc == 1, str(answer)
        results = self.check(answer.json)
        error = next(one for one in results if one["level"] == "error")
        uri = error["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert uri == file.as_uri() and "elsewhere" in error["message"]["text"]
        findings = run("doctor", file, "--json").json["findings"]
        assert [one["ruleId"] for one in results] == [one["rule"] for one in findings]

    def test_every_form_of_the_doctor(self, run, broken, sleeper, tmp_path):
        message = tmp_path / "message"
        message.write_text(f"ImportError: {broken}: undefined symbol: elsewhere\n")
        rules = {}
        for name, arguments in {
            "file": [broken],
            "process": ["--pid", str(sleeper.pid), broken],
            "message": ["--message", message],
            "cache": ["--torch-extensions"],
            "machine": [],
        }.items():
            answer = run("doctor", *arguments, "--sarif")
            rules[name] = [result["ruleId"] for result in self.check(answer.json)]
            assert answer.rc == run("doctor", *arguments, "--json").rc, name
        own = next(rule for rule in rules["file"] if rule.startswith("DCU2"))
        assert own in rules["process"] and own in rules["message"]

    def test_one_kind_of_answer(self, run, broken):
        for arguments in (["--sarif", "--json"], ["--json", "--sarif"]):
            answer = run("doctor", broken, *arguments)
            assert answer.rc == 2 and "excludes" in answer.stdout + answer.stderr, str(answer)
        assert run("--json", "doctor", broken, "--sarif").rc == 2
