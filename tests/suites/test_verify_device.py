"""`dcuop verify` on a device: cases that no host can run find their faults there, and right operators pass them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any, Dict, List, Tuple

import pytest

import verify_ops
from conftest import PYTHON, ROOT

torch = pytest.importorskip("torch")
sys.path.insert(0, str(ROOT / "python"))

# pylint: disable=wrong-import-position
from dcuop._verify._attempt import attempt  # noqa: E402
from dcuop._verify._checks import Bench  # noqa: E402
from dcuop._verify._contract import Request  # noqa: E402
from dcuop._verify._matrix import matrix  # noqa: E402
from dcuop._verify._memory import FreshMemory  # noqa: E402
from dcuop._verify._target import Target  # noqa: E402

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no device is visible to torch")
needs_two = pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two devices")

DEVICE = '''
    import ctypes
    import math

    kept, lost, streams = [], [], []


    def on_device(x, scale, bias):
        if not x.is_cuda:
            raise RuntimeError(f"affine: x must be on a device, got {x.device}")
        if x.dtype != torch.float16 or x.layout != torch.strided or not x.is_contiguous() or x.is_neg():
            raise RuntimeError("affine: x must be float16 and contiguous")
        if x.requires_grad and torch.is_grad_enabled():
            raise RuntimeError("affine: x requires grad")
        # In float32, once and in place: 2^31 elements in float64 would need four times the memory.
        return torch.add(torch.mul(x.float(), scale), bias).half() if x.numel() < 2**31 else (x * scale).add_(bias)


    def default_stream(x, scale, bias):
        with torch.cuda.stream(torch.cuda.default_stream()):
            return on_device(x, scale, bias)


    def own_stream(x, scale, bias):
        if not streams:
            streams.append(torch.cuda.Stream())
        with torch.cuda.stream(streams[0]):
            return on_device(x, scale, bias)


    def waits(x, scale, bias):
        # Slow, and right.
        torch.cuda.current_stream().synchronize()
        with torch.cuda.stream(torch.cuda.default_stream()):
            y = on_device(x, scale, bias)
        torch.cuda.synchronize()
        return y


    def index32(x, scale, bias):
        y = on_device(x, scale, bias)
        if y.numel() >= 2**31:
            y[2**31:] = y[: y.numel() - 2**31].clone()
        return y


    def races(x, scale, bias):
        # Additions in no order: their sum differs by its rounding.
        y = on_device(x, scale, bias)
        if y.numel():
            parts = torch.linspace(-1, 1, 200000, device=x.device) ** 3
            places = torch.zeros(200000, dtype=torch.int64, device=x.device)
            noise = torch.zeros(1, device=x.device).index_add_(0, places, parts)
            y.view(torch.int16).view(-1)[0] ^= noise.view(torch.int32)[0].to(torch.int16) & 1
        return y


    def leaks(x, scale, bias):
        y = on_device(x, scale, bias)
        if y.numel() == 8192:
            lost.append(y.view(y.shape))
        return y


    def memset(address, count):
        path = next(line.split()[-1] for line in open("/proc/self/maps") if "libcudart" in line)
        assert ctypes.CDLL(path).cudaMemset(ctypes.c_void_p(address), 0, ctypes.c_size_t(count)) == 0


    def behind_result(x, scale, bias):
        # As compiled code does: nothing is allocated but the result.
        if not kept:
            kept.extend([torch.empty(100000, device=x.device)])
        work = kept[0][: x.numel()].view(x.shape)
        work.copy_(x).mul_(scale).add_(bias)
        y = torch.empty_like(x)
        y.copy_(work)
        if y.numel() % 256:
            torch.cuda.synchronize()
            memset(y.data_ptr() + 2 * y.numel(), 2)
        return y


    def behind_input(x, scale, bias):
        if x.numel():
            memset(x.data_ptr() + 2 * x.numel(), 2)
        return on_device(x, scale, bias)


    def unwritten(x, scale, bias):
        y = torch.empty_like(x)
        whole = x.numel() // 256 * 256
        y.view(-1)[:whole] = on_device(x, scale, bias).view(-1)[:whole]
        return y


    def asserts(x, scale, bias):
        y = on_device(x, scale, bias)
        if y.numel() == 64:
            y.view(-1)[torch.tensor([1 << 30], device=x.device)] = 1
        return y


    def current_device(x, scale, bias):
        return on_device(x.to("cuda"), scale, bias)


    def sets_device(x, scale, bias):
        if x.is_cuda:
            torch.cuda.set_device(x.device)
        return on_device(x, scale, bias)
'''

FAULTS: List[Tuple[str, str, str]] = [
    ("default_stream", "stream/current", "on a busy stream that is the current one"),
    ("own_stream", "stream/current", "on a busy stream that is the current one"),
    ("default_stream", "stream/several", "on a busy stream that is the current one"),
    ("own_stream", "stream/current-of-thread", "on a busy stream that is the current one"),
    ("index32", "large/2^31", "of 2147483905 elements, from index"),
    ("races", "race/257", "several at once, changed 1 of 257"),
    ("leaks", "leak/calls", "more are alive after 1000 calls"),
    ("behind_result", "size/257", "behind the result was written"),
    ("behind_input", "size/257", "beside x was written"),
    ("unwritten", "size/257", "1 of 257 elements of the result are wrong"),
]
FAULTS_OF_TWO: List[Tuple[str, str, str]] = [
    ("current_device", "device/second", "the result is on cuda:0 instead of cuda:1"),
    ("sets_device", "device/second", "the current device was 0 and is 1 after the call"),
]


def function(name: str) -> Dict[str, Any]:
    return verify_ops.function("affine", name, tolerance={"float16": {"ulp": 2}})


def request(directory: Any, names: List[str], **options: Any) -> Dict[str, Any]:
    return {**verify_ops.request(directory, [function(name) for name in names], **options), "backend": "cuda"}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return verify_ops.write(tmp_path_factory.mktemp("verify") / "device_ops", DEVICE)


@pytest.fixture(scope="module")
def bench(directory: Any) -> Bench:
    names = list(dict.fromkeys(["on_device", "waits", *(name for name, _, _ in FAULTS + FAULTS_OF_TWO)]))
    target = Target.load(Request.from_json(request(directory, names)))
    return Bench(target, FreshMemory(target.device))


@pytest.fixture(scope="module")
def cases(bench: Bench) -> Dict[str, Any]:
    return {case.id: case for case in matrix(bench.target.request)}


def test_a_right_operator_passes_every_case(bench: Bench, cases: Dict[str, Any]):
    verdicts = {name: attempt(bench, case) for name, case in cases.items() if name.startswith("on_device/")}
    assert {name: verdict for name, verdict in verdicts.items() if verdict.status == "failed"} == {}
    reasons = {verdict.reason for verdict in verdicts.values() if verdict.status == "skipped"}
    assert reasons <= {"refuses does not name shape", "needs two devices, and one is visible"}


@pytest.mark.parametrize("case", ["stream/current", "stream/several", "stream/current-of-thread"])
def test_waiting_for_the_device_is_no_fault(bench: Bench, cases: Dict[str, Any], case: str):
    assert attempt(bench, cases[f"waits/float16/{case}"]).status == "passed"


@pytest.mark.parametrize("name, case, words", FAULTS)
def test_a_fault_is_found_by_its_case(bench: Bench, cases: Dict[str, Any], name: str, case: str, words: str):
    if name == "behind_result":
        assert attempt(bench, cases["behind_result/float16/size/256"]).status == "passed"
    verdict = attempt(bench, cases[f"{name}/float16/{case}"])
    assert verdict.status == "failed" and words in verdict.what, verdict


@needs_two
@pytest.mark.parametrize("name, case, words", FAULTS_OF_TWO)
def test_a_fault_of_two_devices_is_found(bench: Bench, cases: Dict[str, Any], name: str, case: str, words: str):
    verdict = attempt(bench, cases[f"{name}/float16/{case}"])
    assert verdict.status == "failed" and words in verdict.what, verdict


def test_after_a_fault_of_the_device_the_next_case_has_a_new_process(directory: Any, tmp_path: Any):
    content = request(directory, ["asserts"], case="asserts/float16/size/6*", json=True)
    path = verify_ops.write_request(tmp_path / "request.json", content)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    command = [PYTHON, "-m", "dcuop._verify", str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", timeout=300, check=False)
    found = {case["id"].split("/")[-1]: case for case in json.loads(done.stdout)["correctness"]["cases"]}
    assert found["64"]["status"] == "failed" and "device-side assert" in found["64"]["what"]
    assert {name for name, case in found.items() if case["status"] != "passed"} == {"64"}
    assert {"63", "65", "61"} <= set(found)
