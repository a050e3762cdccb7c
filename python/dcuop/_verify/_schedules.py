"""Which rounding schedule an operator follows: the formula is evaluated under each, and one is named only if it gives
every sampled element bit for bit."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Sequence

import torch

from ._contract import Function
from ._format import first_line
from ._judge import bits, dtype_name, round_once
from ._rounding import NARROW, Rounding
from ._target import Arguments, Target, copied, outputs, widened, wider

_FLOATS = (torch.float16, torch.bfloat16, torch.float32)


class Candidate(NamedTuple):
    """One way of rounding: `evaluate` gives the formula's results under it."""

    name: str
    evaluate: Callable[[Arguments], List[torch.Tensor]]
    worth: Callable[[], bool] = lambda: True  #: after an evaluation: whether it is another way than those without FMA


class Sample(NamedTuple):
    """A call that was made: its arguments, and what it gave."""

    arguments: Arguments
    got: Sequence[torch.Tensor]


def follow(target: Target, function: Function, dtype: torch.dtype, samples: Sequence[Sample]) -> Dict[str, Any]:
    """The "schedule" of a function's numerics (docs/json.md) from results of `dtype`."""
    rows = []
    for candidate in candidates(target, function, dtype):
        row = _measured(candidate, samples)
        if row["same"] is None or candidate.worth():
            rows.append(row)
    exact = [row["name"] for row in rows if row["same"] == 1.0]
    why = "" if any(row["same"] is not None for row in rows) else "the formula could be evaluated under none"
    return {"follows": exact[0] if exact else None, "also": exact[1:], "candidates": rows, "why": why}


def candidates(target: Target, function: Function, dtype: torch.dtype) -> List[Candidate]:
    """The ways of rounding that are tried for results of `dtype`, the plainest first."""
    name = dtype_name(dtype)
    each, second = _Evaluation(target, function), _Evaluation(target, function, "second")
    found = [Candidate(f"{name}, each operation rounded", each.stepwise)]
    if dtype in NARROW:
        if any(argument.type == "float" for argument in function.scalars):
            found.append(Candidate(f"{name}, each operation and scalar rounded", each.scalars_too))
        found += [
            Candidate(f"{name} with FMA", each.fused, each.has_fused),
            Candidate("float32 inside, one rounding", each.inside),
            Candidate("float32 inside, one rounding, FMA", each.inside_fused, each.has_fused),
            Candidate(
                "float32 inside, one rounding, FMA of the second product", second.inside_fused, second.had_a_choice
            ),
        ]
    elif dtype == torch.float32:
        found += [
            Candidate("float32 with FMA", each.fused, each.has_fused),
            Candidate("float32 with FMA, FMA of the second product", second.fused, second.had_a_choice),
        ]
    if dtype in _FLOATS:
        found.append(Candidate("float64 inside, one rounding", each.exactly))
    found.append(Candidate("rounded as the framework here", each.framework))
    if function.reference is not None:
        # It may say what no formula does: the order of a sum.
        found.append(Candidate("rounded as the contract's reference", each.reference))
    return found


class _Evaluation:
    """The formula of one function, under any schedule."""

    def __init__(self, target: Target, function: Function, fuse: str = "first") -> None:
        self._target = target
        self._function = function
        self._fuse = fuse
        self._mode = Rounding()  # of the last evaluation that had one

    def has_fused(self) -> bool:
        return self._mode.fused > 0

    def had_a_choice(self) -> bool:
        return self._mode.ambiguous

    def framework(self, arguments: Arguments) -> List[torch.Tensor]:
        return self._evaluated(copied(arguments), arguments)

    def reference(self, arguments: Arguments) -> List[torch.Tensor]:
        return self._target.want(self._function, arguments)

    def stepwise(self, arguments: Arguments) -> List[torch.Tensor]:
        return self._within(Rounding(), copied(arguments), arguments)

    def scalars_too(self, arguments: Arguments) -> List[torch.Tensor]:
        return self._within(Rounding(), self._narrow_scalars(arguments), arguments)

    def fused(self, arguments: Arguments) -> List[torch.Tensor]:
        return self._within(Rounding(self._fuse), self._narrow_scalars(arguments), arguments)

    def inside(self, arguments: Arguments) -> List[torch.Tensor]:
        return self._within(Rounding(), in_dtype(arguments, torch.float32), arguments)

    def inside_fused(self, arguments: Arguments) -> List[torch.Tensor]:
        return self._within(Rounding(self._fuse), in_dtype(arguments, torch.float32), arguments)

    def exactly(self, arguments: Arguments) -> List[torch.Tensor]:
        return self._evaluated(widened(arguments), arguments)

    def _within(self, mode: Rounding, given: Dict[str, Any], arguments: Arguments) -> List[torch.Tensor]:
        self._mode = mode
        with mode:
            return self._evaluated(given, arguments)

    def _evaluated(self, given: Dict[str, Any], arguments: Arguments) -> List[torch.Tensor]:
        with torch.no_grad():
            return outputs(self._function, self._target.formula(self._function)(**given), given)

    def _narrow_scalars(self, arguments: Arguments) -> Dict[str, Any]:
        dtype = next(value.dtype for value in arguments.values() if isinstance(value, torch.Tensor))
        given = copied(arguments)
        if dtype in _FLOATS:
            for argument in self._function.scalars:
                if argument.type == "float" and isinstance(given.get(argument.name), float):
                    exact = torch.tensor(given[argument.name], dtype=torch.float64)
                    given[argument.name] = float(round_once(exact, dtype))
        return given


def in_dtype(arguments: Arguments, dtype: torch.dtype) -> Dict[str, Any]:
    """Copies of the arguments, floating-point tensors in `dtype`, or in their own where that is wider."""

    def given(value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            return value.to(wider(dtype, value))
        return value

    return {name: given(value) for name, value in copied(arguments).items()}


def same_elements(got: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Which elements are the same bit for bit, any NaN for any other; flat, on the CPU."""
    got, other = got.detach().cpu(), other.detach().cpu()
    return ((bits(got) == bits(other)) | (torch.isnan(got) & torch.isnan(other)).reshape(-1)).reshape(-1)


def _measured(candidate: Candidate, samples: Sequence[Sample]) -> Dict[str, Any]:
    same = total = 0
    for sample in samples:
        try:
            results = candidate.evaluate(sample.arguments)
        except Exception as error:  # pylint: disable=broad-except
            return {"name": candidate.name, "same": None, "why": first_line(error)}
        if len(results) != len(sample.got):
            why = f"it gives {len(results)} tensors, the operator {len(sample.got)}"
            return {"name": candidate.name, "same": None, "why": why}
        for got, result in zip(sample.got, results):
            if got.shape != result.shape:
                why = f"it gives the shape {tuple(result.shape)}, the operator {tuple(got.shape)}"
                return {"name": candidate.name, "same": None, "why": why}
            rounded = round_once(result, got.dtype) if result.dtype == torch.float64 else result.to(got.dtype)
            same += int(same_elements(got, rounded).sum())
            total += got.numel()
    return {"name": candidate.name, "same": same / total if total else None, "why": "" if total else "no elements"}
