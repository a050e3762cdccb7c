"""What `dcuop verify` says in Chinese: no sentence of a result, and none of the views, is left in English."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List, Set, Tuple

import pytest
import verify_sample as sample
from conftest import ROOT

sys.path.insert(0, str(ROOT / "python"))
# pylint: disable=wrong-import-position
from dcuop._verify import _gate, _report_html, _report_md, _sentences, _view, _words  # noqa: E402

PACKAGE = ROOT / "python" / "dcuop" / "_verify"
CHINESE = re.compile("[\u4e00-\u9fff]")
#: Modules whose sentences are put into results, or shown while it runs.
SOURCES = (
    *(f"_{name}.py" for name in ("attempt", "compare", "correctness", "e2e", "expressions", "gate", "inputs", "layouts")),
    *(f"_{name}.py" for name in ("micro", "numerics", "results", "runner", "samples", "schedules", "target", "worker")),
    *(path.name for path in sorted(PACKAGE.glob("_checks*.py"))),
    *(path.name for path in sorted(PACKAGE.glob("_groups_*.py"))),
    "__main__.py",
)
#: Errors that end the program are English, as all of dcuop's are.
ERRORS = {"UsageProblem", "EnvironmentProblem", "DcuopError", "ImportError"}
#: What is not said alone (the table has what it is a part of), or no sentence.
NO_SENTENCES = {
    "every value",
    "no change",
    "the gradient that comes in",
    "no values",
    "Fatal Python error",
    "out of memory",
    "the operator's files do not load: X: X",
    "X, X of X elements",
    " after X of X cases",
    " at X",
    *('; its last words: "X"', "; memory may have run out", "it did not end within X sX"),
    *("X X on the X pathX", "X on the X path: X"),
    *("signal X", "the process was ended by signal X (X)X"),
    *("least denormal", "-least denormal", "largest denormal", "least normal"),
}


def sentences(path: Path) -> Iterator[Tuple[int, str]]:
    """The literals of a module that are words with a space between; X is where a value stands."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    passed_over: Set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            passed_over.add(id(node.body[0].value))  # type: ignore[attr-defined]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in (*ERRORS, "Candidate"):
            passed_over.update(map(id, ast.walk(node)))
        if isinstance(node, ast.Assign) and any(name.id.isupper() for name in node.targets if isinstance(name, ast.Name)):
            passed_over.update(map(id, ast.walk(node)))
        if isinstance(node, ast.JoinedStr):
            passed_over.update(map(id, node.values))
    for node in ast.walk(tree):
        if id(node) in passed_over or not isinstance(node, (ast.Constant, ast.JoinedStr)):
            continue
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in parts)
        is_text = isinstance(node, ast.JoinedStr) or isinstance(node.value, str)
        if is_text and re.search(r"[A-Za-z]{2,} [A-Za-z]|[A-Z] [a-z]{2}|[a-z]{2} X", text):
            yield node.lineno, text


@pytest.mark.parametrize("module", SOURCES)
def test_every_sentence_of_a_result_is_there_in_chinese(module: str):
    words = _words.Words("zh")
    missing = [
        f"{module}:{line}: {text}"
        for line, text in sentences(PACKAGE / module)
        if text not in NO_SENTENCES and not CHINESE.search(words.known(text))
    ]
    assert missing == []


def test_the_sources_have_sentences():
    found = {text for module in SOURCES for _, text in sentences(PACKAGE / module)}
    assert len(found) > 100
    assert {"the input X was changed", "X of dtype X"} <= found


@pytest.mark.parametrize(
    "english, chinese",
    [
        ("1 of 257 elements of the result are wrong", "结果的 257 个元素中有 1 个错误"),
        (
            'the process was ended by signal 9 (SIGKILL); memory may have run out; its last words: "a; b"',
            "进程被信号 9（SIGKILL）终止；可能是内存耗尽；其最后的输出：“a; b”",
        ),
        (
            "the right call after the refusal: 3 of 4 elements of result 1 are wrong (run 7: --seed 6)",
            "拒绝之后的正确调用：结果 1的 4 个元素中有 3 个错误（第 7 次运行：--seed 6）",
        ),
        ("x of dtype int8 was accepted: it has to be refused", "接受了类型为 int8 的 x：必须拒绝"),
        ("refuses does not name shape", "refuses 未列出 shape"),
        ("device only; refuses does not name alias", "仅限设备；refuses 未列出 alias"),
        ("the formula: it did not end within 5 s", "公式：未在 5 s 内结束"),
        ('it did not end within 5 s; its last words: "one; two"', "未在 5 s 内结束；其最后的输出：“one; two”"),
        ("e.py took too long and was ended on the operator path", "e.py 在算子路径上耗时过长，已被终止"),
        ("e.py ended with 3 on the reference path: Error: no", "e.py 在参考路径上以 3 结束：Error: no"),
        ("x=-least denormal", "x=-最小次正规数"),
        ("it raised RuntimeError: the tensor is on the wrong side", "引发了 RuntimeError: the tensor is on the wrong side"),
        ("words that nobody knows", "words that nobody knows"),
        ("passed", "通过"),
        # A name of the operator's own stays what it is.
        ("the input zeros was changed", "输入 zeros 被改变"),
    ],
)
def test_a_sentence_is_found_by_its_form(english: str, chinese: str):
    assert _words.Words("zh").known(english) == chinese
    assert _words.Words("en").known(english) == english


def test_both_languages_have_the_same_places():
    place = re.compile(r"\{(\w+)")
    tables = [*_sentences._TABLE, *_words._TABLE.values()]
    assert [row for row in tables if set(place.findall(row[0])) != set(place.findall(row[1])) and row[0]] == []
    english = [row[0] for row in _sentences._TABLE]
    assert len(set(english)) == len(english)


def result() -> Dict[str, Any]:
    """One in which every place for a sentence of its own holds one."""
    found = sample.passing()
    case = {**sample.failed_case(), "what": "x on another device was accepted: it has to be refused"}
    found["correctness"]["cases"].append(case)
    found["correctness"]["failed"] = 1
    found["backend_origin"] = "torch 1.13.1 has the CPU alone"
    row = found["numerics"]["functions"][0]
    row["special"].append({"input": "x=least denormal", "got": "refused: E", "framework": "nothing", "same": False})
    row["vs_framework"], row["vs_framework_unknown"] = None, "it has the shape (2,), the operator's result (3,)"
    found["numerics"]["functions"].append(
        {"function": "f", "dtype": "float32", "unknown": "the formula: it did not end within 5 s", "lost": "timeout"}
    )
    point = found["micro"]["functions"][0]["points"][0]
    point["unknown"] = "not timed: a smaller size ended its process"
    found["e2e"]["counts_why"] = (
        "conversions, copies and synchronisations are not known: the script ended with 3 when they were counted"
    )
    found["e2e"]["error"] = "e2e.py ended with 3 on the operator path"
    found["compare"] = {"entry": None, "note": "no result of another entry of affine on this backend is kept"}
    found["gate"] = _gate.judge(found, {"max_ulp": 0.1, "break_even": 1}, ("correctness", "numerics", "micro", "e2e"))
    return found


#: Words that stay: names of torch, of the contract, of units; what a shell is given.
_NAMES = re.compile(
    r"<[^>]*>|`[^`]*`|dcuop verify \S.*|\S*[/_=.\[\]]\S*|\b(float\w+|torch|python|Python|copy|UTC|hip|gfx\w+|Hygon|BW\d+)\b"
)
_ENGLISH = re.compile(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}")


@pytest.mark.parametrize("render", [lambda one: _view.text(one, "zh"), lambda one: _report_md.render(one, "zh")])
def test_no_line_of_a_view_has_an_english_sentence(render: Any):
    lines: List[str] = [_NAMES.sub("", line) for line in render(result()).splitlines()]
    assert [line for line in lines if _ENGLISH.search(line)] == []


def test_no_text_of_the_page_is_an_english_sentence():
    page = re.sub(r"<(style|script)[^>]*>.*?</\1>", "", _report_html.render(result(), "zh"), flags=re.DOTALL)
    texts = [_NAMES.sub("", text) for text in re.sub(r"<[^>]*>", "\n", page).splitlines()]
    assert [text for text in texts if _ENGLISH.search(text)] == []
