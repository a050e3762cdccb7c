"""Checks that need a device: order on streams, other devices, indexes beyond 32 bits."""

from __future__ import annotations

import math
import threading
from typing import Any, Dict, List, Tuple

import torch

from ._cases import Case, dims_for
from ._checks import Bench, Check, Failed, Skipped, compare, judge
from ._contract import DEFAULT_RANGE, LEADING, Function
from ._checks_repeated import check_same
from ._inputs import dtype_named, make
from ._target import copied, outputs

#: Cycles that a stream is kept busy: some 50 ms at 1 to 2 GHz, in which a kernel on another stream is long done.
_BUSY_CYCLES = 75_000_000
#: Elements, or rows, of each piece of a large result that is compared.
_PIECE = 4096
#: Device memory beyond arguments and result: of the formula on pieces, of the operator, of the runtime.
_SPARE_BYTES = 2 << 30


def stream(bench: Bench, case: Case, function: Function) -> None:
    """On a stream that is still busy with what writes the arguments, the result is that of the new values."""
    if not case.options.get("thread"):
        _in_order([_Queued(bench, case, function)])
        return
    faults: List[BaseException] = []

    def work() -> None:
        try:
            _in_order([_Queued(bench, case, function)])
        except BaseException as error:  # pylint: disable=broad-except
            faults.append(error)

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    for fault in faults:
        raise fault


def streams(bench: Bench, case: Case, function: Function) -> None:
    """Several streams at once, each with its own."""
    _in_order([_Queued(bench, case.with_seed(number), function) for number in range(case.options["streams"])])


class _Queued:
    """A call on a stream of its own, whose arguments get their values only there, behind a pause."""

    def __init__(self, bench: Bench, case: Case, function: Function) -> None:
        self._bench, self._case, self._function = bench, case, function
        self._inputs = make(case, function, bench.device, guarded=False)
        self._stale = make(case.with_seed(1000), function, bench.device, guarded=False)
        self._want = bench.want(function, self._inputs.arguments)
        self._stream = torch.cuda.Stream(device=bench.device)
        self._got: List[torch.Tensor] = []

    def warm_up(self) -> None:
        """A kernel's first launch loads its code, which can wait for all streams
        (https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#lazy-loading): then nothing would be out of
        order."""
        self._bench.target.call(self._function, copied(self._inputs.arguments))

    def queue(self) -> None:
        fresh, arguments = self._inputs.arguments, dict(self._inputs.arguments)
        for name, value in self._stale.arguments.items():
            if isinstance(value, torch.Tensor):
                arguments[name] = value
        with torch.cuda.stream(self._stream):
            torch.cuda._sleep(_BUSY_CYCLES)  # pylint: disable=protected-access
            for name, value in arguments.items():
                if isinstance(value, torch.Tensor):
                    value.copy_(fresh[name])
            try:
                result = self._bench.target.call(self._function, arguments)
            except Exception as error:  # pylint: disable=broad-except
                raise Failed("raised", f"on a stream that is not the default, it raised {error}") from error
            # Queued behind the call: before it is done, this would copy what was there.
            self._got = [tensor.clone() for tensor in outputs(self._function, result, arguments)]

    def judge(self) -> None:
        self._stream.synchronize()
        for one, other in zip(self._got, self._want):
            try:
                compare(self._case, self._function, one, other, "the result")
            except Failed as error:
                what = f"on a busy stream that is the current one, {error.what}: the work is not queued on that stream"
                raise Failed("stream", what, error.difference) from error


def _in_order(queued: List[_Queued]) -> None:
    for one in queued:
        one.warm_up()
    torch.cuda.synchronize()
    for one in queued:
        one.queue()
    for one in queued:
        one.judge()
    torch.cuda.synchronize()


def second_device(bench: Bench, case: Case, function: Function) -> None:
    """Tensors on another device than the current one: the work is done there, and the current device stays."""
    if torch.cuda.device_count() < 2:
        raise Skipped("needs two devices, and one is visible")
    other = torch.device("cuda", 1 if bench.device.index == 0 else 0)
    inputs = make(case, function, other)
    want = bench.want(function, inputs.arguments)
    side = torch.cuda.Stream(device=other) if case.options.get("stream") else None
    torch.cuda.synchronize(other)
    before = torch.cuda.current_device()
    if side is None:
        result = bench.call(function, inputs.arguments)
    else:
        with torch.cuda.stream(side):
            # The stream of the other device is current; the device itself is not.
            with torch.cuda.device(before):
                result = bench.call(function, inputs.arguments)
    if torch.cuda.current_device() != before:
        now = torch.cuda.current_device()
        torch.cuda.set_device(before)
        raise Failed("current-device", f"the current device was {before} and is {now} after the call")
    torch.cuda.synchronize(other)
    judge(case, inputs, result, want)


def large(bench: Bench, case: Case, function: Function) -> None:
    """More elements than a signed 32-bit index reaches. Compared in pieces: the ends, and around 2^31 and 2^32."""
    leading = [argument.name for argument in function.tensors if LEADING in argument.shape]
    if not leading:
        raise Skipped('no shape has "...", by which a result could be compared in pieces')
    _check_pieces_are_apart(bench, case, function, leading)
    arguments = _large_arguments(bench, case, function)
    first = arguments[leading[0]]
    pieces = _pieces(first.shape[0], first.numel())

    def piece(start: int, stop: int) -> Dict[str, Any]:
        return {name: value[start:stop] if name in leading else value for name, value in arguments.items()}

    wants = [bench.want(function, piece(*place)) for place in pieces]
    got = outputs(function, bench.call(function, arguments), arguments)
    for (start, stop), want in zip(pieces, wants):
        for one, other in zip(got, want):
            if one.shape[:1] != first.shape[:1]:
                raise Failed("shape", f"the result has shape {tuple(one.shape)}")
            try:
                compare(case, function, one[start:stop], other, "the result")
            except Failed as error:
                what = f"of {first.numel()} elements, from index {start} of the first dimension on: {error.what}"
                raise Failed("large", what, error.difference) from error


def _large_arguments(bench: Bench, case: Case, function: Function) -> Dict[str, Any]:
    """Raises Skipped where the memory is too small for them and a result."""
    shapes = {argument.name: case.shape(argument) for argument in function.tensors}
    dtypes = {name: dtype_named(dtype) for name, dtype in case.dtypes.items()}
    sizes = [math.prod(shape) * torch.empty(0, dtype=dtypes[name]).element_size() for name, shape in shapes.items()]
    torch.cuda.empty_cache()
    need, (free, _) = sum(sizes) + 2 * max(sizes) + _SPARE_BYTES, torch.cuda.mem_get_info()
    if need > free:
        raise Skipped(f"needs {need / 2**30:.0f} GiB of device memory, and {free / 2**30:.0f} are free")
    generator = torch.Generator(device=bench.device).manual_seed(case.seed_of("large"))
    arguments: Dict[str, Any] = dict(case.scalars)
    for argument in function.tensors:
        low, high = argument.range or DEFAULT_RANGE
        tensor = torch.empty(shapes[argument.name], dtype=dtypes[argument.name], device=bench.device)
        if tensor.is_floating_point():
            tensor.uniform_(low, high, generator=generator)
        else:
            tensor.random_(int(low), int(high) + 1, generator=generator)
        arguments[argument.name] = tensor
    return arguments


def _pieces(length: int, elements: int) -> List[Tuple[int, int]]:
    """Of a first dimension of `length`: at its ends, and where the index of elements passes 2^31 and 2^32."""
    row = elements // length
    size = max(1, _PIECE // row)
    starts = [0, length // 3, length - size]
    starts += [(1 << bits) // row - size // 2 for bits in (31, 32) if (1 << bits) < elements]
    return [(start, min(start + size, length)) for start in sorted(max(0, start) for start in starts)]


def _check_pieces_are_apart(bench: Bench, case: Case, function: Function, leading: List[str]) -> None:
    """Raises Skipped unless the formula of a piece is that piece of the formula."""
    small = make(Case.from_json({**case.to_json(), "dims": dims_for(function, 8, rows=8)}), function, bench.device)
    whole = bench.want(function, small.arguments)
    part = {name: value[2:5] if name in leading else value for name, value in small.arguments.items()}
    for one, other in zip(bench.want(function, part), whole):
        if other.shape[:1] != small.arguments[leading[0]].shape[:1] or not torch.equal(one, other[2:5]):
            raise Skipped("an element of the result depends on all leading dimensions: it cannot be compared in pieces")


def race(bench: Bench, case: Case, function: Function) -> None:
    """The same call many times, several at once on streams of their own: the same bits each time."""
    usual = make(case, function, bench.device, guarded=False)
    want = bench.want(function, usual.arguments)
    before = copied(usual.arguments)  # a call may write its arguments
    alone = copied(before)
    first = outputs(function, bench.call(function, alone), alone)
    judge(case, usual, bench.call(function, usual.arguments), want)
    side = [torch.cuda.Stream(device=bench.device) for _ in range(case.options["streams"])]
    calls = case.options["calls"]
    for start in range(0, calls, 4 * len(side)):
        copies = [copied(before) for _ in range(4 * len(side))]
        torch.cuda.synchronize()
        got = []
        for number, arguments in enumerate(copies):
            with torch.cuda.stream(side[number % len(side)]):
                got.append(outputs(function, bench.target.call(function, arguments), arguments))
        bench.target.synchronize()
        for number, result in enumerate(got):
            check_same(first, result, f"call {start + number + 1} of {calls}, several at once,")


CHECKS: Dict[str, Check] = {
    "stream": stream,
    "streams": streams,
    "second_device": second_device,
    "large": large,
    "race": race,
}
