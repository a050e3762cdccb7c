"""load_op: the program builds, this process imports."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import Any, List, Optional, Sequence, Union

from ._arguments import arch_list, check_types, is_path
from ._extension import Built, Order, import_module, load, load_library

_PathLike = Union[str, "os.PathLike[str]"]


def load_op(
    path: _PathLike,
    arch: Union[str, Sequence[str], None] = None,
    cache_dir: Optional[_PathLike] = None,
    force: bool = False,
    verbose: bool = False,
    backend: Optional[str] = None,
) -> Any:
    """Builds the operator in directory `path` unless the cache has it, and loads it into this process.

    arch       target id or ids to build for; default: DCUOP_ARCH, PYTORCH_ROCM_ARCH, the visible devices
    cache_dir  the cache; default: DCUOP_CACHE_DIR, else ~/.cache/dcuop
    force      compile again even on a hit
    verbose    let dcuop's progress through to stderr
    backend    "hip", "host" or "cuda": which of its builds; default: DCUOP_BACKEND, the user's configuration, "hip"

    Returns the extension module (kind "pybind"), `torch.ops.<name>` (kind "torch-library": its operators have to
    be in the namespace of the op's name to be found there), a ctypes.CDLL (kind "plain") or the program's path (kind
    "executable"). A result that this process has loaded already is returned as it is. May be called from several
    threads.

    Raises BuildError, UsageProblem, EnvironmentProblem, LockTimeoutError or BuildForbiddenError, each a DcuopError,
    when there is nothing to load; TypeError for an argument of the wrong type; OpLoadError (an ImportError) with the
    doctor's findings when the file does not load.
    """
    if not is_path(path):
        raise TypeError(f"load_op: path must be a str or a path, not {type(path).__name__}")
    check_types("load_op", arch=arch, cache_dir=cache_dir, force=force, verbose=verbose, backend=backend)
    variables = {"DCUOP_CACHE_DIR": os.fspath(cache_dir)} if cache_dir is not None else {}
    return load(Order(_build_arguments(path, arch, force, backend), variables, verbose), _use)[1]


def _build_arguments(
    path: _PathLike, arch: Union[str, Sequence[str], None], force: bool, backend: Optional[str]
) -> List[str]:
    # Absolute, so that it can be taken neither for an option nor for the name of a workspace's member.
    arguments = [os.path.abspath(os.fspath(path)), "--python", sys.executable]
    if arch is not None:
        arguments += ["--arch", ",".join(arch_list(arch))]
    if backend is not None:
        arguments += ["--backend", backend]
    if force:
        arguments.append("--force")
    return arguments


def _use(op: Built) -> Any:
    if op["kind"] == "pybind":
        # Apart from a package of the op's name, which is how operators are commonly laid out, and from other builds of
        # the same op.
        return import_module(op, f"dcuop._loaded.{op['entry']}.{op['module']}")
    if op["kind"] == "torch-library":
        import torch  # pylint: disable=import-outside-toplevel

        load_library(op)
        return getattr(torch.ops, op["name"])
    return Path(op["path"]) if op["kind"] == "executable" else ctypes.CDLL(op["path"])
