"""The end-to-end layer of `dcuop verify`: scripts in processes of their own, with a real operator and without."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import types
from pathlib import Path
from typing import Any, Dict, List

import pytest
from conftest import write_op
from verify_request import Silent, X, function

torch = pytest.importorskip("torch")

# pylint: disable=wrong-import-position
from dcuop._verify import _e2e, _e2e_child, _results, _summary  # noqa: E402
from dcuop._verify._contract import Request  # noqa: E402
from dcuop._verify._e2e_counts import Counted, Counts, Operations, _count_module, counting  # noqa: E402
from dcuop._verify._words import Words  # noqa: E402

SOURCE = """
    extern "C" void scale(float* x, long count) { for (long i = 0; i < count; ++i) { x[i] *= 3.0f; } }
"""

# The metric is what the script says: 100, 101, ... without the operator, a fifth more with it.
SCRIPT = """
    import ctypes, json, os, sys
    from pathlib import Path
    import torch
    import dcuop
    here = Path(__file__).resolve().parent
    operator = os.environ["DCUOP_VERIFY_PATH"] == "operator"
    x = torch.arange(64, dtype=torch.float32).view(8, 8)
    if operator:
        library = dcuop.load_op(here)
        library.scale.argtypes = [ctypes.c_void_p, ctypes.c_long]
        library.scale.restype = None
        for _ in range(3):
            y = x.t().contiguous()  # a copy
            library.scale(y.data_ptr(), y.numel())
        assert y[0, 1].item() == 24.0, y  # a synchronisation
    else:
        y = x.t().half().float() * 3  # two conversions
    runs = here / f"runs-{operator}"
    done = len(runs.read_text()) if runs.exists() else 0
    print("not JSON", {"steps": 1})
    print(json.dumps({"steps": (100.0 + done) * (1.2 if operator else 1.0), "other": 1}))
    print(json.dumps({"other": 2}))
    runs.write_text("x" * (done + 1))
"""


def request(directory: Path, **e2e: Any) -> Request:
    return Request.from_json(
        {
            "schema": 1,
            "op": {"name": "scaled", "directory": str(directory), "kind": "plain", "entry": "e", "archs": []},
            "backend": "hip",
            "contract": {
                "functions": [function("scale", ["float32"], [X])],
                "e2e": {"script": "e2e.py", "metric": "steps", "runs": 2, **e2e} if e2e is not None else None,
            },
        }
    )


def run(directory: Path, **e2e: Any) -> Dict[str, Any]:
    result = _e2e.run(None, request(directory, **e2e), Silent())
    _results.to_json(result)
    return result


@pytest.fixture
def dcuop_here(environment, dcuop_binary, monkeypatch):
    """This process's children find dcuop, and a cache of the test's own."""
    for name, value in {**environment, "DCUOP": str(dcuop_binary)}.items():
        monkeypatch.setenv(name, value)


def test_a_script_is_run_with_the_operator_and_without(tmp_path, dcuop_here):
    op = write_op(tmp_path / "scaled", sources={"op.cpp": SOURCE}, files={"e2e.py": SCRIPT})
    result = run(op, runs=1)
    assert result["error"] == "", result
    # The counted run of each path came first.
    assert result["reference"]["values"] == [101.0] and result["operator"]["values"] == pytest.approx([121.2])
    assert result["change"]["median"] == pytest.approx(0.2) and result["change"]["runs"] == 1
    assert result["calls"] == [{"function": "scale", "count": 3, "shapes": []}]
    assert result["counts"] == {
        "reference": {"conversions": 2, "copies": 0, "synchronisations": 0},
        "operator": {"conversions": 0, "copies": 3, "synchronisations": 1},
    }
    assert result["added"] == {"conversions": -2, "copies": 3, "synchronisations": 1} and result["counts_why"] == ""
    memory = result["peak_memory"]
    if not torch.cuda.is_available():
        assert memory["kind"] == "process" and memory["reference"] > 10 << 20 and memory["operator"] > 10 << 20
    line = _summary.rows({"e2e": result}, Words())[1].lines[0]
    assert line.startswith(
        "steps 20 % better (p10 to p90: +20 % to +20 %) · 3 calls of the operator · adds 3 copies, 1 syn"
    )


def child(tmp_path: Path, monkeypatch: Any, code: str) -> Any:
    """The exit code of a counted run, in this process, and what it wrote."""
    script, result = tmp_path / "script.py", tmp_path / "result.json"
    script.write_text(code)
    monkeypatch.setattr(sys, "argv", [])
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    code_ = _e2e_child.main([str(script), str(tmp_path), str(result)])
    return code_, json.loads(result.read_text())


@pytest.mark.parametrize(
    "end, code",
    [("", 0), ("raise SystemExit", 0), ("raise SystemExit(7)", 7), ("raise SystemExit('no data')", 1), ("1 / 0", 1)],
)
def test_a_counted_script_ends_as_it_would_and_leaves_its_counts(tmp_path, monkeypatch, capsys, end, code):
    begin = "import sys, torch\nassert __name__ == '__main__' and sys.argv == [__file__]\ntorch.ones(2).half()\n"
    ended, counts = child(tmp_path, monkeypatch, begin + end)
    assert ended == code
    assert counts["counts"]["conversions"] == 1 and counts["calls"] == []
    said = capsys.readouterr().err
    assert ("no data" in said, "ZeroDivisionError" in said) == ("no data" in end, end == "1 / 0")


def test_without_a_script_there_is_nothing(tmp_path):
    asked = request(tmp_path)
    contract = {"functions": asked.raw["contract"]["functions"], "e2e": None}
    assert _e2e.run(None, Request.from_json({**asked.raw, "contract": contract}), Silent()) == {}


class Scripted(_e2e._Script):
    """A script whose processes are made up: how each ends, in order."""

    def __init__(self, directory: Path, ends: List[_e2e._Run]) -> None:
        asked = request(directory)
        super().__init__(asked, asked.contract.e2e, str(directory))
        self.ends = ends
        self.ran: List[str] = []

    def _run(self, arguments: Any, path: str) -> _e2e._Run:
        self.ran.append(path)
        return self.ends.pop(0)


def test_what_ends_a_run_is_told(tmp_path):
    def said(done: _e2e._Run) -> str:
        with pytest.raises(_e2e.Broken) as caught:
            Scripted(tmp_path, [done]).plain("operator")
        return str(caught.value)

    assert said(_e2e._Run(None, "", "")) == "e2e.py took too long and was ended on the operator path"
    assert said(_e2e._Run(-11, "", "a\n\n  b \n")) == "e2e.py was ended by signal 11 on the operator path: b"
    assert said(_e2e._Run(0, "x", "")) == 'e2e.py on the operator path: it printed no line {"steps": number}'


def test_a_script_has_to_be_there(tmp_path):
    assert run(tmp_path, script="none.py")["error"] == f"there is no {tmp_path / 'none.py'}"


def test_the_timed_runs_take_turns(tmp_path):
    script = Scripted(tmp_path, [_e2e._Run(0, f'{{"steps": {value}}}', "") for value in (1, 2, 4, 2)])
    result: Dict[str, Any] = {}
    _e2e._time(script, result, Silent())
    assert script.ran == ["reference", "operator", "operator", "reference"]
    assert result["reference"]["values"] == [1.0, 2.0] and result["operator"]["values"] == [2.0, 4.0]
    assert result["change"] == {"median": 1.0, "p10": 1.0, "p90": 1.0, "low": 1.0, "high": 1.0, "runs": 2}


def counted(calls: int, why: str = "", copies: Any = 1) -> Dict[str, Any]:
    return {
        "calls": [{"function": "f", "count": calls, "shapes": []}] if calls else [],
        "counts": {"copies": copies},
        "peak_memory": {"bytes": 5, "kind": "process"},
        "why": why,
    }


def counted_result(directory: Path, calls: Dict[str, int], **more: Any) -> Dict[str, Any]:
    """The result of a script that calls the operator as often as `calls` says, up to its timed runs."""
    (directory / "e2e.py").write_text("")
    script = Scripted(directory, [])
    script.counted = lambda path: counted(calls[path], **more)  # type: ignore[method-assign]
    result: Dict[str, Any] = {}
    try:
        _e2e._count(script, result, Silent())
    except _e2e.Broken as error:
        result["error"] = str(error)
    return result


def test_an_operator_that_never_runs_or_runs_on_both_paths_is_an_error(tmp_path):
    assert "error" not in counted_result(tmp_path, {"reference": 0, "operator": 2})
    assert counted_result(tmp_path, {"reference": 0, "operator": 0})["error"] == (
        f"e2e.py never called the operator on the operator path: no function of what dcuop.load_op returns for {tmp_path}"
    )
    assert counted_result(tmp_path, {"reference": 2, "operator": 2})["error"] == (
        "e2e.py called the operator 2 times on the reference path too"
    )


def test_what_is_not_known_is_no_difference(tmp_path):
    result = counted_result(tmp_path, {"reference": 0, "operator": 2}, why="copies are not known", copies=None)
    assert result["added"] == {} and result["counts_why"] == "copies are not known"


def test_a_script_that_does_not_run_while_it_is_watched_is_run_again(tmp_path):
    script = Scripted(tmp_path, [_e2e._Run(1, "", "x"), _e2e._Run(0, "", "")])
    written = script._run

    def run_(arguments: Any, path: str) -> _e2e._Run:
        done = written(arguments, path)
        if arguments[-1] == "--calls-only":
            Path(arguments[-2]).write_text(json.dumps(counted(1, copies=None)))
        return done

    script._run = run_  # type: ignore[method-assign]
    told = script.counted("operator")
    assert (
        told["why"]
        == "conversions, copies and synchronisations are not known: the script ended with 1 when they were counted"
    )
    script = Scripted(tmp_path, [_e2e._Run(3, "", "bad"), _e2e._Run(3, "", "bad")])
    with pytest.raises(_e2e.Broken, match="^e2e.py ended with 3 on the operator path: bad$"):
        script.counted("operator")


@pytest.mark.parametrize("ends", [True, False])
def test_what_a_script_starts_ends_with_it(tmp_path, ends):
    (tmp_path / "e2e.py").write_text(textwrap.dedent(f"""
        import subprocess, time
        started = [subprocess.Popen(["sleep", "600"], start_new_session=away) for away in (False, True)]
        print(*(one.pid for one in started), flush=True)
        time.sleep({0 if ends else 600})
    """))
    with subprocess.Popen(["sleep", "600"]) as other:
        asked = request(tmp_path)
        script = _e2e._Script(asked, asked.contract.e2e, str(tmp_path))
        script._seconds = 60.0 if ends else 3.0
        done = script._run([str(tmp_path / "e2e.py")], "operator")
        assert done.code == (0 if ends else None), done
        left = [pid for pid in map(int, done.stdout.split()) if Path(f"/proc/{pid}").exists()]
        still = other.poll()
        other.kill()
    assert len(done.stdout.split()) == 2 and left == []
    assert still is None, "this is no child of the script's"


def test_a_metric_is_the_last_one_that_is_a_number_above_zero():
    assert _e2e.metric_in('{"a": 1}\n{"a": 2.5, "b": 3}\n{"b": 4}\n[1]\nnull\n{', "a") == 2.5
    for output in ('{"a": 0}', '{"a": -1}', '{"a": true}', '{"a": "1"}', '{"a": NaN}', '{"a": null}'):
        with pytest.raises(_e2e.Broken, match="is no number above 0"):
            _e2e.metric_in(output, "a")


def test_a_change_is_positive_where_it_is_better():
    assert _e2e.changes([100.0, 200.0], [110.0, 180.0], "higher") == pytest.approx([0.1, -0.1])
    # 100 ms instead of 110: ten per cent more in the same time.
    assert _e2e.changes([110.0, 90.0], [100.0, 100.0], "lower") == pytest.approx([0.1, -0.1])


# --- what is counted


def test_torchs_operations_are_counted():
    counts = Counts()
    x = torch.arange(6, dtype=torch.float32).view(2, 3)
    with Operations(counts):
        x.to(torch.float32), x.contiguous(), x.view(6)  # nothing
        x.half()
        x.to(torch.float64)
        x.clone()
        x.t().contiguous()
        x.copy_(torch.ones(2, 3, dtype=torch.float64))
        x[0, 0].item()
        bool((x > 0).any())
    expected = 0 if torch.cuda.is_available() else 2
    assert (counts.conversions, counts.copies, counts.synchronisations) == (3, 3, expected)


@pytest.mark.parametrize("more, reads", [((), 1), ((False,), 1), ((True,), 0)])
def test_a_copy_that_nobody_waits_for_is_no_synchronisation(more, reads):
    there, here = (
        types.SimpleNamespace(dtype=torch.float32, device=torch.device(name)) for name in ("cuda:0", "cpu")
    )
    counts = Counts()

    def copy(*_: Any) -> None:
        """Of no device."""

    copy._schema = types.SimpleNamespace(name="aten::copy_")  # type: ignore[attr-defined]
    Operations(counts).__torch_dispatch__(copy, (), (here, there, *more))
    assert (counts.copies, counts.synchronisations) == (1, reads)


def test_calls_are_counted_wherever_the_function_is_of():
    counts = Counts()
    aten = Counted(torch.ops.aten, counts)
    x = torch.ones(2, 3)
    for _ in range(2):
        assert torch.equal(aten.relu(x), x)
    aten.add.Tensor(x, x)  # an overload of its own: not a call of `add`
    module = types.ModuleType("module")
    module.double = lambda x: x * 2  # type: ignore[attr-defined]
    module.Kind = int  # type: ignore[attr-defined]
    _count_module(module, counts)
    _count_module(module, counts)
    assert module.double(x=torch.ones(4)).tolist() == [2.0] * 4 and module.double(3) == 6 and module.Kind("3") == 3
    told = {call["function"]: (call["count"], call["shapes"]) for call in counts.to_json(True)["calls"]}
    assert told == {"relu": (2, [[2, 3]]), "double": (2, [[4]])}
    assert counts.to_json(False)["counts"] == {"conversions": None, "copies": None, "synchronisations": None}


def test_operators_of_torch_are_counted_where_torch_has_them(tmp_path, monkeypatch):
    import dcuop  # pylint: disable=import-outside-toplevel
    from dcuop import _load  # pylint: disable=import-outside-toplevel

    namespace = torch.ops.aten
    monkeypatch.setattr(_load, "load_op", lambda path: torch.ops.aten)
    counts = Counts()
    with counting(counts, str(tmp_path), operations=False):
        for _ in range(2):
            mine = dcuop.load_op(tmp_path)
        torch.ops.aten.relu(torch.ones(2))
        mine.relu(torch.ones(3))
    assert counts.calls == {"relu": {(2,): 1, (3,): 1}}
    assert torch.ops.aten is namespace


def test_only_this_operators_directory_is_counted_and_all_is_put_back(tmp_path, monkeypatch):
    import dcuop  # pylint: disable=import-outside-toplevel
    from dcuop import _load  # pylint: disable=import-outside-toplevel

    library = types.SimpleNamespace(f=lambda: 1, value=5)
    monkeypatch.setattr(_load, "load_op", lambda path: library)
    monkeypatch.setattr(dcuop, "load_op", _load.load_op)
    before = (dcuop.load_op, torch.cuda.synchronize, torch.cuda.Event.synchronize)
    (tmp_path / "op").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "op")
    counts = Counts()
    with counting(counts, str(tmp_path / "op"), operations=False):
        assert dcuop.load_op(tmp_path / "other") is library
        mine = dcuop.load_op(tmp_path / "link")
        assert (mine.f(), mine.value) == (1, 5) and dcuop.load_op(str(tmp_path / "op")) is mine
    assert counts.calls == {"f": {None: 1}}
    assert (dcuop.load_op, torch.cuda.synchronize, torch.cuda.Event.synchronize) == before
