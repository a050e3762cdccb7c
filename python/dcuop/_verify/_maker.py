"""Collects the cases of the matrix: which groups there are, and what a case is unless a group says otherwise."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Mapping, Optional

from ._cases import Case, dtypes_of, ordinary_scalar, small_dims
from ._contract import Function
from ._layouts import Shape


class Maker:
    """Collects the cases of one function in one dtype, each id once."""

    def __init__(self, function: Function, dtype: str, has_device: bool, seed: int = 0) -> None:
        self.function = function
        self.dtype = dtype
        self.has_device = has_device
        self.cases: Dict[str, Case] = {}
        self._seed = seed

    @property
    def block(self) -> int:
        return self.function.block or 256

    @property
    def dtypes(self) -> Dict[str, str]:
        """The usual dtype of each tensor."""
        return dtypes_of(self.function, self.dtype)

    def add(
        self, group: str, name: str, check: str = "equal", dims: Optional[Mapping[str, Shape]] = None, **changes: Any
    ) -> None:
        """A case; what `changes` does not say is as usual: random values, ordinary scalars, a few elements."""
        id_ = "/".join((self.function.name, self.dtype, group, name))
        if id_ in self.cases:
            return
        case = Case(
            id=id_,
            group=group,
            function=self.function.name,
            dtype=self.dtype,
            check=check,
            dims=dims if dims is not None else small_dims(self.function),
            dtypes={**self.dtypes, **changes.pop("dtypes", {})},
            values={**{argument.name: "random" for argument in self.function.tensors}, **changes.pop("values", {})},
            seed=self._seed,
        )
        scalars = {
            argument.name: ordinary_scalar(argument, case.seed_of(argument.name)) for argument in self.function.scalars
        }
        self.cases[id_] = dataclasses.replace(case, scalars={**scalars, **changes.pop("scalars", {})}, **changes)

    def skip(self, group: str, name: str, reason: str) -> None:
        self.add(group, name, skip=reason)
