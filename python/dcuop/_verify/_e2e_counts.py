"""What a program does with an operator, counted within it: calls, conversions, copies, synchronisations."""

from __future__ import annotations

import contextlib
import functools
import os
import resource
import types
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

#: Different shapes of a function that are told, the commonest first.
MOST_SHAPES = 10


class Counts:
    """What was counted so far. Calls of other threads than the one that counts are in "calls" alone."""

    def __init__(self) -> None:
        self.calls: Dict[str, Dict[Optional[Tuple[int, ...]], int]] = {}  #: by function and its first tensor's shape
        self.conversions = 0  #: of dtype
        self.copies = 0
        self.synchronisations = 0

    def call(self, name: str, arguments: Any) -> None:
        shape = next((tuple(one.shape) for one in arguments if isinstance(one, torch.Tensor)), None)
        shapes = self.calls.setdefault(name, {})
        shapes[shape] = shapes.get(shape, 0) + 1

    def to_json(self, with_operations: bool) -> Dict[str, Any]:
        """`with_operations` is false where torch's operations were not seen."""
        calls: List[Dict[str, Any]] = []
        for name, shapes in self.calls.items():
            common = sorted((shape for shape in shapes if shape is not None), key=lambda shape: -shapes[shape])
            told = [list(shape) for shape in common[:MOST_SHAPES]]
            calls.append({"function": name, "count": sum(shapes.values()), "shapes": told})
        names = ("conversions", "copies", "synchronisations")
        counts = {name: getattr(self, name) if with_operations else None for name in names}
        return {"calls": calls, "counts": counts, "peak_memory": peak_memory()}


def peak_memory() -> Dict[str, Any]:
    """Bytes: of torch's allocations on the current device, or of the whole process where there is none."""
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        return {"bytes": torch.cuda.max_memory_allocated(), "kind": "device"}
    return {"bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, "kind": "process"}


class Operations(TorchDispatchMode):
    """Counts what torch does within it: conversions, copies, reads of a number from the device."""

    def __init__(self, counts: Counts) -> None:
        super().__init__()
        self._counts = counts

    def __torch_dispatch__(
        self, func: Any, types_: Any, args: Any = (), kwargs: Optional[Mapping[str, Any]] = None
    ) -> Any:
        given = dict(kwargs or {})
        name = func._schema.name.partition("::")[2]
        if name == "_to_copy":
            self._converted(args[0], given)
        elif name == "clone":
            self._counts.copies += 1
        elif name == "copy_":
            self._counts.copies += 1
            self._counts.conversions += args[0].dtype != args[1].dtype
            if not (args[2] if len(args) > 2 else given.get("non_blocking")):
                self._read(args[1], args[0].device)
        elif name == "_local_scalar_dense" and _on_device(args[0]):
            self._counts.synchronisations += 1
        return func(*args, **given)

    def _converted(self, tensor: torch.Tensor, given: Mapping[str, Any]) -> None:
        converts = given.get("dtype") not in (None, tensor.dtype)
        device = torch.device(given.get("device") or tensor.device)
        self._counts.conversions += converts
        # To another device, or to the same as another layout of memory: nothing but a copy.
        self._counts.copies += device.type != tensor.device.type or not converts
        if not given.get("non_blocking"):
            self._read(tensor, device)

    def _read(self, tensor: torch.Tensor, device: torch.device) -> None:
        if tensor.device.type == "cuda" and device.type == "cpu":
            self._counts.synchronisations += 1


def _on_device(tensor: torch.Tensor) -> bool:
    # Where there is no device, a number is read as it would be from one.
    return tensor.device.type != "cpu" or not torch.cuda.is_available()


@contextlib.contextmanager
def counting(counts: Counts, directory: str, operations: bool) -> Iterator[None]:
    """Within it, what dcuop.load_op loads from `directory` and torch's synchronisations are counted, and torch's
    operations in this thread if `operations`."""
    import dcuop  # pylint: disable=import-outside-toplevel
    from dcuop import _load  # pylint: disable=import-outside-toplevel

    with contextlib.ExitStack() as stack:
        wrapped = _counted_load(_load.load_op, counts, os.path.realpath(directory), stack)
        for owner, name, value in (
            (dcuop, "load_op", wrapped),
            (_load, "load_op", wrapped),
            (torch.cuda, "synchronize", _synchronising(torch.cuda.synchronize, counts)),
            (torch.cuda.Stream, "synchronize", _synchronising(torch.cuda.Stream.synchronize, counts)),
            (torch.cuda.Event, "synchronize", _synchronising(torch.cuda.Event.synchronize, counts)),
        ):
            stack.callback(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, value)
        if operations:
            stack.enter_context(Operations(counts))
        yield


def _synchronising(function: Callable[..., Any], counts: Counts) -> Callable[..., Any]:
    @functools.wraps(function)
    def synchronize(*args: Any, **kwargs: Any) -> Any:
        counts.synchronisations += 1
        return function(*args, **kwargs)

    return synchronize


def _counted_load(
    load_op: Callable[..., Any], counts: Counts, directory: str, stack: contextlib.ExitStack
) -> Callable[..., Any]:
    """`stack` puts back what is replaced."""
    proxies: Dict[int, Any] = {}

    @functools.wraps(load_op)
    def load(path: Any, *args: Any, **kwargs: Any) -> Any:
        loaded = load_op(path, *args, **kwargs)
        if isinstance(loaded, Counted):
            return loaded
        try:
            if os.path.realpath(os.fspath(path)) != directory:
                return loaded
        except TypeError:
            return loaded
        if isinstance(loaded, types.ModuleType) and hasattr(loaded, "__file__") and not _is_namespace(loaded):
            _count_module(loaded, counts)
            return loaded
        if isinstance(loaded, os.PathLike):
            return loaded
        proxy = proxies.setdefault(id(loaded), Counted(loaded, counts))
        if _is_namespace(loaded):
            # Who loads operators of torch calls them there: torch.ops.<name>.<function>.
            stack.callback(setattr, torch.ops, loaded.name, loaded)
            setattr(torch.ops, loaded.name, proxy)
        return proxy

    return load


def _is_namespace(loaded: Any) -> bool:
    return type(loaded).__name__ == "_OpNamespace"


def _count_module(module: types.ModuleType, counts: Counts) -> None:
    """The module itself stays what it is: its functions are replaced."""
    for name, value in list(vars(module).items()):
        if callable(value) and not isinstance(value, type) and not name.startswith("_"):
            if not isinstance(value, _CountedFunction):
                setattr(module, name, _CountedFunction(name, value, counts))


class Counted:
    """torch.ops.<name> or a ctypes.CDLL, whose functions are counted."""

    def __init__(self, loaded: Any, counts: Counts) -> None:
        self.__dict__.update(_loaded=loaded, _counts=counts)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._loaded, name)
        if name.startswith("_") or not callable(value):
            return value
        self.__dict__[name] = _CountedFunction(name, value, self._counts)
        return self.__dict__[name]

    def __getitem__(self, name: Any) -> Any:
        return _CountedFunction(str(name), self._loaded[name], self._counts)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._loaded, name, value)


class _CountedFunction:
    """A function whose calls are counted; all else, as a ctypes function's `argtypes`, is the function's own."""

    def __init__(self, name: str, function: Callable[..., Any], counts: Counts) -> None:
        self.__dict__.update(_name=name, _function=function, _counts=counts)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._counts.call(self._name, [*args, *kwargs.values()])
        return self._function(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._function, name, value)
