"""install: torch.utils.cpp_extension.load and load_inline become dcuop's, for code that nobody edits."""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import inspect
import sys
import warnings
from types import ModuleType
from typing import Any, Callable, Dict, Optional, Sequence

from . import _torch_loader
from ._description import ForTorchAlone

_MODULE = "torch.utils.cpp_extension"
_ROUTED: Dict[str, Callable[..., Any]] = {"load": _torch_loader.load, "load_inline": _torch_loader.load_inline}


def install() -> None:
    """Routes torch's loader through dcuop, now or when torch is imported. What was imported from it by name before
    stays torch's. What dcuop does not build (CUDA and SYCL sources) goes to torch's own loader as before. Once is
    enough; more often does no harm."""
    module = sys.modules.get(_MODULE)
    if module is not None:
        _route(module)
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def uninstall() -> None:
    """torch's loader is torch's again; what was loaded stays."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]
    module = sys.modules.get(_MODULE)
    for name in _ROUTED:
        routed = getattr(module, name, None)
        original = getattr(routed, "__dcuop_original__", None)
        if original is not None:
            setattr(module, name, original)


def _route(module: ModuleType) -> None:
    for name, ours in _ROUTED.items():
        original = getattr(module, name)
        if not hasattr(original, "__dcuop_original__"):
            setattr(module, name, _routed(original, ours))


def _routed(original: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    # The order of torch's parameters changed between its releases: each is handed on by name.
    signature = inspect.signature(original)
    known = inspect.signature(ours).parameters

    @functools.wraps(original)
    def routed(*args: Any, **kwargs: Any) -> Any:
        arguments: Dict[str, Any] = dict(signature.bind(*args, **kwargs).arguments)
        unknown = [name for name in arguments if name not in known]
        if unknown:
            warnings.warn(
                f"dcuop does not know {', '.join(unknown)} of {_MODULE}.{original.__name__}; torch's own builds it",
                stacklevel=2,
            )
            return original(*args, **kwargs)
        try:
            return ours(**arguments)
        except ForTorchAlone as reason:
            if arguments.get("verbose"):
                print(f"dcuop: {reason.message}: torch's own loader builds it", file=sys.stderr)
            return original(*args, **kwargs)

    routed.__dcuop_original__ = original  # type: ignore[attr-defined]
    return routed


class _Finder(importlib.abc.MetaPathFinder):
    """Waits for torch's loader to be imported."""

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        if fullname != _MODULE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)  # type: ignore[arg-type]
        return spec


class _Loader(importlib.abc.Loader):
    """The real loader's work, then ours."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Optional[ModuleType]:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _route(module)
        sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]

    def __getattr__(self, name: str) -> Any:  # get_source and others that inspect asks for
        return getattr(self._loader, name)
