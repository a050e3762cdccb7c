"""`python -m dcuop._verify`: operators that crash, hang, end their process or talk; smaller forms; what is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional

import pytest

import verify_ops
from conftest import PYTHON, ROOT

pytest.importorskip("torch")
sys.path.insert(0, str(ROOT / "python"))

# pylint: disable=wrong-import-position
from dcuop._verify._cases import Case, changed_by_id  # noqa: E402
from dcuop._verify._contract import Function, Request  # noqa: E402
from dcuop._verify._matrix import chosen, matrix  # noqa: E402
from dcuop._verify._runner import _Server  # noqa: E402
from dcuop._verify._shrink import smallest  # noqa: E402

MORE = '''
    import ctypes
    import os
    import random
    import signal
    import subprocess
    import sys
    import time


    def rough(x, scale, bias):
        # Each way to go wrong at a size of its own.
        count = x.numel()
        if count == 31:
            print("about to fail", flush=True)
            os.kill(os.getpid(), signal.SIGSEGV)
        if count == 32:
            os.abort()
        if count == 33:
            os._exit(3)
        if count == 61:
            y = affine(x, scale, bias)
            ctypes.memset(y.data_ptr() + 2 * count, 0, 2)
            return y
        if count == 63:
            while True:
                time.sleep(1)
        return affine(x, scale, bias)


    def talks(x, scale, bias):
        print('{"verdict": {"status": "failed"}}', flush=True)
        os.write(1, b'{"verdict": null}\\n' * 3000)
        os.write(2, b"\\xff\\x00 no text")
        return affine(x, scale, bias)


    def large(x, scale, bias):
        y = affine(x, scale, bias)
        if y.numel() >= 300 and scale < 3:
            y.view(-1)[299] += 1
        return y


    def seldom(x, scale, bias):
        # Once in some calls, whatever the seed.
        seldom.calls = getattr(seldom, "calls", 0) + 1
        return affine(x, scale, bias) + (1 if seldom.calls % 3 == 0 else 0)


    def waits(x, scale, bias):
        child = subprocess.Popen(["sleep", "600"])
        away = subprocess.Popen(["sleep", "600"], start_new_session=True)
        with open(os.environ["PIDS"] + ".new", "w") as file:
            file.write(f"{os.getpid()} {child.pid} {away.pid}")
        os.rename(os.environ["PIDS"] + ".new", os.environ["PIDS"])
        time.sleep(600)
'''


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return verify_ops.write(tmp_path_factory.mktemp("verify") / "python_ops", MORE)


Verify = Callable[..., "subprocess.CompletedProcess[str]"]


def command(path: Path) -> List[str]:
    return [PYTHON, "-m", "dcuop._verify", str(path)]


def environment_with(more: Optional[Mapping[str, str]] = None) -> Dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1", **(more or {})}


@pytest.fixture
def verify(directory: Path, tmp_path: Path) -> Verify:
    """verify("affine", case="...", json=True): of one function of operators.py."""

    def run(name: str, **options: Any) -> "subprocess.CompletedProcess[str]":
        content = verify_ops.request(directory, [verify_ops.function("affine", name)], json=True, **options)
        path = verify_ops.write_request(tmp_path / "request.json", content)
        return subprocess.run(
            command(path), env=environment_with(), capture_output=True, encoding="utf-8", timeout=300, check=False
        )

    return run


def cases_of(done: "subprocess.CompletedProcess[str]") -> Dict[str, Dict[str, Any]]:
    try:
        result = json.loads(done.stdout)
    except ValueError:
        raise AssertionError(f"no JSON: {done}") from None
    return {case["id"].split("/", 2)[2]: case for case in result["correctness"]["cases"]}


def test_crashes_and_hangs_are_verdicts_and_the_others_run_on(verify: Verify):
    done = verify("rough", case="rough/float16/size/[2-6]*", timeout=2)
    assert done.returncode == 1, done
    cases = cases_of(done)
    assert cases["size/31"]["what"] == "the process was ended by signal 11 (SIGSEGV); its last words: \"about to fail\""
    assert "signal 6 (SIGABRT)" in cases["size/32"]["what"]
    assert cases["size/33"]["what"] == "the process ended by itself, with exit code 3"
    assert "memory behind the result was written" in cases["size/61"]["what"]
    assert cases["size/63"]["what"] == "it did not end within 2 s"
    failed = {name for name, case in cases.items() if case["status"] == "failed"}
    assert failed == {"size/31", "size/32", "size/33", "size/61", "size/63"}
    assert {case["status"] for name, case in cases.items() if name not in failed} == {"passed"}
    smallest_form = cases["size/31"]["smallest"]
    assert smallest_form["shapes"] == {"x": [31]} and smallest_form["values"] == "zeros"


def test_what_an_operator_prints_is_no_answer(verify: Verify):
    done = verify("talks", case="talks/float16/size/1*")
    assert done.returncode == 0, done
    assert {case["status"] for case in cases_of(done).values()} == {"passed"}


def test_the_smallest_form_is_named_and_fails_by_its_id(verify: Verify):
    done = verify("large", case="large/float16/size/1023")
    case = cases_of(done)["size/1023"]
    assert case["smallest"]["shapes"] == {"x": [300]} and case["smallest"]["values"] == "zeros"
    assert case["smallest"]["scalars"] == {"scale": 0.0, "bias": 0.0}
    assert case["smallest"]["id"] == "large/float16/size/1023@...=300,values=zeros,scale=0.0,bias=0.0"
    assert case["smallest"]["runs"] <= 60
    again = verify("large", case=case["smallest"]["id"])
    assert again.returncode == 1, again
    (repeated,) = cases_of(again).values()
    assert repeated["id"] == case["smallest"]["id"]
    assert repeated["differing"] == [{"index": [299], "got": "1.0", "want": "0.0", "ulp": 15360}]


def test_cases_are_listed_without_torch(verify: Verify):
    done = verify("affine", list=True)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and "affine/float16/size/257" in lines
    assert "affine/float16/large/2^31   (device only)" in lines


def test_a_pattern_that_names_no_case_is_an_error(verify: Verify):
    done = verify("affine", case="affine/float32/*")
    assert done.returncode == 2 and "no case matches affine/float32/*" in done.stderr


def test_repetition_finds_what_happens_now_and_then(verify: Verify):
    # The first two calls are right.
    case = cases_of(verify("seldom", case="seldom/float16/size/7", repeat=4))["size/7"]
    assert case["status"] == "failed" and case["what"].endswith("(run 3: --seed 2)")


def test_an_operator_that_does_not_load_is_an_error(directory: Path, tmp_path: Path):
    content = verify_ops.request(directory, [{**verify_ops.function("affine"), "call": "operators.py:missing"}])
    path = verify_ops.write_request(tmp_path / "request.json", content)
    done = subprocess.run(command(path), env=environment_with(), capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 2 and "operators.py has no missing" in done.stderr and done.stdout == ""


def has_ended(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_a_fork_server_that_still_imports_torch_is_not_waited_for(directory: Path):
    server = _Server(Request.from_json(verify_ops.request(directory, [verify_ops.function("affine")])), False)
    server.end()
    assert server._process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_outlives_it(directory: Path, tmp_path: Path, number: int):
    content = verify_ops.request(directory, [verify_ops.function("affine", "waits")], case="*/size/1")
    path = verify_ops.write_request(tmp_path / "request.json", content)
    pids = tmp_path / "pids"
    with subprocess.Popen(
        command(path), env=environment_with({"PIDS": str(pids)}), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        deadline = time.monotonic() + 120
        while not pids.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        started = [int(pid) for pid in pids.read_text(encoding="ascii").split()]
        assert not any(map(has_ended, started))
        process.send_signal(number)
        process.communicate(timeout=60)
    deadline = time.monotonic() + 20
    while not all(map(has_ended, started)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [pid for pid in started if not has_ended(pid)] == []
    assert process.returncode == (130 if number == signal.SIGINT else -number)


def cases_in_memory(name: str) -> List[Case]:
    content = verify_ops.request(Path("/nowhere"), [verify_ops.function(name)])
    return matrix(Request.from_json(content))


def contract_of(name: str) -> Function:
    return Function.from_json(verify_ops.function(name))


def search(name: str, case: str, fails: Callable[[Case], bool], **limits: Any) -> Case:
    (start,) = chosen(cases_in_memory(name), f"{name}/{case}")
    assert fails(start)
    found = smallest(start, contract_of(name), fails, **limits)
    assert fails(found.case) and changed_by_id(start, found.case.id or "") == found.case
    return found.case


def count(case: Case, name: str, tensor: str = "x") -> int:
    total = 1
    for size in case.shape(contract_of(name).argument(tensor)):
        total *= size
    return total


def test_the_least_size_is_found():
    found = search("affine", "float16/size/1025", lambda case: count(case, "affine") > 700)
    assert found.dims == {"...": (701,)} and found.values == {"x": "zeros"}
    assert search("affine", "float16/size/768", lambda case: count(case, "affine") % 256 == 0).dims == {"...": (256,)}


def test_dimensions_go_where_they_do_not_matter():
    found = search("norm", "float32/shape/3x5x7x33", lambda case: case.dims["n"][0] > 4)
    assert found.dims == {"...": (1,), "n": (5,)}
    found = search("norm", "float32/shape/3x5x7x33", lambda case: len(case.dims["..."]) > 1)
    assert found.dims == {"...": (1, 1), "n": (1,)}


def test_values_stay_as_special_as_they_must_be():
    found = search("affine", "float16/value/nan-in-x", lambda case: case.values == {"x": "mixed:nan"})
    assert found.values == {"x": "mixed:nan"} and found.dims == {"...": (1,)}

    def fails(case: Case) -> bool:
        return case.values["x"] == "ones" and case.scalars["bias"] != 0

    found = search("affine", "float16/value/ones", fails)
    assert found.values == {"x": "ones"} and found.scalars == {"scale": 0.0, "bias": 1.0}


def test_a_search_ends_when_its_runs_are_spent():
    runs: List[str] = []

    def fails(case: Case) -> bool:
        runs.append(case.id)
        return count(case, "affine") > 1000

    found = search("affine", "float16/size/65537", fails, runs=7)
    assert len(runs) <= 9 and count(found, "affine") <= 65537


def test_what_is_broadcast_keeps_its_pattern():
    found = search("add", "float32/broadcast/3x5x7:=1=", lambda case: case.patterns == {"b": "=1="})
    assert found.dims == {"...": (1, 1, 1)}
