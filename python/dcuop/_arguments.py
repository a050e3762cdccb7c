"""Checks of what callers pass: else a fault would show as one of subprocess or of os, which names no parameter."""

from __future__ import annotations

import os
from typing import Any, Collection, List, Mapping


def check_types(function: str, **values: Any) -> None:
    """Of the parameters that the loaders share: `arch`, `backend`, `force` and `verbose`; all others are paths or None.
    Raises TypeError."""

    def check(name: str, value: Any, fits: bool, wanted: str) -> None:
        if not fits:
            raise TypeError(f"{function}: {name} must be {wanted}, not {type(value).__name__}")

    for name, value in values.items():
        if name in ("force", "verbose"):
            check(name, value, isinstance(value, bool), "a bool")
        elif name == "backend":
            check(name, value, value is None or isinstance(value, str), "a str or None")
        elif name == "arch":
            is_list = isinstance(value, Collection) and not isinstance(value, (bytes, Mapping))
            check(name, value, value is None or is_list, "a str, a sequence of str or None")
            for arch in arch_list(value):
                check("an element of arch", arch, isinstance(arch, str), "a str")
        else:
            check(name, value, value is None or is_path(value), "a str, a path or None")


def arch_list(arch: Any) -> List[str]:
    """`arch` as a list: empty for None."""
    return [arch] if isinstance(arch, str) else list(arch or ())


def is_path(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, os.PathLike) and isinstance(os.fspath(value), str))

