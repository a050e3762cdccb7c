"""The numerics layer: how far results are from the mathematics, how they were rounded, what NaN and its kin become."""

from __future__ import annotations

import functools
import time
from typing import Any, Dict, List, Optional, Sequence, Tuple

import torch

from ._contract import Function, Request
from ._format import first_line
from ._judge import dtype_name, same_bits, ulp_error
from ._layouts import Unfit
from ._pieces import Lost, Pieces
from ._rounding import NARROW, Rounding, Watched
from ._samples import Samples, in_range, samples, special_calls
from ._schedules import Sample, follow
from ._target import Arguments, Target, copied, outputs, widened

#: Calls with the same arguments, for determinism.
RUNS = 5
#: Upper ends of the classes of errors; the last one is open.
_CLASSES = (0.0, 0.5, 1.0, 2.0, 4.0, 16.0, 64.0)
LABELS = ("0", "<=0.5", "<=1", "<=2", "<=4", "<=16", "<=64", ">64")
_FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


class Unmeasured(Exception):
    """Why something cannot be measured, in a sentence."""


def run(target: Target, request: Request, progress: Any, pieces: Optional[Pieces] = None) -> Dict[str, Any]:
    """The "numerics" of a result (docs/json.md). Nothing of a function that fails is raised: it is said there."""
    pieces = pieces if pieces is not None else Pieces()
    since = time.monotonic()
    progress.start("numerics")
    work = [(function, dtype) for function in request.contract.functions for dtype in function.dtypes]
    rows = []
    for done, (function, dtype) in enumerate(work):
        progress.update(f"{function.name} {dtype}", done, len(work))
        find = functools.partial(_row, target, function, dtype, request.options.seed)
        rows.append(pieces.get(f"{function.name}/{dtype}", find, functools.partial(_lost, function, dtype)))
    progress.finish()
    return {"functions": rows, "seconds": time.monotonic() - since}


def _row(target: Target, function: Function, dtype: str, seed: int) -> Dict[str, Any]:
    row = _unknown(function, dtype)
    try:
        row.update(_of(target, function, dtype, seed))
    except (Unmeasured, Unfit) as error:
        row["unknown"] = str(error)
    except Exception as error:  # pylint: disable=broad-except
        row.update(unknown=f"the function failed: {first_line(error)}", failed=True)
    return row


def _lost(function: Function, dtype: str, lost: Lost) -> Dict[str, Any]:
    return {**_unknown(function, dtype), "unknown": lost.why, "lost": lost.kind}


def _unknown(function: Function, dtype: str) -> Dict[str, Any]:
    return {"function": function.name, "dtype": dtype, "exact_dtype": False, "unknown": ""}


def _of(target: Target, function: Function, dtype: str, seed: int) -> Dict[str, Any]:
    chosen = samples(function, dtype, target.device, seed)
    calls = [Sample(arguments, call(target, function, arguments)) for arguments in chosen.batches]
    results = {tensor.dtype for one in calls for tensor in one.got}
    if not any(each in _FLOATS for each in results):
        whole = not any(each.is_floating_point or each.is_complex for each in results)
        names = ", ".join(sorted(map(dtype_name, results)))
        meaning = "only equality means something, which the correctness layer judges" if whole else "it is not measured"
        return {"exact_dtype": whole, "unknown": f"the result is {names}: {meaning}"}
    try:
        framework = _Framework(target, function, calls[0].arguments)
    except Exception as error:
        raise Unmeasured(f"the formula failed: {first_line(error)}") from error
    row: Dict[str, Any] = {
        "elements": sum(tensor.numel() for one in calls for tensor in one.got),
        "inputs": chosen.inputs,
        **_errors("vs_float64", _exact(target, function), function, chosen, calls),
        **_errors("vs_framework", framework.results, function, chosen, calls),
        "framework": framework.what,
        "schedule": follow(target, function, calls[0].got[0].dtype, calls),
        "special": _special(target, function, dtype, framework, seed),
        "deterministic": _is_deterministic(target, function, calls[0]),
        "deterministic_demanded": function.deterministic,
        "runs": RUNS,
    }
    if results == {torch.float64}:
        row["no_truth"] = True
    return row


def call(target: Target, function: Function, arguments: Arguments) -> List[torch.Tensor]:
    """The function's results for copies of the arguments, on the CPU."""
    given = copied(arguments)
    with torch.no_grad():
        results = outputs(function, target.call(function, given), given)
    target.synchronize()
    return [tensor.detach().cpu() for tensor in results]


class _Framework:
    """The formula as the framework computes it: on the device, in the dtype of the arguments."""

    def __init__(self, target: Target, function: Function, arguments: Arguments) -> None:
        self._target = target
        self._function = function
        self.what = "native"  #: or "emulated": this device has not all its operations in that dtype
        try:
            self.results(arguments)
        except Exception:  # pylint: disable=broad-except
            if not any(isinstance(one, torch.Tensor) and one.dtype in NARROW for one in arguments.values()):
                raise
            # As on a device that has them: in float32, and rounded after each.
            self.what = "emulated"

    def results(self, arguments: Arguments) -> List[torch.Tensor]:
        given = copied(arguments)
        with torch.no_grad():
            if self.what == "emulated":
                with Rounding():
                    result = self._target.formula(self._function)(**given)
            else:
                result = self._target.formula(self._function)(**given)
            return [tensor.detach().cpu() for tensor in outputs(self._function, result, given)]


def _exact(target: Target, function: Function) -> Any:
    def results(arguments: Arguments) -> List[torch.Tensor]:
        """The formula in float64; Unmeasured where it is not generic in the dtype."""
        watched = Watched()
        given = widened(arguments)
        try:
            with torch.no_grad(), watched:
                found = outputs(function, target.formula(function)(**given), given)
        except Exception as error:
            raise Unmeasured(f"the formula refuses float64: {first_line(error)}") from error
        if watched.narrow is not None:
            name = dtype_name(watched.narrow)
            raise Unmeasured(f"the formula computes in {name} what it is given in float64")
        return [tensor.detach().cpu() for tensor in found]

    return results


def _errors(key: str, truth: Any, function: Function, chosen: Samples, calls: Sequence[Sample]) -> Dict[str, Any]:
    if key == "vs_float64" and all(tensor.dtype == torch.float64 for one in calls for tensor in one.got):
        return {key: None, f"{key}_unknown": "the result is float64 itself: there is no wider truth"}
    try:
        return {key: _statistics(truth, function, chosen, calls), f"{key}_unknown": ""}
    except Unmeasured as error:
        return {key: None, f"{key}_unknown": str(error)}
    except Exception as error:  # pylint: disable=broad-except
        return {key: None, f"{key}_unknown": first_line(error)}


def _statistics(truth: Any, function: Function, chosen: Samples, calls: Sequence[Sample]) -> Dict[str, Any]:
    errors, inside, pieces = [], [], []
    for one in calls:
        wanted = truth(one.arguments)
        if len(wanted) != len(one.got):
            raise Unmeasured(f"it has {len(wanted)} tensors, the operator's result {len(one.got)}")
        within = in_range(function, dict(one.arguments)) if chosen.inputs != "random" else None
        for got, want in zip(one.got, wanted):
            if got.dtype not in _FLOATS:
                continue
            if got.shape != want.shape:
                raise Unmeasured(f"it has the shape {tuple(want.shape)}, the operator's result {tuple(got.shape)}")
            error = ulp_error(got, want.double()).reshape(-1)
            errors.append(error)
            fits = within is not None and within.numel() == error.numel()
            inside.append(within if fits and within is not None else torch.ones_like(error, dtype=torch.bool))
            pieces.append((one, got.reshape(-1), want.reshape(-1)))
    every, within_range = torch.cat(errors), torch.cat(inside)
    known = ~torch.isnan(every)
    judged = every[known & within_range]
    return {
        "max_ulp": float(judged.max()) if judged.numel() else None,
        "max_ulp_all": float(every[known].max()) if bool(known.any()) else None,
        "mean_ulp": float(judged.mean()) if judged.numel() else None,
        "unmatched": int((~known & within_range).sum()),
        "unmatched_all": int((~known).sum()),
        "histogram": histogram(judged),
        "worst": _worst(every, known & within_range, [error.numel() for error in errors], pieces),
    }


def histogram(errors: torch.Tensor) -> List[List[Any]]:
    """How many errors, in ULP, are in each class: [label, count]."""
    edges = torch.tensor(_CLASSES, dtype=torch.float64)
    # The first class whose upper end is not below the error.
    places = torch.searchsorted(edges, errors.double().contiguous())
    counts = torch.bincount(places, minlength=len(LABELS)).tolist()
    return [[label, count] for label, count in zip(LABELS, counts)]


def _worst(
    errors: torch.Tensor, judged: torch.Tensor, sizes: Sequence[int], pieces: Sequence[Any]
) -> Optional[Dict[str, Any]]:
    if not bool(judged.any()):
        return None
    place = int(torch.where(judged, errors, torch.full_like(errors, -1.0)).argmax())
    ulp = float(errors[place])
    for size, (sample, got, want) in zip(sizes, pieces):
        if place < size:
            return {
                "arguments": _arguments_at(sample.arguments, place, size),
                "got": shown(float(got[place])),
                "want": shown(float(want[place])),
                "ulp": ulp,
            }
        place -= size
    return None


def _arguments_at(arguments: Arguments, place: int, size: int) -> str:
    parts = []
    for name, value in arguments.items():
        if not isinstance(value, torch.Tensor):
            parts.append(f"{name}={value}")
        elif value.numel() == size:
            parts.append(f"{name}={shown(float(value.reshape(-1)[place]))}")
        else:
            parts.append(f"{name} of shape {list(value.shape)}")
    return ", ".join(parts) + ("" if "=" in parts[0] else f" at {place}")


def shown(value: float) -> str:
    return f"{value:.9g}"


def _special(target: Target, function: Function, dtype: str, framework: _Framework, seed: int) -> List[Dict[str, Any]]:
    rows = []
    for name, arguments in special_calls(function, dtype, target.device, seed):
        got = _answer(lambda given=arguments: call(target, function, given))
        want = _answer(lambda given=arguments: framework.results(given))
        if isinstance(got, str) or isinstance(want, str):
            texts = [one if isinstance(one, str) else _first(one, None) for one in (got, want)]
            # Which words it refuses with is its own affair.
            same = isinstance(got, str) and isinstance(want, str)
        else:
            place = _first_difference(got, want)
            texts, same = [_first(one, place) for one in (got, want)], place is None
        rows.append({"input": name, "got": texts[0], "framework": texts[1], "same": same})
    return rows


def _answer(compute: Any) -> Any:
    """The results, or what was said instead of them."""
    try:
        return compute()
    except Exception as error:  # pylint: disable=broad-except
        return f"refused: {first_line(error)}"


def _first(results: Sequence[torch.Tensor], place: Optional[Tuple[int, int]]) -> str:
    """The first element that differs; the first of all where none does."""
    which, position = place or (0, 0)
    flat = results[which].reshape(-1) if which < len(results) else torch.empty(0)
    return f"{float(flat[position]):.4g}" if position < flat.numel() else "nothing"


def _first_difference(got: Sequence[torch.Tensor], want: Sequence[torch.Tensor]) -> Optional[Tuple[int, int]]:
    if len(got) != len(want):
        return (min(len(got), len(want)), 0)
    for which, (one, other) in enumerate(zip(got, want)):
        if one.numel() != other.numel():
            return (which, min(one.numel(), other.numel()))
        differs = (_kind(one) != _kind(other.to(one.dtype))).nonzero()
        if differs.numel():
            return (which, int(differs[0]))
    return None


def _kind(values: torch.Tensor) -> torch.Tensor:
    """A number for what each value is: NaN, infinity, zero, denormal or normal, and its sign."""
    flat = values.detach().reshape(-1)
    if not flat.is_floating_point():
        return flat.to(torch.int64)
    wide = flat.double()
    kind = torch.full(wide.shape, 3, dtype=torch.int64)
    kind[wide.abs() < torch.finfo(flat.dtype).tiny] = 2
    kind[wide == 0] = 1
    kind[torch.isinf(wide)] = 4
    kind = torch.where(torch.signbit(wide), -kind, kind)
    kind[torch.isnan(wide)] = 0
    return kind


def _is_deterministic(target: Target, function: Function, first: Sample) -> bool:
    for _ in range(RUNS - 1):
        again = call(target, function, first.arguments)
        if len(again) != len(first.got) or not all(same_bits(one, other) for one, other in zip(first.got, again)):
            return False
    return True
