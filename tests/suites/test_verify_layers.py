"""`python -m dcuop._verify`: formulas and operators that hang or crash in numerics and micro; an interrupted run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Dict, List, Mapping

import pytest

import verify_ops
import verify_sample
from conftest import PYTHON, ROOT

pytest.importorskip("torch")

MORE = '''
    import os
    import signal
    import time


    def stuck_formula(x, scale, bias):
        # Only the numerics ask for it in float64.
        if x.dtype == torch.float64:
            time.sleep(600)
        return affine_formula(x, scale, bias)


    def crashes_at_64(x, scale, bias):
        if x.numel() == 64:
            os.kill(os.getpid(), signal.SIGSEGV)
        return affine(x, scale, bias)


    def stuck_at_2(x, scale, bias):
        if x.numel() == 2:
            time.sleep(600)
        return affine(x, scale, bias)
'''


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return verify_ops.write(tmp_path_factory.mktemp("verify") / "python_ops", MORE)


def started(directory: Path, place: Path, functions: List[Mapping[str, Any]], **options: Any) -> "subprocess.Popen[str]":
    content = verify_ops.request(directory, functions, **options)
    content["contract"]["micro"] = {"sizes": [16, 64, 128], "runs": 3}
    path = verify_ops.write_request(place / "request.json", content)
    return subprocess.Popen(
        [PYTHON, "-m", "dcuop._verify", str(path)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


@pytest.fixture(scope="module")
def result(directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Dict[str, Any]:
    """Of three functions: a formula hangs in numerics, an operator crashes in micro, and one is right."""
    functions = [
        verify_ops.function("affine", formula="operators.py:stuck_formula"),
        verify_ops.function("affine", "crashes_at_64"),
        verify_ops.function("norm", arguments=verify_ops.arguments_of("norm")),
    ]
    options = {"layers": ["numerics", "micro"], "timeout": 8, "json": True}
    with started(directory, tmp_path_factory.mktemp("request"), functions, **options) as process:
        out, err = process.communicate(timeout=300)
    assert process.returncode == 1, (out, err)
    found: Dict[str, Any] = json.loads(out)
    return found


def test_a_formula_that_hangs_is_a_finding_and_the_others_are_measured(result: Dict[str, Any]):
    stuck, *others = result["numerics"]["functions"]
    assert (stuck["function"], stuck["dtype"], stuck["lost"]) == ("affine", "float16", "timeout")
    assert stuck["unknown"] == "the formula: it did not end within 8 s"
    assert [(row["function"], row["unknown"]) for row in others] == [
        ("crashes_at_64", ""),
        ("norm", ""),
        ("norm", ""),
    ]


def test_an_operator_that_crashes_at_one_size_is_a_finding_there(result: Dict[str, Any]):
    rows = {row["function"]: row["points"] for row in result["micro"]["functions"]}
    before, crashed, after = rows["crashes_at_64"]
    assert before["candidate_us"]["runs"] == 3
    assert (crashed["n"], crashed["lost"]) == (64, "signal 11")
    assert crashed["unknown"] == "the operator: the process was ended by signal 11 (SIGSEGV)"
    assert after["unknown"] == "not timed: a smaller size ended its process" and "lost" not in after
    assert all(point["candidate_us"] for name in ("affine", "norm") for point in rows[name])


def test_the_gate_names_layer_function_and_size(result: Dict[str, Any]):
    assert [reason["text"] for reason in result["gate"]["reasons"]] == [
        "numerics, affine float16: the formula: it did not end within 8 s.",
        "micro, crashes_at_64 float16, 64 elements: the operator: the process was ended by signal 11 (SIGSEGV).",
    ]


def test_what_a_result_holds_is_documented(result: Dict[str, Any]):
    assert verify_sample.undocumented(result) == set()


def test_an_interrupted_run_says_what_was_done(directory: Path, tmp_path: Path):
    functions = [verify_ops.function("affine", "stuck_at_2")]
    with started(directory, tmp_path, functions, case="stuck_at_2/float16/size/[012]", repeat=2) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("backend")
        # Size 2 is the third, and never ends.
        with pytest.raises(subprocess.TimeoutExpired):
            process.communicate(timeout=3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "dcuop: interrupted in the layer correctness after 2 of 6 cases; the result is not kept" in err
    assert out.splitlines()[-1].startswith("correctness   2 passed, 0 failed, 0 skipped")


def test_an_interrupt_while_the_operator_is_loaded_is_said(tmp_path: Path):
    loading = tmp_path / "loading"
    slow = f"""
        import pathlib
        import time
        pathlib.Path({str(loading)!r}).touch()
        time.sleep(600)
    """
    place = verify_ops.write(tmp_path / "slow_to_load", slow)
    with started(place, tmp_path, [verify_ops.function("affine")]) as process:
        while not loading.exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "dcuop: interrupted while the operator was being loaded; nothing was run" in err
