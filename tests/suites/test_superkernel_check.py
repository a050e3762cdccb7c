"""dcuop superkernel check: each rule on sources that have the fault, that do not, and that look as if they had.

tests/corpus/superkernel/<rule>: bad*, good* and trap*, a file or an operator's directory. A line that the rule must find
says so: //! DCU840. Errors that no line announces are false alarms, whatever their rule. A name that ends in _A2, _A3 or
_950 is checked for that product.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from conftest import ROOT

CORPUS = ROOT / "tests" / "corpus" / "superkernel"
CASES = sorted(case for rule in CORPUS.iterdir() for case in rule.iterdir())
ANNOUNCES = re.compile(r"(?://|#)! (.*)")


def announced(case: Path) -> Counter:
    files = [case] if case.is_file() else [path for path in case.rglob("*") if path.is_file()]
    return Counter(
        (str(path), number, rule)
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for rule in " ".join(ANNOUNCES.findall(line)).split()
    )


def checked(run, *arguments: str) -> dict:
    answer = run("superkernel", "check", *arguments, "--json")
    (report,) = json.loads(answer.stdout)["checked"]
    assert answer.rc == (1 if any(one["severity"] == "error" for one in report["findings"]) else 0)
    return report


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_what_is_planted_is_found_and_nothing_else(run, case):
    product = re.search(r"_(A2|A3|950)$", case.stem)
    findings = checked(run, str(case), *(["--product", product.group(1)] if product else []))["findings"]
    wanted = announced(case)
    found = Counter()
    for finding in findings:
        place = (finding["subject"], finding["line"], finding["rule"])
        own = finding["rule"] == case.parent.name and finding["severity"] != "note"
        if finding["severity"] == "error" or own or place in wanted:
            found[place] += 1
        assert finding["fix"]
    assert found == wanted
    assert bool(wanted) == case.name.startswith("bad"), "only bad ones announce something"


@pytest.mark.parametrize("page", ["superkernel-check.md", "superkernel-check.zh.md"])
def test_the_example_of_the_page_is_what_is_printed(run, page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    ((command, printed),) = re.findall(r"^    \$ dcuop (.+)\n((?:    .+\n)+)", text, re.MULTILINE)
    answer = run(*command.split(), cwd=ROOT)
    assert answer.stdout == re.sub("^    ", "", printed, flags=re.MULTILINE) and answer.rc == 1


def test_every_rule_has_a_bad_a_good_and_a_trap(run):
    listed = re.findall(r"^(DCU8[4-9]\d) ", run("rule").stdout, re.MULTILINE)
    assert len(listed) >= 30
    for rule in listed:
        kinds = {re.split(r"[._]", case.name)[0] for case in (CORPUS / rule).iterdir()}
        assert kinds == {"bad", "good", "trap"}, rule
        assert run("rule", rule, "--markdown").stdout == (ROOT / "docs" / "rules" / f"{rule}.md").read_text(
            encoding="utf-8"
        )


def test_text_names_the_place_the_code_and_the_fix(run):
    answer = run("superkernel", "check", str(CORPUS / "DCU840" / "bad.cpp"))
    assert answer.rc == 1
    assert (
        "[DCU840] bad.cpp:15:5: not every core that runs Process comes to SyncAll(): blockIdx_ >= used_"
        in answer.stdout
    )
    assert "code  SyncAll();" in answer.stdout and "fix   put the condition around the work" in answer.stdout
    chinese = run("superkernel", "check", str(CORPUS / "DCU840" / "bad.cpp"), "--lang", "zh")
    assert "并非都会到达 SyncAll()：blockIdx_ >= used_" in chinese.stdout


def test_sarif_has_places(run):
    case = CORPUS / "DCU857" / "bad.cpp"
    answer = run("superkernel", "check", str(case), "--sarif")
    assert answer.rc == 1
    results = json.loads(answer.stdout)["runs"][0]["results"]
    first = next(one for one in results if one["ruleId"] == "DCU857")
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == f"file://{case}"
    assert place["region"] == {"startLine": 8, "startColumn": 5}


def test_an_allowance_needs_a_reason_and_concerns_this_command_alone(run, tmp_path):
    source = tmp_path / "kernel.cpp"
    text = (CORPUS / "DCU845" / "good.cpp").read_text(encoding="utf-8").replace("<2, PIPE_FIX>", "<0, PIPE_FIX>")
    line = next(number for number, one in enumerate(text.splitlines(), 1) if "CrossCoreSetFlag" in one)

    def rules(comment: str) -> list:
        source.write_text(text.replace("(1);\n", f"(1); {comment}\n", 1), encoding="utf-8")
        return [(one["rule"], one["line"]) for one in checked(run, str(source))["findings"] if one["rule"] != "DCU848"]

    assert rules("") == [("DCU845", line)]
    assert rules("// dcuop: allow(DCU845) always launched with all cores") == []
    assert ("DCU990", line) in rules("// dcuop: allow(DCU845)")
    assert rules("// dcuop: allow(DCU914) of dcuop check") == [("DCU845", line)]
    source.write_text(text.replace("(1);\n", "(1); // dcuop: allow(DCU845) all cores\n", 1), encoding="utf-8")
    others = json.loads(run("check", str(source), "--json").stdout)["checked"][0]["findings"]
    assert "DCU991" not in {one["rule"] for one in others}


def test_what_is_not_understood_is_said_and_lowers_confidence(run, tmp_path):
    text = (CORPUS / "DCU857" / "bad.cpp").read_text(encoding="utf-8")
    broken = text.replace("    if (flush) {", "    STATEMENT_MACRO(float, A<B>) class ) (;\n    if (flush) {")
    (tmp_path / "kernel.cpp").write_text(broken, encoding="utf-8")
    report = checked(run, str(tmp_path / "kernel.cpp"))
    assert report["understood"] < 1
    severities = {one["rule"]: one["severity"] for one in report["findings"]}
    assert severities["DCU857"] == "warning" and "DCU992" in severities
    (first, *_) = [one for one in report["findings"] if one["rule"] == "DCU857"]
    assert any(row["label"] == "confidence" for row in first["evidence"])


def test_a_chain_of_thousands_of_calls_is_followed_as_far_as_the_stack_reaches(run, tmp_path):
    calls = "".join(f"__aicore__ inline void f{i}() {{ f{i + 1}(); SyncAll(); }}\n" for i in range(4000))
    kernel = 'extern "C" __global__ __aicore__ void k(GM_ADDR x) { if (GetBlockIdx() == 0) { f0(); } }\n'
    (tmp_path / "k.cpp").write_text(f"{calls}__aicore__ inline void f4000() {{ }}\n{kernel}")
    assert "DCU840" in {finding["rule"] for finding in checked(run, str(tmp_path))["findings"]}


@pytest.mark.parametrize(("depth", "rules"), [(60, {"DCU840", "DCU841"}), (5000, {"DCU992"})])
def test_a_chain_of_calls_is_followed_or_said_to_be_too_deep(run, tmp_path, depth, rules):
    lines = [f"__aicore__ inline void F{index}() {{ F{index + 1}(); }}" for index in range(depth)]
    lines.append(f"__aicore__ inline void F{depth}() {{ if (GetBlockIdx() < 3) {{ AscendC::SyncAll(); }} }}")
    lines.append('extern "C" __global__ __aicore__ void k(GM_ADDR x) { F0(); }')
    (tmp_path / "deep.cpp").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = checked(run, str(tmp_path / "deep.cpp"))["findings"]
    assert {one["rule"] for one in found} == rules
    assert all(one["severity"] == "warning" for one in found if one["rule"] == "DCU992")


def test_constants_and_classes_come_from_other_files_of_the_operator(run, tmp_path):
    (tmp_path / "op_kernel").mkdir()
    (tmp_path / "op_kernel" / "common.h").write_text(
        "constexpr uint8_t ALL = 0;\nstruct Base { GlobalTensor<int32_t> countGm; };\n", encoding="utf-8"
    )
    (tmp_path / "op_kernel" / "kernel.cpp").write_text(
        '#include "common.h"\n'
        "class Op : public Base {\n public:\n  __aicore__ inline void Process() {\n"
        "    countGm(0) = 1;\n    CrossCoreSetFlag<ALL, PIPE_MTE3>(1);\n    CrossCoreWaitFlag(1);\n  }\n};\n"
        'extern "C" __global__ __aicore__ void op(GM_ADDR x) {\n  Op op;\n  op.Process();\n}\n',
        encoding="utf-8",
    )
    # An operator beside it, whose constant of that name is another one.
    shutil.copytree(tmp_path / "op_kernel", tmp_path / "other" / "op_kernel")
    (tmp_path / "other" / "op_kernel" / "common.h").write_text("constexpr uint8_t ALL = 2;\n", encoding="utf-8")
    found = {
        (one["rule"], one["line"], Path(one["subject"]).parent.parent.name)
        for one in checked(run, str(tmp_path))["findings"]
        if one["rule"] in ("DCU845", "DCU857")
    }
    here = tmp_path.name
    assert {("DCU857", 5, here), ("DCU845", 6, here)} <= found
    assert ("DCU845", 6, "other") not in found


def test_mistakes_in_the_command(run, tmp_path):
    empty = run("superkernel", "check", str(tmp_path))
    assert empty.rc == 2 and "holds no sources" in empty.stderr
    missing = run("superkernel", "check", str(tmp_path / "no"))
    assert missing.rc == 2 and "is not there" in missing.stderr
    product = run("superkernel", "check", str(tmp_path), "--product", "A9")
    assert product.rc == 2 and "A9" in product.stderr


class TestSourcesWithoutAnythingOfAscend:
    NOTHING = "nothing to check: no Ascend kernel or tiling, and no super_kernel() call (1 file)"

    @pytest.fixture
    def hip(self, tmp_path: Path) -> Path:
        directory = tmp_path / "hip"
        directory.mkdir()
        text = "// not __aicore__, not AscendC\n__global__ void k(float* x) { x[threadIdx.x] = 1; }\n"
        (directory / "k.hip").write_text(text, encoding="utf-8")
        return directory

    def test_are_not_free_of_errors(self, run, hip):
        answer = run("superkernel", "check", str(hip))
        assert answer.rc == 2 and answer.stdout == f"hip: {self.NOTHING}\n"
        chinese = run("superkernel", "check", str(hip), "--lang", "zh")
        assert chinese.stdout == "hip：没有可检查的内容：没有昇腾核函数或 tiling，也没有 super_kernel() 调用（1 个文件）\n"
        as_json = run("superkernel", "check", str(hip), "--json")
        assert as_json.rc == 2 and as_json.json["checked"][0]["ascend"] is False
        sarif = run("superkernel", "check", str(hip), "--sarif")
        assert sarif.rc == 2 and sarif.json["runs"][0]["results"] == [] and self.NOTHING in sarif.stderr

    def test_beside_others_take_nothing_from_them(self, run, hip):
        bad = str(CORPUS / "DCU848" / "bad.cpp")
        answer = run("superkernel", "check", str(hip), bad, "--json")
        assert answer.rc == 1, "errors count for more"
        assert [one["ascend"] for one in answer.json["checked"]] == [False, True]
        assert len(answer.json["checked"][1]["findings"]) == 3
        good = run("superkernel", "check", str(hip), str(CORPUS / "DCU848" / "good.cpp"))
        assert good.rc == 2 and self.NOTHING in good.stdout and "DCU848: no error found" in good.stdout

    @pytest.mark.parametrize(
        "name, text",
        [
            ("kernel.h", "__aicore__ inline void f() {}\n"),
            ("kernel.cpp", "extern \"C\" __global__ __vector__ void k(int* x) {}\n"),
            ("tiling.cpp", "void T(gert::TilingContext* context) {}\n"),
            ("model.py", "with torchair.scope.super_kernel('sk', ''):\n    pass\n"),
        ],
    )
    def test_what_is_something_of_it(self, run, hip, name, text):
        (hip / name).write_text(text, encoding="utf-8")
        answer = run("superkernel", "check", str(hip))
        assert answer.rc == 0 and "hip: no error found (" in answer.stdout


SCOPE = """
backend = "ge"
platform = { product = "A3", aic = 24, aiv = 48 }
[[operator]]
name = "hc_pre"
op_type = "HcPre"
block_num = 20
[[operator]]
name = "matmul_b"
op_type = "MatmulB"
block_num = 24
[[operator]]
name = "add_c"
kernel_type = "AIV_ONLY"
block_num = 48
"""

HC_PRE = """extern "C" __global__ __aicore__ void hc_pre(GM_ADDR x, int32_t n) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  GlobalTensor<int32_t> offsets;
  WaitPreTaskEnd();
  for (int32_t i = 0; i < n; ++i) {
    offsets.SetValue(i, i);
  }
  SyncAll();
  SyncAll();
}
"""

MATMUL_B = """extern "C" __global__ __aicore__ void matmul_b(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
  if ASCEND_IS_AIV {
    if (GetSubBlockIdx() == 0) {
      CrossCoreSetFlag<2, PIPE_MTE3>(3);
    }
  }
  if ASCEND_IS_AIC {
    CrossCoreWaitFlag(3);
  }
}
"""


@pytest.fixture
def described(tmp_path: Path) -> Path:
    for name, text in (("hc_pre", HC_PRE), ("matmul_b", MATMUL_B)):
        kernel = tmp_path / "ops" / name / "op_kernel" / f"{name}.cpp"
        kernel.parent.mkdir(parents=True)
        kernel.write_text(text, encoding="utf-8")
    host = tmp_path / "ops" / "hc_pre" / "op_host"
    host.mkdir()
    (host / "tiling.cpp").write_text("void T(gert::TilingContext* c) { c->SetScheduleMode(1); }\n", encoding="utf-8")
    (tmp_path / "scope.toml").write_text(SCOPE, encoding="utf-8")
    return tmp_path


def test_plan_takes_from_sources_what_the_scope_leaves_open(run, described):
    scope, ops = str(described / "scope.toml"), str(described / "ops")
    answer = run("superkernel", "plan", scope, "--sources", ops)
    assert answer.rc == 1
    assert "hc_pre    AIV 20  HANGS: SyncAll() waits for 48 vector cores, 20 enter (hc_pre.cpp:8)" in answer.stdout
    assert "matmul_b  1:1 24  HANGS: 1:1 operator under a 1:2 launch, hard sync only on AIV0 (matmul_b.cpp:5)" in answer.stdout
    assert "hc_pre: hc_pre/op_kernel/hc_pre.cpp:1" in answer.stderr
    assert "hc_pre: scalars of global memory in a loop (hc_pre.cpp:6)" in answer.stderr
    assert "add_c: the sources have no kernel of that name" in answer.stderr
    alone = run("superkernel", "plan", scope)
    assert alone.rc == 2 and "no 'kernel_type'" in alone.stderr


KERNEL = """class HcPre {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR idx, GM_ADDR out, GM_ADDR workspace, int32_t rows) {
    xGm_.SetGlobalBuffer((__gm__ float*)x + GetBlockIdx() * rows);
    auto* where = reinterpret_cast<__gm__ int32_t*>(idx);
    idxGm_.SetGlobalBuffer(where);
    outGm_.SetGlobalBuffer((__gm__ float*)out);
    workGm_.SetGlobalBuffer((__gm__ int32_t*)GetUserWorkspace(workspace));
    rows_ = rows;
  }
  __aicore__ inline void Process() {
    LocalTensor<float> local = queue_.DeQue<float>();
    for (int32_t i = 0; i < rows_; ++i) {
      local.SetValue(i, workGm_.GetValue(i));
      BODY
    }
  }
 private:
  __aicore__ inline void Store(GlobalTensor<int32_t>& target, int32_t i) { target.SetValue(i, i); }
  GlobalTensor<float> xGm_, outGm_, rowGm_;
  GlobalTensor<int32_t> idxGm_, workGm_;
  TQue<QuePosition::VECIN, 1> queue_;
  int32_t rows_;
};
extern "C" __global__ __aicore__ void hc_pre(GM_ADDR x, GM_ADDR idx, GM_ADDR out, GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  GET_TILING_DATA(data, tiling);
  HcPre op;
  op.Init(x, idx, out, workspace, data.rows);
  op.Process();
}
"""


@pytest.mark.parametrize(
    "body, reads, writes",
    [
        ("float v = xGm_.GetValue(i);", "x", ""),
        ("idxGm_.SetValue(i, xGm_.GetValue(i));", "x", "idx"),
        ("float v = xGm_(i); outGm_(i) = v;", "x", "out"),
        ("outGm_(i) += 1;", "out", "out"),
        ("idxGm_(i)++;", "idx", "idx"),
        ("Store(idxGm_, i);", "", "idx"),
        ("GlobalTensor<float> row = xGm_[i]; float v = row.GetValue(0);", "x", ""),
        ("rowGm_ = outGm_[i]; rowGm_.SetValue(0, 1);", "", "out"),
        ("DataCopy(local, xGm_, 8); outGm_.GetSize();", "", ""),
    ],
)
def test_what_scalars_read_and_write_is_found_in_the_kernel(run, described, body, reads, writes):
    (described / "ops" / "hc_pre" / "op_kernel" / "hc_pre.cpp").write_text(KERNEL.replace("BODY", body), encoding="utf-8")
    scope, ops = described / "scope.toml", str(described / "ops")
    (gm, *_) = [one["gm"] for one in run("superkernel", "plan", str(scope), "--sources", ops, "--json").json["operators"]]
    assert gm["reads"] == [f"hc_pre.{name}" for name in reads.split()]
    assert gm["writes"] == [f"hc_pre.{name}" for name in writes.split()]
    mapping = 'op_type = "HcPre"\ngm = { tensors = { x = "hidden", idx = "offsets", out = "hidden" } }\n'
    scope.write_text(SCOPE.replace('op_type = "HcPre"\n', mapping), encoding="utf-8")
    answer = run("superkernel", "plan", str(scope), "--sources", ops, "--json")
    (gm, *_) = [one["gm"] for one in answer.json["operators"]]
    buffers = {"x": "hidden", "out": "hidden", "idx": "offsets"}
    assert gm["reads"] == sorted({buffers[name] for name in reads.split()})
    assert gm["writes"] == sorted({buffers[name] for name in writes.split()})


def test_whose_scalars_they_are_decides_the_options(run, described):
    kernel = KERNEL.replace("BODY", "idxGm_.SetValue(i, xGm_.GetValue(i));")
    (described / "ops" / "hc_pre" / "op_kernel" / "hc_pre.cpp").write_text(kernel, encoding="utf-8")
    scope, ops = described / "scope.toml", str(described / "ops")
    reader = SCOPE.replace("block_num = 48", 'block_num = 48\ngm = { frequent = true, reads = ["offsets"] }')

    def planned(text: str):
        scope.write_text(text, encoding="utf-8")
        return run("superkernel", "plan", str(scope), "--sources", ops)

    open_answer = planned(reader)
    assert "options: dcci-after-kernel-end=HcPre\n" in open_answer.stdout, "add_c may read what hc_pre writes"
    assert "(hc_pre.cpp:14): reads x; writes idx; gm.tensors says which buffers these are" in open_answer.stderr
    mapped = planned(reader.replace("block_num = 20", 'block_num = 20\ngm = { tensors = { x = "hidden", idx = "offsets" } }'))
    assert "options: dcci-before-kernel-start=add_c:dcci-after-kernel-end=HcPre\n" in mapped.stdout
    assert "(hc_pre.cpp:14): reads x; writes idx\n" in mapped.stderr
    given = planned(reader.replace("block_num = 20", 'block_num = 20\ngm = { reads = ["a"] }'))
    assert "options: dcci-disable-on-kernel=HcPre,add_c\n" in given.stdout, "what the file gives stays"


def test_what_the_scope_gives_wins_over_the_sources(run, described):
    scope = described / "scope.toml"

    def errors() -> set:
        answer = run("superkernel", "plan", str(scope), "--sources", str(described / "ops"), "--json")
        return {one["rule"] for one in json.loads(answer.stdout)["findings"] if one["severity"] == "error"}

    assert len(errors()) == 2
    given = SCOPE.replace('op_type = "HcPre"\n', 'op_type = "HcPre"\nsync = { all = "none" }\n')
    given = given.replace('op_type = "MatmulB"\n', 'op_type = "MatmulB"\nsync = { pair_guarded = false }\n')
    scope.write_text(given, encoding="utf-8")
    assert errors() == set()


def test_plan_says_which_sources_it_did_not_understand(run, described):
    kernel = described / "ops" / "hc_pre" / "op_kernel" / "hc_pre.cpp"
    asked = ("superkernel", "plan", str(described / "scope.toml"), "--sources", str(described / "ops"))
    assert "not understood" not in run(*asked).stderr
    kernel.write_text(HC_PRE.replace("SyncAll()", "SyncAll(= ="), encoding="utf-8")
    assert "hc_pre.cpp was not understood wholly (line " in run(*asked).stderr
    (kernel.parent / "zero.h").write_bytes(b"int x;\0")
    assert "zero.h was not read: it is no text" in run(*asked).stderr


def test_a_type_that_neither_says_is_a_mistake(run, described):
    kernel = described / "ops" / "matmul_b" / "op_kernel" / "matmul_b.cpp"
    kernel.write_text(MATMUL_B.replace("  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);\n", ""), encoding="utf-8")
    answer = run("superkernel", "plan", str(described / "scope.toml"), "--sources", str(described / "ops"))
    assert answer.rc == 2 and "matmul_b has no kernel_type, and matmul_b does not say one" in answer.stderr
