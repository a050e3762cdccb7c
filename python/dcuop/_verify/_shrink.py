"""From a failing case to the smallest one that fails in the same way: fewer elements, simpler values."""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from ._cases import Case, changed
from ._contract import Function
from ._layouts import Shape

#: Checks whose cases are worth it: the others are about many calls, or about much memory.
SHRINKABLE = ("equal", "refused", "no_grad", "requires_grad", "gradients", "repeat", "apart")
_SIMPLE_VALUES = ("zeros", "ones", "integers")
MOST_RUNS = 60
MOST_SECONDS = 10.0

Fails = Callable[[Case], bool]  #: runs a case; whether it fails in the way in question


class Smallest(NamedTuple):
    """The smallest case found, and how many runs it took."""

    case: Case
    runs: int


class _Spent(Exception):
    pass


class _Search:
    def __init__(self, case: Case, function: Function, fails: Fails, runs: int, seconds: float) -> None:
        self.best = case
        self.runs = 0
        self._base = case
        self._function = function
        self._fails = fails
        self._most_runs = runs
        self._deadline = time.monotonic() + seconds
        self._dims: Dict[str, Shape] = {}
        self._values: Optional[str] = None
        self._scalars: Dict[str, Any] = {}

    def all(self) -> None:
        """Values first: simple ones make the sizes mean something."""
        self._simplify_values()
        self._simplify_scalars()
        for name in self._base.dims:
            self._drop_dimensions(name)
            for place in reversed(range(len(self.best.dims[name]))):
                self._lessen(name, place)
        self._simplify_values()

    def _try(self, dims: Dict[str, Shape], values: Optional[str], scalars: Dict[str, Any]) -> bool:
        candidate = changed(self._base, dims, values, scalars)
        if candidate.id == self.best.id:
            return True
        if self.runs >= self._most_runs or time.monotonic() >= self._deadline:
            raise _Spent
        self.runs += 1
        if not self._fails(candidate):
            return False
        self.best, self._dims, self._values, self._scalars = candidate, dims, values, scalars
        return True

    def _simplify_values(self) -> None:
        if not self._base.values:
            return
        for values in _SIMPLE_VALUES:
            if values == self._values or self._try(self._dims, values, self._scalars):
                return

    def _simplify_scalars(self) -> None:
        for argument in self._function.scalars:
            usual = self._base.scalars.get(argument.name)
            for value in _simple_scalars(argument.range, argument.choices, usual):
                if self._try(self._dims, self._values, {**self._scalars, argument.name: value}):
                    break

    def _drop_dimensions(self, name: str) -> None:
        if self._base.patterns:
            # A pattern of broadcasting is one of that many dimensions.
            return
        while len(self.best.dims[name]) > 1:
            if not self._try({**self._dims, name: self.best.dims[name][1:]}, self._values, self._scalars):
                return

    def _lessen(self, name: str, place: int) -> None:
        """To the least size where faults begin, then by halves, as if every size above one that fails failed too; where
        that is not so, it is a smaller one all the same."""
        passes, fails = 0, self.best.dims[name][place]
        block = self._function.block or 256
        for size in sorted({1, 2, 3, *(edge + by for edge in (32, 64, block) for by in (-1, 0, 1))}):
            if size >= fails:
                break
            if self._with_size(name, place, size):
                fails = size
            else:
                passes = size
        while fails - passes > 1:
            middle = (passes + fails) // 2
            if self._with_size(name, place, middle):
                fails = middle
            else:
                passes = middle

    def _with_size(self, name: str, place: int, size: int) -> bool:
        sizes = self.best.dims[name]
        changed_sizes = (*sizes[:place], size, *sizes[place + 1 :])
        return self._try({**self._dims, name: changed_sizes}, self._values, self._scalars)


def smallest(
    case: Case, function: Function, fails: Fails, runs: int = MOST_RUNS, seconds: float = MOST_SECONDS
) -> Smallest:
    """At most `runs` runs, and no new one after `seconds`. The case itself when nothing smaller fails."""
    search = _Search(case, function, fails, runs, seconds)
    try:
        search.all()
    except _Spent:
        pass
    return Smallest(search.best, search.runs)


def shapes_of(case: Case, function: Function) -> Dict[str, List[int]]:
    """Of each tensor, for the result."""
    return {argument.name: list(case.shape(argument)) for argument in function.tensors}


def values_of(case: Case) -> str:
    """One word where all tensors have the same kind, else each with its own."""
    kinds = list(dict.fromkeys(case.values.values()))
    if len(kinds) == 1:
        return kinds[0]
    return ", ".join(f"{name} {kind}" for name, kind in case.values.items())


def _simple_scalars(span: Optional[Tuple[float, float]], choices: Tuple[Any, ...], usual: Any) -> List[Any]:
    if choices:
        return [choices[0]] if usual != choices[0] else []
    if isinstance(usual, bool):
        return [False] if usual else []
    kind = type(usual)
    inside = [kind(value) for value in (0, 1) if span is None or span[0] <= value <= span[1]]
    return inside[: inside.index(usual)] if usual in inside else inside
