"""dcuop superkernel plan: the planner is tested by tests/unit/superkernel; this is the command around it, and its pages."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conftest import ROOT

EXAMPLE = ROOT / "docs" / "superkernel.example.toml"

TWO = """
backend = "ge"
options = "{options}"
platform = {{ product = "A3", aic = 24, aiv = 48 }}
[[operator]]
name = "hc_pre"
kernel_type = "MIX_AIV_1_0"
block_num = 20
sync = {{ all = "plain" }}
[[operator]]
name = "add_c"
kernel_type = "AIV_ONLY"
block_num = 48
"""


@pytest.fixture
def scope(tmp_path: Path):
    def write(text: str = TWO, **values: str) -> Path:
        path = tmp_path / "scope.toml"
        path.write_text(text.format(**{"options": "", **values}) if values or text is TWO else text, encoding="utf-8")
        return path

    return write


def transcript(page: Path):
    """The commands of a page, each with the lines that it says they print."""
    steps = []
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("    $ "):
            steps.append((line[6:], []))
        elif line.startswith("    ") and steps and steps[-1][1] is not None:
            steps[-1][1].append(line[4:])
        elif line and steps and steps[-1][1] is not None:
            steps[-1] = (steps[-1][0], tuple(steps[-1][1]))
            steps.append(("", None))
    return [(command, list(said)) for command, said in steps if command]


@pytest.mark.parametrize("page", ["superkernel.md", "superkernel.zh.md"])
def test_the_tutorial_is_what_happens(run, tmp_path, page):
    (tmp_path / "docs").mkdir()
    shutil.copy(EXAMPLE, tmp_path / "docs")
    codes = []
    for command, said in transcript(ROOT / "docs" / page):
        if command.startswith("dcuop "):
            answer = run(*shlex.split(command)[1:])
            assert answer.stdout.splitlines() == said, answer
            codes.append(answer.rc)
        else:
            assert command.startswith("sed ") and not said
            subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    assert codes == [1, 1, 0], "broken, half mended, mended"
    language = ".zh" if ".zh." in page else ""
    for name in ("broken", "mended"):
        shown = f"superkernel-{name}{language}.svg"
        assert (tmp_path / f"{name}.svg").read_bytes() == (ROOT / "docs" / shown).read_bytes()
        assert f"]({shown})" in (ROOT / "docs" / page).read_text(encoding="utf-8")


def test_json_says_who_hangs_and_what_mends_it(run, scope):
    answer = run("superkernel", "plan", scope(), "--simulate", "--json")
    assert answer.rc == 1
    plan = answer.json
    assert plan["schema"] == 1 and plan["file"] == str(scope())
    assert plan["kernels"][0]["launch"] == {"type": "MIX_AIV_1_0", "blocks": 48, "aic": 0, "aiv": 48, "forced": False}
    hangs, fits = plan["operators"]
    assert (hangs["verdict"], hangs["aiv"], hangs["line"]) == ("hangs", 20, 5)
    assert hangs["faults"] == [
        {"fault": "sync-all-short", "waits_for_ever": True, "side": "AIV", "waiting": 20, "expected": 48, "flag": None}
    ]
    assert [fix["text"] for fix in hangs["fixes"]] == ["feed-sync-all=1", "block_num = 48"]
    assert fits["verdict"] == "fits" and fits["fixes"] == []
    assert plan["options"] == {"text": "feed-sync-all=1", "values": {"feed-sync-all": "1"}}
    (simulated,) = plan["simulation"]["faults"]
    assert (simulated["operator"], simulated["waiting_cores"]) == ("hc_pre", "0-19")
    assert simulated["missing_cores"] == {"side": "AIV", "cores": "20-47"}
    assert plan["simulation"]["disagreement"] is None
    assert [finding["rule"] for finding in plan["findings"]] == ["DCU801"]


def keys_of(value):
    if isinstance(value, dict):
        return set(value) | set().union(*map(keys_of, value.values()))
    return set().union(*map(keys_of, value)) if isinstance(value, list) else set()


def test_every_field_is_in_the_docs(run):
    plan = run("superkernel", "plan", EXAMPLE, "--simulate", "--json").json
    del plan["options"]["values"], plan["findings"]  # keys are options; as the doctor's
    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    section = page[page.index("## `dcuop superkernel plan") :]
    section = section[: section.index("\n## ", 3)]
    named = {re.sub(r"\W", "", word) for word in re.findall(r"`([^`]+)`", section)}
    assert keys_of(plan) - named - {"schema"} == set()


def test_the_recommended_options_mend_it(run, scope):
    advised = run("superkernel", "plan", scope(), "--json").json["options"]["text"]
    answer = run("superkernel", "plan", scope(options=advised))
    assert answer.rc == 0, answer
    assert "hc_pre  AIV 20  fits" in answer.stdout


def test_the_other_back_end_splits_instead(run, scope):
    batch = TWO.replace('"ge"', '"npugraph_ex"').replace('options = "{options}"', "").replace(
        "block_num = 20", "block_num = 20\nbatch_mode = true"
    )
    plan = run("superkernel", "plan", scope(batch, any=""), "--json").json
    assert [kernel["operators"] for kernel in plan["kernels"]] == [["hc_pre"], ["add_c"]]
    assert plan["kernels"][0]["ended_by"] == "core_rise"
    assert [operator["verdict"] for operator in plan["operators"]] == ["fits", "fits"]


def test_twice_the_same(run, tmp_path):
    first, second = tmp_path / "1.svg", tmp_path / "2.svg"
    answers = [run("superkernel", "plan", EXAMPLE, "--simulate", "--json", "--svg", path) for path in (first, second)]
    assert answers[0].stdout == answers[1].stdout
    assert first.read_bytes() == second.read_bytes()


def test_the_picture_is_svg_with_the_cores_and_what_they_wait_at(run, tmp_path):
    picture = tmp_path / "timeline.svg"
    answer = run("superkernel", "plan", EXAMPLE, "--svg", picture)
    assert answer.rc == 1
    assert "timeline: " in answer.stderr and "timeline.svg" in answer.stderr
    root = ElementTree.parse(picture).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    texts = ["".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"AIC 0-23", "AIV 0-19", "AIV 20-47", "SyncAll of hc_pre"} <= set(texts)
    width = float(root.get("width"))
    for element in root.iter("{http://www.w3.org/2000/svg}rect"):
        if element.get("width") != "100%":
            assert 0 <= float(element.get("x")) and float(element.get("x")) + float(element.get("width")) <= width


def test_a_picture_that_cannot_be_written(run, tmp_path):
    answer = run("superkernel", "plan", EXAMPLE, "--svg", tmp_path / "missing" / "t.svg")
    assert answer.rc == 3 and answer.stdout == ""
    assert "missing" in answer.stderr


def test_only_a_picture_is_overwritten(run, tmp_path):
    scope = tmp_path / "scope.toml"
    shutil.copy(EXAMPLE, scope)
    for target, said in ((scope, "is no SVG"), (tmp_path, "is a directory"), (Path("/dev/null"), "is no SVG")):
        answer = run("superkernel", "plan", scope, "--svg", target)
        assert answer.rc == 2 and answer.stdout == "" and said in answer.stderr, answer
    nameless = run("superkernel", "plan", scope, "--svg", "")
    assert nameless.rc == 2 and nameless.stdout == "" and "--svg has no file name" in nameless.stderr
    assert scope.read_bytes() == EXAMPLE.read_bytes() and Path("/dev/null").is_char_device()
    picture = tmp_path / "old.svg"
    for old in ("", "<svg/>", '<?xml version="1.0"?>\n<svg></svg>\n'):
        picture.write_text(old, encoding="utf-8")
        assert run("superkernel", "plan", scope, "--svg", picture).rc == 1
        assert picture.read_bytes().startswith(b"<svg xmlns=")
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["old.svg", "scope.toml"]


def test_a_picture_that_does_not_fit_leaves_the_old_one(dcuop_binary, environment, tmp_path):
    picture = tmp_path / "old.svg"
    picture.write_text("<svg/>", encoding="utf-8")
    # A limit of 1 KiB says EFBIG where a full disk says ENOSPC.
    limited = ["sh", "-c", "trap '' XFSZ; ulimit -f 2; exec \"$@\"", "sh", dcuop_binary]
    command = [*limited, "superkernel", "plan", EXAMPLE, "--svg", picture]
    answer = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert answer.returncode == 3 and answer.stdout == "" and "old.svg" in answer.stderr, answer
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["old.svg"]
    assert picture.read_text(encoding="utf-8") == "<svg/>"


def test_a_list_of_names_has_an_end(run, tmp_path):
    operator = '[[operator]]\nname = "op{0}"\nkernel_type = "AIV_ONLY"\nblock_num = 8\nsync = {{ all = "plain" }}\n'
    scope = tmp_path / "scope.toml"
    head = 'backend = "ge"\nplatform = { product = "A3", aic = 24, aiv = 48 }\n'
    scope.write_text(head + "".join(operator.format(index) for index in range(12)), encoding="utf-8")
    assert "verify alone: op0, op1, op2, op3, op4, op5, op6, op7 and 4 more with " in run("superkernel", "plan", scope).stdout


def test_sarif_points_into_the_scope(run, scope):
    log = run("superkernel", "plan", scope(), "--sarif").json
    (result,) = log["runs"][0]["results"]
    assert result["ruleId"] == "DCU801"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("scope.toml")
    assert place["region"]["startLine"] == 5
    assert run("superkernel", "plan", scope(), "--sarif", "--json").rc == 2


BAD = {
    "unknown key": (TWO.replace("block_num = 48", "block_nun = 48"), r"scope.toml:13:1: .*'block_nun'.*'block_num'"),
    "wrong type": (TWO.replace("block_num = 48", 'block_num = "48"'), r"scope.toml:13:13: .*block_num.*a string"),
    "unknown value": (TWO.replace("AIV_ONLY", "AIV_ONLI"), r"scope.toml:12:15: .*did you mean 'AIV_ONLY'"),
    "missing": (TWO.replace("block_num = 48", ""), r"scope.toml:10:1: .*no 'block_num'"),
    "not TOML": (TWO + "= 3", r"scope.toml:14:1: "),
    "nested": (TWO + "sync = " + "{{ all = " * 400 + "1" + " }}" * 400, r"scope.toml:14:"),
    "nested arrays": (TWO + "sync = " + "[" * 100000, r"scope.toml:14:"),
    "not UTF-8": (TWO.replace("add_c", "add_\udcff"), r"scope.toml"),
    "too large": (TWO.replace("block_num = 48", "block_num = 99999999999"), r"must be at most 1024"),
    "empty": ("# nothing", r"no 'backend'"),
}


@pytest.mark.parametrize("case", list(BAD))
def test_a_bad_description_is_named_with_its_place(run, tmp_path, case):
    text, said = BAD[case]
    path = tmp_path / "scope.toml"
    path.write_bytes(text.format(options="").encode("utf-8", "surrogateescape"))
    answer = run("superkernel", "plan", "scope.toml")
    assert answer.rc == 2 and answer.stdout == "", answer
    assert re.search(said, answer.stderr), answer
    assert len(answer.stderr) < 1000, "one message, not a page"
    as_json = run("superkernel", "plan", "scope.toml", "--json")
    assert as_json.rc == 2 and as_json.json["error"]["exit_code"] == 2


def test_a_file_that_is_not_there(run):
    answer = run("superkernel", "plan", "nowhere.toml")
    assert answer.rc == 2
    assert "nowhere.toml" in answer.stderr


def test_words_that_are_nearly_right(run):
    assert "did you mean 'plan'?" in run("superkernel", "pla").stderr
    assert "did you mean '--simulate'?" in run("superkernel", "plan", "x", "--simulat").stderr
    assert run("superkernel").rc == 2
    assert "Examples:" in run("superkernel", "plan", "--help").stdout


def test_every_rule_of_it_is_explained(run):
    listed = re.findall(r"^(DCU8[0-3]\d) ", run("rule").stdout, re.MULTILINE)
    assert len(listed) == 28
    text = (ROOT / "docs" / "superkernel.md").read_text(encoding="utf-8")
    for rule in listed:
        assert run("rule", rule).rc == 0
        assert re.search(rule, text), f"{rule} is not in docs/superkernel.md"
