"""The operator under test, in this process: its functions, what they must give, and the device they run on."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any, Callable, Dict, List, Mapping, Optional

import torch

from .._errors import EnvironmentProblem, UsageProblem
from .._extension import use_built
from .._load import _use
from ._contract import Contract, Function, Request
from ._judge import round_once

Arguments = Mapping[str, Any]  #: what a function is called with, by keyword


class Target:
    """One build of one operator, loaded. `Target.load` makes it; it stays for as long as the process lives."""

    def __init__(self, request: Request, device: torch.device, loaded: Any) -> None:
        self.request = request
        self.device = device  #: where its tensors live
        self.loaded = loaded  #: what dcuop.load_op would return; None where every function has a `call`
        #: Told what is about to be called: "the operator", "the formula", "the reference".
        self.at: Callable[[str], None] = lambda step: None
        self._files = _Files(request.directory)
        self._callables: Dict[str, Callable[..., Any]] = {}

    @classmethod
    def load(cls, request: Request) -> "Target":
        """Loads what was built, as load_op does, and every function that the contract names.

        Raises OpLoadError when the file does not load, EnvironmentProblem without the backend's device, UsageProblem
        when the contract names what is not there; whatever the operator's own files raise.
        """
        device = torch.device("cpu")
        if request.has_device:
            if not torch.cuda.is_available():
                raise EnvironmentProblem(f"the backend {request.backend} needs a device, and torch sees none", "", 3)
            device = torch.device("cuda", torch.cuda.current_device())
        needed = any(function.call is None for function in request.contract.functions)
        loaded = use_built(request.op, _use, request.environment()) if needed else None
        target = cls(request, device, loaded)
        for function in request.contract.functions:
            target.callable(function)
            target.formula(function)
            target.reference(function)
        return target

    @property
    def contract(self) -> Contract:
        return self.request.contract

    @property
    def device_name(self) -> str:
        if self.device.type != "cuda":
            return "cpu (emulated grid)"
        return str(torch.cuda.get_device_name(self.device))

    def callable(self, function: Function) -> Callable[..., Any]:
        """The function under test itself."""
        found = self._callables.get(function.name)
        if found is None:
            if function.call is not None:
                found = self._files.attribute(function.call)
            else:
                found = getattr(self.loaded, function.name, None)
                if found is None:
                    raise UsageProblem(
                        f"{self.request.name}: what was loaded has no function {function.name}",
                        "[[verify.function]] name = ... is an attribute of what dcuop.load_op returns.",
                        2,
                    )
            self._callables[function.name] = found
        return found

    def call(self, function: Function, arguments: Arguments) -> Any:
        """One call of the function under test."""
        self.at("the operator")
        return self.callable(function)(**arguments)

    def formula(self, function: Function) -> Callable[..., Any]:
        self.at("the formula")
        return self._files.attribute(function.formula)

    def reference(self, function: Function) -> Optional[Callable[..., Any]]:
        """None where the formula in float64, rounded once, is what the result must equal."""
        self.at("the reference")
        return self._files.attribute(function.reference) if function.reference is not None else None

    def exact(self, function: Function, arguments: Arguments) -> List[torch.Tensor]:
        """The formula on copies of the arguments in float64, not rounded."""
        with torch.no_grad():
            return outputs(function, self.formula(function)(**widened(arguments)), arguments)

    def want(self, function: Function, arguments: Arguments) -> List[torch.Tensor]:
        """What a call with these arguments must give: of the reference, else of the formula, rounded once. The
        arguments stay as they are."""
        reference = self.reference(function)
        if reference is not None:
            with torch.no_grad():
                return outputs(function, reference(**copied(arguments)), arguments)
        dtypes = self.result_dtypes(function, arguments)
        exact = self.exact(function, arguments)
        return [round_once(tensor, dtype) for tensor, dtype in zip(exact, dtypes)]

    def in_working_precision(self, function: Function, arguments: Arguments) -> List[torch.Tensor]:
        """The formula in float32 (float64 for float64), each result rounded to its dtype: where an intermediate
        overflows or vanishes there, it may in the operator."""
        dtypes = self.result_dtypes(function, arguments)
        with torch.no_grad():
            result = self.formula(function)(**widened(arguments, torch.float32))
        return [tensor.to(dtype) for tensor, dtype in zip(outputs(function, result, arguments), dtypes)]

    def result_dtypes(self, function: Function, arguments: Arguments) -> List[torch.dtype]:
        """Those of the formula on the arguments as they are, by torch's own promotion."""
        if function.inplace is not None:
            return [arguments[function.inplace].dtype]
        # On no device at all: the CPU lacks much in float16.
        for device in ("meta", "cpu"):
            try:
                moved = {name: _on(value, device) for name, value in arguments.items()}
                with torch.no_grad():
                    result = self.formula(function)(**moved)
                return [tensor.dtype for tensor in outputs(function, result, arguments)]
            except Exception:  # pylint: disable=broad-except
                continue
        first = arguments[function.tensors[0].name].dtype
        return [first] * len(self.exact(function, arguments))

    def synchronize(self) -> None:
        """Waits for the device; raises RuntimeError for a fault in what was queued."""
        if self.device.type == "cuda":
            torch.cuda.synchronize()


def outputs(function: Function, result: Any, arguments: Arguments) -> List[torch.Tensor]:
    """The tensors of a result: of an in-place function that returns None, the argument that it wrote. Raises TypeError
    for a result that is no tensor and no sequence of them."""
    if result is None and function.inplace is not None:
        result = arguments[function.inplace]
    tensors = [result] if isinstance(result, torch.Tensor) else result
    if not isinstance(tensors, (tuple, list)) or not all(isinstance(tensor, torch.Tensor) for tensor in tensors):
        raise TypeError(f"{function.name} returned {type(result).__name__}, which is no tensor and no tuple of tensors")
    return list(tensors)


def copied(arguments: Arguments) -> Dict[str, Any]:
    """The arguments with tensors of their own, contiguous and without gradients."""
    return {
        name: value.detach().resolve_neg().clone(memory_format=torch.contiguous_format)
        if isinstance(value, torch.Tensor)
        else value
        for name, value in arguments.items()
    }


def widened(arguments: Arguments, dtype: torch.dtype = torch.float64) -> Dict[str, Any]:
    """Copies of the arguments, floating-point tensors in `dtype`, or their own where that is wider, and complex ones in
    complex128."""

    def wide(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if value.is_complex():
            return value.to(torch.complex128)
        return value.to(wider(dtype, value)) if value.is_floating_point() else value

    return {name: wide(value) for name, value in copied(arguments).items()}


def wider(dtype: torch.dtype, value: torch.Tensor) -> torch.dtype:
    """`dtype`, or that of a floating-point tensor where it is wider. torch promotes no 8-bit types."""
    return dtype if value.element_size() == 1 else torch.promote_types(dtype, value.dtype)


def _on(value: Any, device: str) -> Any:
    return value.detach().resolve_neg().to(device) if isinstance(value, torch.Tensor) else value


class _Files:
    """Python files of the operator's directory, as modules of its package where it is one."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._modules: Dict[str, ModuleType] = {}
        # A name of our own: the directory's may be that of another module, or no identifier.
        self._package = f"_dcuop_verified_{zlib.crc32(str(directory).encode('utf-8', 'surrogateescape')):08x}"

    def attribute(self, place: str) -> Any:
        """What "file.py:name" names. Raises UsageProblem when it is not there."""
        file, _, name = place.rpartition(":")
        if not file or not (self._directory / file).is_file():
            raise UsageProblem(f"{self._directory}: there is no {file or place}, which the contract names", "", 2)
        found = getattr(self._module(file), name, None)
        if found is None:
            raise UsageProblem(f"{self._directory / file} has no {name}, which the contract names", "", 2)
        if not callable(found):
            kind = type(found).__name__
            raise UsageProblem(f"{self._directory / file}: {name}, which the contract names, is no function but {kind}", "", 2)
        return found

    def _module(self, file: str) -> ModuleType:
        module = self._modules.get(file)
        if module is None:
            module = self._modules[file] = self._load(file)
        return module

    def _load(self, file: str) -> ModuleType:
        initial = self._directory / "__init__.py"
        if not initial.is_file():
            return _from_file(f"{self._package}_{Path(file).stem}", self._directory / file)
        if self._package not in sys.modules:
            _from_file(self._package, initial, package=self._directory)
        parts = Path(file).with_suffix("").parts
        return importlib.import_module(".".join((self._package, *parts)))


def _from_file(name: str, path: Path, package: Optional[Path] = None) -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        name, str(path), submodule_search_locations=[str(package)] if package else None
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file", name=name, path=str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
