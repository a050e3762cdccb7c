"""Checks that call more than once: the same bits, other threads, memory that is given back."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
import time
from typing import Any, Dict, List, Mapping

import torch

from ._cases import Case
from ._checks import REFUSALS, Bench, Check, Failed, judge
from ._contract import Function, Tolerance
from ._inputs import Inputs, dtype_named
from ._judge import differ, same_bits
from ._target import copied, outputs

#: A call that keeps this part of a result's memory leaks: what the allocator itself keeps is far less.
_PART_LOST = 0.5
_WARM_UP_CALLS = 50
#: An emulated grid may be slow: fewer calls then, but not so few that what they lose could be missed.
_LEAK_SECONDS, _LEAST_CALLS = 15.0, 200


def repeat(bench: Bench, case: Case, function: Function) -> None:
    """The same arguments give the same bits each time."""
    calls = case.options["calls"]
    inputs = bench.inputs(case, function, guarded=False)
    usual = copied(inputs.arguments)
    want = bench.want(function, usual)
    got = outputs(function, bench.call(function, inputs.arguments), inputs.arguments)
    judge(case, inputs, tuple(got), want)
    first = [tensor.clone() for tensor in got]
    for number in range(1, calls):
        if function.inplace is not None:
            inputs.arguments[function.inplace].copy_(usual[function.inplace])
        got = outputs(function, bench.call(function, inputs.arguments), inputs.arguments)
        check_same(first, got, f"call {number + 1} of {calls} with the same arguments")


def apart(bench: Bench, case: Case, function: Function) -> None:
    """A result stays as it is when the function is called with other arguments."""
    inputs = bench.inputs(case, function)
    want = bench.want(function, inputs.arguments)
    result = bench.call(function, inputs.arguments)
    for other_case in (case.with_seed(1), case.with_seed(2)):
        bench.call(function, bench.inputs(other_case, function).arguments)
    try:
        judge(case, inputs, result, want)
    except Failed as error:
        raise Failed(error.kind, f"after two further calls, {error.what}", error.difference) from error


def in_turn(bench: Bench, case: Case, function: Function) -> None:
    """Large, small, large: what a call keeps for the next one must fit that one too."""
    small = _with_dims(case, lambda size: min(size, 2))
    empty = _with_dims(case, lambda size: 0)
    for number, one in enumerate((case, small, case, empty, small, case)):
        inputs = bench.inputs(one.with_seed(number), function)
        want = bench.want(function, inputs.arguments)
        try:
            judge(case, inputs, bench.call(function, inputs.arguments), want)
        except Failed as error:
            raise Failed(error.kind, f"call {number + 1} of sizes in turn: {error.what}", error.difference) from error


def threads(bench: Bench, case: Case, function: Function) -> None:
    """Several threads at once, each with arguments of its own, get what each would alone."""
    count, calls = case.options["threads"], case.options["calls"]
    seeds = [[thread * calls + call for call in range(calls)] for thread in range(count)]
    jobs = [[bench.inputs(case.with_seed(seed), function, guarded=False) for seed in row] for row in seeds]
    wants = [[bench.want(function, inputs.arguments) for inputs in job] for job in jobs]
    gots: List[List[Any]] = [[] for _ in range(count)]
    faults: List[BaseException] = []
    together = threading.Barrier(count)

    def work(thread: int) -> None:
        try:
            together.wait()
            for inputs in jobs[thread]:
                gots[thread].append(bench.call(function, inputs.arguments))
        except BaseException as error:  # pylint: disable=broad-except
            faults.append(error)

    workers = [threading.Thread(target=work, args=(thread,)) for thread in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for fault in faults:
        what = fault.what if isinstance(fault, Failed) else repr(fault)
        raise Failed("threads", f"called from {count} threads at once, {what}") from fault
    for job, want, got in zip(jobs, wants, gots):
        for inputs, right, result in zip(job, want, got):
            try:
                judge(case, inputs, result, right)
            except Failed as error:
                what = f"called from {count} threads at once, {error.what}"
                raise Failed("threads", what, error.difference) from error


def leak(bench: Bench, case: Case, function: Function) -> None:
    """Memory after many calls is what it was: of results, and of arguments, which are new ones each time."""
    usual = bench.inputs(case, function, guarded=False)
    arguments = _refused_arguments(bench, function, usual) if case.options.get("refused") else usual.arguments
    size = min(value.numel() * value.element_size() for value in arguments.values() if _has_size(value))
    since = time.monotonic()
    for _ in range(_WARM_UP_CALLS):
        _call_and_drop(bench, case, function, arguments)
    bench.target.synchronize()
    each = (time.monotonic() - since) / _WARM_UP_CALLS
    calls = max(_LEAST_CALLS, min(case.options["calls"], int(_LEAK_SECONDS / max(each, 1e-9))))

    def lost_by_calls() -> int:
        before = _memory(bench)
        for _ in range(calls):
            _call_and_drop(bench, case, function, arguments)
        return _memory(bench) - before

    live, held = _live_tensors(), _references(arguments)
    lost = lost_by_calls()
    more = _live_tensors() - live
    if more >= calls * _PART_LOST:
        raise Failed("leak", f"{more} tensors more are alive after {calls} calls")
    if lost >= calls * size * _PART_LOST:
        # A device's memory is everybody's: what another process took meanwhile is not taken once more.
        lost = min(lost, lost_by_calls())
    if lost >= calls * size * _PART_LOST:
        what = f"{lost / 2**20:.1f} MiB more are in use after {calls} calls, {lost / calls:.0f} bytes a call"
        raise Failed("leak", what)
    for name, count in _references(arguments).items():
        if count - held[name] >= calls * _PART_LOST:
            raise Failed("leak", f"the argument {name} is held {count - held[name]} times more after {calls} calls")


def _call_and_drop(bench: Bench, case: Case, function: Function, arguments: Mapping[str, Any]) -> None:
    fresh = {name: value.clone() if _has_size(value) else value for name, value in arguments.items()}
    if not case.options.get("refused"):
        bench.target.call(function, fresh)
        bench.target.call(function, arguments)
        return
    for one in (fresh, arguments):
        try:
            bench.target.call(function, one)
        except REFUSALS:
            continue
        raise Failed("accepted", "an argument of the wrong dtype was accepted")


def _refused_arguments(bench: Bench, function: Function, usual: Inputs) -> Dict[str, Any]:
    first = function.tensors[0].name
    wrong = next(name for name in ("float64", "float32", "int32") if name not in function.dtypes)
    return {**usual.arguments, first: usual.arguments[first].to(dtype_named(wrong))}


def _has_size(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.numel() > 1


def _memory(bench: Bench) -> int:
    """Bytes: of the device's allocator, or resident ones of this process."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        # What malloc keeps of earlier cases would hide what is lost.
        trim(0)
    if bench.device.type == "cuda":
        torch.cuda.synchronize()
        free, total = torch.cuda.mem_get_info()
        # What is reserved and free is torch's own cache.
        return total - free - torch.cuda.memory_reserved() + torch.cuda.memory_allocated()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _live_tensors() -> int:
    # type(), as isinstance asks objects for their __class__, which some answer with effort or an error.
    return sum(issubclass(type(thing), torch.Tensor) for thing in gc.get_objects())


def _references(arguments: Mapping[str, Any]) -> Dict[str, int]:
    return {name: sys.getrefcount(value) for name, value in arguments.items() if isinstance(value, torch.Tensor)}


def check_same(first: List[torch.Tensor], got: List[torch.Tensor], which: str) -> None:
    """Raises Failed unless each result has the bits of the first."""
    for one, other in zip(first, got):
        if same_bits(other, one):
            continue
        difference = differ(other, one, Tolerance(ulp=0.0)) if one.shape == other.shape else None
        count = f"{difference.wrong} of {difference.of} elements" if difference else "the result"
        raise Failed("not-deterministic", f"{which} changed {count}", difference)


def _with_dims(case: Case, change: Any) -> Case:
    dims = {name: [change(size) for size in sizes] for name, sizes in case.dims.items()}
    return Case.from_json({**case.to_json(), "dims": dims})


CHECKS: Dict[str, Check] = {"repeat": repeat, "apart": apart, "in_turn": in_turn, "threads": threads, "leak": leak}
