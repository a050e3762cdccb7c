"""load and load_inline: torch.utils.cpp_extension's, with dcuop's cache behind them.

What torch's functions take and return is in
https://pytorch.org/docs/stable/cpp_extension.html and in the docstrings of the installed torch.
"""

from __future__ import annotations

import filecmp
import importlib.util
import inspect
import os
import shutil
import sys
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from ._arguments import arch_list, check_types, is_path
from ._description import Extension, describe, flags_of, label_of_caller
from ._errors import BuildError, DcuopError
from ._extension import Built, Order, import_module, load as load_extension, load_library
from ._inline import cuda_source, main_source

_PathLike = Union[str, "os.PathLike[str]"]
_Flags = Union[str, Sequence[str], None]


def load(
    name: str,
    sources: Union[_PathLike, Sequence[_PathLike]],
    extra_cflags: _Flags = None,
    extra_cuda_cflags: _Flags = None,
    extra_ldflags: _Flags = None,
    extra_include_paths: Union[_PathLike, Sequence[_PathLike], None] = None,
    build_directory: Optional[_PathLike] = None,
    verbose: bool = False,
    with_cuda: Optional[bool] = None,
    is_python_module: bool = True,
    is_standalone: bool = False,
    keep_intermediates: bool = True,
    *,
    extra_sycl_cflags: _Flags = None,
    with_sycl: Optional[bool] = None,
    arch: Union[str, Sequence[str], None] = None,
    cache_dir: Optional[_PathLike] = None,
    force: bool = False,
    allow_cpu_torch: bool = False,
) -> Any:
    """torch.utils.cpp_extension.load(): builds `sources` unless they are in the cache, and loads the result.

    The parameters of torch's function mean what they mean there, except:
    extra_cuda_cflags   flags for HIP units. `--offload-arch` among them chooses the archs, as `arch` does
    build_directory     what is built stays in the cache; with a directory, a copy of it is put there as <name>.so
    keep_intermediates  without effect: there are none outside of the cache
    and beside them:
    arch                target id or ids to build for; default: DCUOP_ARCH, PYTORCH_ROCM_ARCH, the visible devices
    cache_dir           the cache; default: DCUOP_CACHE_DIR, else ~/.cache/dcuop
    force               compile again even on a hit
    allow_cpu_torch     build device code although this torch has no HIP, and cannot launch it

    Returns the module, None for `is_python_module=False` (the operators are in torch.ops then), or the program's path
    for `is_standalone=True`. The module is in sys.modules too, unless its name is another module's, so that what it
    defines can be pickled. After a change of the sources, another call gives a module of its own; the one of before
    still works.

    Raises as load_op does; UsageProblem also for CUDA and SYCL sources, which are for torch's own loader.
    """
    extension = extension_of_load(locals(), label_of_caller())
    return _load(extension, _Wishes(arch, cache_dir, force, verbose, build_directory))


def load_inline(
    name: str,
    cpp_sources: Union[str, Sequence[str]],
    cuda_sources: Union[str, Sequence[str], None] = None,
    functions: Union[str, Sequence[str], Mapping[str, str], None] = None,
    extra_cflags: _Flags = None,
    extra_cuda_cflags: _Flags = None,
    extra_ldflags: _Flags = None,
    extra_include_paths: Union[_PathLike, Sequence[_PathLike], None] = None,
    build_directory: Optional[_PathLike] = None,
    verbose: bool = False,
    with_cuda: Optional[bool] = None,
    is_python_module: bool = True,
    with_pytorch_error_handling: bool = True,
    keep_intermediates: bool = True,
    use_pch: bool = False,
    *,
    sycl_sources: Union[str, Sequence[str], None] = None,
    extra_sycl_cflags: _Flags = None,
    with_sycl: Optional[bool] = None,
    no_implicit_headers: bool = False,
    gil_not_used: bool = False,
    arch: Union[str, Sequence[str], None] = None,
    cache_dir: Optional[_PathLike] = None,
    force: bool = False,
    allow_cpu_torch: bool = False,
) -> Any:
    """torch.utils.cpp_extension.load_inline(): load() for sources that are given as text.

    They are kept in the cache, where a debugger finds them. `use_pch` is without effect: a second build of the same
    text compiles nothing. The rest is as in load() and in torch's function.
    """
    extension = extension_of_load_inline(locals(), label_of_caller())
    return _load(extension, _Wishes(arch, cache_dir, force, verbose, build_directory))


def extension_of_load(given: Mapping[str, Any], label: str) -> Extension:
    """What a call of load() is for; `given` are its arguments by name, without those that are left to their default or
    with them."""
    return Extension(
        sources=_paths("sources", given["sources"]),
        kind=_kind(given.get("is_python_module", True), given.get("is_standalone", False)),
        **_shared(given, label),
    )


def extension_of_load_inline(given: Mapping[str, Any], label: str) -> Extension:
    """The same for load_inline()."""
    with_headers = not given.get("no_implicit_headers", False)
    with_error_handling = given.get("with_pytorch_error_handling", True)
    main = main_source(
        given["cpp_sources"], given.get("functions"), with_error_handling, with_headers, bool(given.get("gil_not_used"))
    )
    files = {"main.cpp": main}
    if given.get("cuda_sources"):
        files["cuda.cu"] = cuda_source(given["cuda_sources"], with_headers)
    return Extension(files=files, kind=_kind(given.get("is_python_module", True), False), **_shared(given, label))


def _shared(given: Mapping[str, Any], label: str) -> Dict[str, Any]:
    sycl = ("with_sycl", "extra_sycl_cflags", "sycl_sources")
    return {
        "name": given["name"],
        "cxx_flags": flags_of("extra_cflags", given.get("extra_cflags")),
        "hip_flags": flags_of("extra_cuda_cflags", given.get("extra_cuda_cflags")),
        "link_flags": flags_of("extra_ldflags", given.get("extra_ldflags")),
        "include_dirs": _paths("extra_include_paths", given.get("extra_include_paths")),
        "with_cuda": given.get("with_cuda"),
        "with_sycl": any(given.get(name) for name in sycl),
        "allow_cpu_torch": bool(given.get("allow_cpu_torch", False)),
        "label": label,
    }


def bind(function: str, is_torchs: bool, args: Tuple[Any, ...], kwargs: Mapping[str, Any]) -> Dict[str, Any]:
    """The arguments of such a call by name. torch's parameters stand in the order of the installed torch. Raises
    TypeError as the call would."""
    called: Any = {"load": load, "load_inline": load_inline}[function]
    if is_torchs:
        from torch.utils import cpp_extension  # pylint: disable=import-outside-toplevel

        called = getattr(cpp_extension, function)
    return dict(inspect.signature(called).bind(*args, **kwargs).arguments)


class _Wishes:
    """What concerns this call and not the extension."""

    def __init__(self, arch: Any, cache_dir: Any, force: Any, verbose: Any, build_directory: Any) -> None:
        # torch's own callers pass 0 and 1 for verbose.
        check_types("load", arch=arch, cache_dir=cache_dir, force=force, build_directory=build_directory)
        self.arch = arch_list(arch)
        self.variables = {"DCUOP_CACHE_DIR": os.fspath(cache_dir)} if cache_dir is not None else {}
        self.force = force
        self.verbose = bool(verbose)
        self.build_directory = build_directory


def _paths(name: str, value: Any) -> List[str]:
    if value is None:
        return []
    items = [value] if is_path(value) else sorted(value, key=str) if isinstance(value, (set, frozenset)) else value
    if not isinstance(items, (list, tuple)) or not all(map(is_path, items)):
        raise TypeError(f"{name} must be a path or a sequence of paths, not {value!r}")
    return [os.path.abspath(os.fspath(item)) for item in items]


def _kind(is_python_module: bool, is_standalone: bool) -> str:
    if is_python_module and is_standalone:
        raise ValueError("`is_python_module` and `is_standalone` are mutually exclusive.")
    return "executable" if is_standalone else "pybind" if is_python_module else "torch-library"


def _load(extension: Extension, wishes: _Wishes) -> Any:
    order = _order(extension, wishes)
    try:
        op, result = load_extension(order, lambda op: _use(op, extension, wishes), extension.name)
    except BuildError as error:
        raise extension.at_originals(error) from error.__cause__
    copy = _placed(op, extension.name, wishes)
    return copy or result if extension.kind == "executable" else result


def _order(extension: Extension, wishes: _Wishes) -> Order:
    description, archs = describe(extension, wishes.variables.get("DCUOP_CACHE_DIR", ""))
    arguments = ["--from", "-"]
    if wishes.arch or archs:
        arguments += ["--arch", ",".join(wishes.arch or archs)]
    if wishes.force:
        arguments.append("--force")
    return Order(arguments, wishes.variables, wishes.verbose, description)


def _use(op: Built, extension: Extension, wishes: _Wishes) -> Any:
    if extension.kind == "executable":
        return op["path"]
    if extension.kind == "torch-library":
        load_library(op)
        return None
    return _import_registered(op, extension.name, _target(op, extension.name, wishes))


_registered: Dict[str, Any] = {}


def _import_registered(op: Built, name: str, copy: Optional[str]) -> Any:
    """pickle finds a function by its module's name, so the module stays in sys.modules, where CPython's import of an
    extension puts it. Something else of that name, there or to be imported, has its place back. `copy` is the module
    itself, as a load before has put it into a build_directory."""
    there = sys.modules.get(name)
    is_taken = there is not _registered.get(name) if there is not None else _is_another_module(name, copy)
    try:
        module = import_module(op, name)
    finally:
        if is_taken:
            sys.modules.pop(name, None)
            if there is not None:
                sys.modules[name] = there
    if not is_taken:
        _registered[name] = sys.modules[name] = module
    return module


def _is_another_module(name: str, copy: Optional[str]) -> bool:
    """Whether an import of the name would find one."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return True
    # A directory without __init__.py is a package as well, and often the one that the extension's sources are in:
    # projects import the extension by its name after the load.
    if spec is None or not spec.has_location:
        return spec is not None and spec.submodule_search_locations is None
    return copy is None or os.path.realpath(str(spec.origin)) != os.path.realpath(copy)


def _target(op: Built, name: str, wishes: _Wishes) -> Optional[str]:
    if wishes.build_directory is None:
        return None
    directory = os.path.abspath(os.fspath(wishes.build_directory))
    return os.path.join(directory, name if op["kind"] == "executable" else f"{name}.so")


def _placed(op: Built, name: str, wishes: _Wishes) -> Optional[str]:
    """A copy where torch's loader would have built it, for those who look for it there."""
    target = _target(op, name, wishes)
    if target is None:
        return None
    directory = os.path.dirname(target)
    if os.path.exists(target) and filecmp.cmp(op["path"], target, shallow=False):
        return target
    try:
        os.makedirs(directory, exist_ok=True)
        # In one step: a process may have the old one loaded.
        descriptor, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=directory)
        os.close(descriptor)
        try:
            shutil.copyfile(op["path"], temporary)
            os.chmod(temporary, 0o755)
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise DcuopError(
            f"{name} is built, and cannot be copied to build_directory {directory}: {error.strerror}",
            "Name a directory that can be written, or leave build_directory out.",
            3,
        ) from error
    return target
