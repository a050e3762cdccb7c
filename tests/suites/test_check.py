"""dcuop check: the rules are tested by tests/unit/check with tests/corpus/check; this is the command around them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from conftest import ROOT

CORPUS = ROOT / "tests" / "corpus" / "check"


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    directory = tmp_path / "bad"
    directory.mkdir()
    shutil.copy(CORPUS / "DCU910" / "bad_zero.cpp", directory / "binding.cpp")
    shutil.copy(CORPUS / "DCU918" / "bad_early.hip", directory / "kernel.hip")
    return directory


def test_the_operators_of_this_tree_are_clean(run):
    operators = sorted(str(path.parent) for path in ROOT.glob("ops/*/dcuop.toml"))
    answer = run("check", *operators, "--release", "--json")
    assert answer.rc == 0, answer
    checked = json.loads(answer.stdout)["checked"]
    assert len(checked) == len(operators) > 2
    assert all(item["met"] for one in checked for item in one["checklist"])
    checked += json.loads(run("check", str(ROOT / "ops"), "--json").stdout)["checked"]
    assert sum(one["files"] for one in checked) >= 3
    for one in checked:
        assert one["understood"] == 1.0, one
        assert [finding for finding in one["findings"] if finding["severity"] != "note"] == []


@pytest.mark.parametrize("kind", ["pybind", "torch-library", "plain"])
def test_what_new_writes_is_clean(run, tmp_path, kind):
    assert run("new", "fresh", "--kind", kind, "--arch", "gfx906", cwd=tmp_path).rc == 0
    answer = run("check", str(next(tmp_path.rglob("dcuop.toml")).parent), "--release", "--json")
    assert answer.rc == 0, answer
    (checked,) = json.loads(answer.stdout)["checked"]
    assert checked["functions"] > 0 and all(item["met"] for item in checked["checklist"])
    assert [finding for finding in checked["findings"] if finding["severity"] != "note"] == []


def test_text_names_the_place_the_code_and_the_fix(run, bad):
    answer = run("check", str(bad))
    assert answer.rc == 1
    assert "bad: errors found (2 files, 4 functions)" in answer.stdout
    assert "[DCU910] binding.cpp:12:3: scale is launched with stream 0, not on torch's current stream" in answer.stdout
    assert "code  scale<<<1, 256, 0, 0>>>(" in answer.stdout and "fix   c10::hip::getCurrentHIPStream().stream()" in answer.stdout
    assert "1 error, 2 warnings, 0 notes" in answer.stdout
    chinese = run("check", str(bad), "--lang", "zh")
    assert chinese.rc == 1 and "不在 torch 的当前流上" in chinese.stdout


def test_json_and_sarif_have_lines(run, bad):
    findings = json.loads(run("check", str(bad), "--json").stdout)["checked"][0]["findings"]
    assert [(one["rule"], one["severity"], one["line"]) for one in findings] == [
        ("DCU910", "error", 12),
        ("DCU918", "warning", 7),
        ("DCU918", "warning", 12),
    ]
    answer = run("check", str(bad), "--sarif")
    assert answer.rc == 1
    (result, *_) = json.loads(answer.stdout)["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == f"file://{bad}/binding.cpp"
    assert place["region"] == {"startLine": 12, "startColumn": 3}


def test_warnings_alone_are_no_failure(run, bad):
    answer = run("check", str(bad / "kernel.hip"))
    assert answer.rc == 0 and "0 errors, 2 warnings" in answer.stdout


def test_an_allowance_is_counted(run, bad):
    source = bad / "binding.cpp"
    text = source.read_text(encoding="utf-8")
    source.write_text(text.replace("//! DCU910", "// dcuop: allow(DCU910) a test"), encoding="utf-8")
    answer = run("check", str(source))
    assert answer.rc == 0 and "1 finding allowed" in answer.stdout


def test_a_file_that_is_no_text_is_named_with_what_to_do(run, tmp_path):
    (tmp_path / "op.hip").write_bytes("__global__ void k() {}".encode("utf-16"))
    (report,) = json.loads(run("check", str(tmp_path), "--json").stdout)["checked"]
    (finding,) = report["findings"]
    assert finding["rule"] == "DCU992" and "it is no text" in finding["cause"]
    assert "UTF-8" in finding["fix"]


def test_release_prints_the_checklist(run):
    answer = run("check", str(CORPUS / "release" / "bad"), "--release")
    assert answer.rc == 1
    assert "[ ] results are compared with a reference  DCU953" in answer.stdout
    assert "[x] the tree holds sources only" in answer.stdout
    good = run("check", str(CORPUS / "release" / "good"), "--release", "--json")
    assert good.rc == 0, good
    assert all(item["met"] for item in json.loads(good.stdout)["checked"][0]["checklist"])


def test_a_directory_without_sources_is_a_mistake(run, tmp_path):
    answer = run("check", str(tmp_path))
    assert answer.rc == 2 and "holds no sources" in answer.stderr


def test_a_rule_prints_its_page(run):
    page = run("rule", "DCU931", "--markdown").stdout
    assert page == (ROOT / "docs" / "rules" / "DCU931.md").read_text(encoding="utf-8")
    assert "Code that has the fault\n  reduce<<<" in run("rule", "grid-barrier-plain-launch").stdout


def test_fixes_name_the_tensors_of_the_code(run, tmp_path):
    (tmp_path / "binding.cpp").write_text(
        "#include <torch/extension.h>\n"
        "void launch(const float*, float*, int64_t, hipStream_t);\n"
        "at::Tensor f(at::Tensor input, at::Tensor weight) {\n"
        "  launch(input.data_ptr<float>(), weight.data_ptr<float>(), input.numel(), stream());\n"
        "  return weight;\n}\n"
        'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("f", &f); }\n'
    )
    findings = json.loads(run("check", str(tmp_path), "--json").stdout)["checked"][0]["findings"]
    fixes = [(one["rule"], one["fix"]) for one in findings]
    assert ("DCU903", "TORCH_CHECK(input.is_contiguous(), ...) before the launch") in fixes
    assert ("DCU903", "TORCH_CHECK(weight.is_contiguous(), ...) before the launch") in fixes
    assert ("DCU904", "TORCH_CHECK(weight.sizes() == input.sizes(), ...) before the launch") in fixes
    assert ("DCU913", "const c10::DeviceGuard guard(input.device()); at the beginning") in fixes


def test_python_alone_is_nothing_to_check(run, tmp_path):
    (tmp_path / "loader.py").write_text("import torch\n")
    for target in (tmp_path, tmp_path / "loader.py"):
        answer = run("check", str(target))
        assert answer.rc == 2 and "holds Python alone" in answer.stderr, answer
