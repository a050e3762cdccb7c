"""All cases of an operator's correctness, from its contract alone, in the order in which they run."""

from __future__ import annotations

import fnmatch
from typing import List, Optional

from .._errors import UsageProblem
from . import _groups_aliases, _groups_device, _groups_refusals, _groups_repetition, _groups_sizes, _groups_values
from ._cases import CHANGED, Case, changed_by_id
from ._contract import Request
from ._maker import Maker

_GROUPS = (
    _groups_sizes.add,
    _groups_values.add,
    _groups_refusals.add,
    _groups_aliases.add,
    _groups_repetition.add,
    _groups_device.add,
)


def matrix(request: Request, seed: int = 0) -> List[Case]:
    """Every case that the contract demands, with values by `seed`; what cannot run on this backend has its reason in
    `skip`."""
    cases: List[Case] = []
    for function in request.contract.functions:
        for dtype in function.dtypes:
            maker = Maker(function, dtype, request.has_device, seed)
            for add in _GROUPS:
                add(maker)
            cases += maker.cases.values()
    return cases


def chosen(cases: List[Case], pattern: Optional[str]) -> List[Case]:
    """Those that `--case` names: by a pattern, by a whole id, or by the id of a smaller form ("...@n=1"). Raises
    UsageProblem when it is none."""
    if pattern is None:
        return cases
    base = pattern.split(CHANGED)[0]
    if CHANGED in pattern:
        found = [case for case in cases if case.id == base]
        try:
            found = [changed_by_id(case, pattern) for case in found]
        except ValueError as error:
            hint = "Copy the id from the line that `verify` printed."
            raise UsageProblem(f"--case {pattern}: {error}", hint, 2) from error
    else:
        found = [case for case in cases if case.id == pattern or fnmatch.fnmatchcase(case.id, pattern)]
    if not found:
        raise UsageProblem(f"no case matches {pattern}", "`dcuop verify OP --list` prints the ids.", 2)
    return found
