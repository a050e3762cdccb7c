"""load_op: the program builds, this process imports."""

from __future__ import annotations

import ctypes
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Collection, Dict, List, Mapping, NamedTuple, Optional, Sequence, Union

from ._errors import BuildError, DcuopError, Finding, OpLoadError, error_from_json
from ._program import ask
from ._use_lock import lock_for_use

_PathLike = Union[str, "os.PathLike[str]"]

# How often a result may vanish between the build's answer and the lock on it before something else is wrong.
_ATTEMPTS = 3
_DOCTOR_SECONDS = 60.0


class _Loaded(NamedTuple):
    result: Any
    use_lock: Optional[int]  # descriptor; open for as long as the process lives


_loaded: Dict[str, _Loaded] = {}
# Re-entrant: an extension's init may load another op.
_loading = threading.RLock()


def load_op(
    path: _PathLike,
    arch: Union[str, Sequence[str], None] = None,
    cache_dir: Optional[_PathLike] = None,
    force: bool = False,
    verbose: bool = False,
) -> Any:
    """Builds the operator in directory `path` unless the cache has it, and loads it into this process.

    arch       target id or ids to build for; default: DCUOP_ARCH, PYTORCH_ROCM_ARCH, the visible devices
    cache_dir  the cache; default: DCUOP_CACHE_DIR, else ~/.cache/dcuop
    force      compile again even on a hit
    verbose    let dcuop's progress through to stderr

    Returns the extension module (kind "pybind"), `torch.ops.<name>` (kind "torch-library": its operators have to
    be in the namespace of the op's name to be found there) or a ctypes.CDLL (kind "plain"). A result that this
    process has loaded already is returned as it is. May be called from several threads.

    Raises BuildError, UsageProblem, EnvironmentProblem, LockTimeoutError or BuildForbiddenError, each a
    DcuopError, when there is nothing to load; TypeError for an argument of the wrong type; OpLoadError (an ImportError) with the doctor's findings when the
    file does not load.
    """
    _check_types(path, arch, cache_dir, force, verbose)
    variables = {"DCUOP_CACHE_DIR": os.fspath(cache_dir)} if cache_dir is not None else {}
    arguments = _build_arguments(path, arch, force)
    for _ in range(_ATTEMPTS):
        op = _build(arguments, variables, verbose)
        with _loading:
            known = _loaded.get(op["path"])
            if known is not None:
                return known.result
            use_lock = _lock(op)
            try:
                if os.path.exists(op["path"]):
                    result = _import(op, variables)
                    _loaded[op["path"]] = _Loaded(result, use_lock)
                    return result
            except BaseException:
                _unlock(use_lock)
                raise
            _unlock(use_lock)
    raise DcuopError(
        f"{op['name']}: {op['path']} vanished {_ATTEMPTS} times between the build and its use",
        "Does something delete the cache? `dcuop cache stats` shows where it is.",
    )


def _check_types(path: Any, arch: Any, cache_dir: Any, force: Any, verbose: Any) -> None:
    # Else the fault would show as one of subprocess or of os, which names none of these parameters.
    def check(name: str, value: Any, ok: bool, wanted: str) -> None:
        if not ok:
            raise TypeError(f"load_op: {name} must be {wanted}, not {type(value).__name__}")

    def is_path(value: Any) -> bool:
        return isinstance(value, str) or (isinstance(value, os.PathLike) and isinstance(os.fspath(value), str))

    names = [arch] if isinstance(arch, str) else arch
    is_list = isinstance(names, Collection) and not isinstance(names, (bytes, Mapping))
    check("path", path, is_path(path), "a str or a path")
    check("arch", arch, arch is None or is_list, "a str, a sequence of str or None")
    for name in names or ():
        check("an element of arch", name, isinstance(name, str), "a str")
    check("cache_dir", cache_dir, cache_dir is None or is_path(cache_dir), "a str, a path or None")
    check("force", force, isinstance(force, bool), "a bool")
    check("verbose", verbose, isinstance(verbose, bool), "a bool")


def _build_arguments(path: _PathLike, arch: Union[str, Sequence[str], None], force: bool) -> List[str]:
    # Absolute, so that it can be taken neither for an option nor for the name of a workspace's member.
    arguments = ["build", os.path.abspath(os.fspath(path)), "--json", "--python", sys.executable]
    if arch is not None:
        arguments += ["--arch", arch if isinstance(arch, str) else ",".join(arch)]
    if force:
        arguments.append("--force")
    return arguments


def _build(arguments: Sequence[str], variables: Mapping[str, str], verbose: bool) -> Dict[str, Any]:
    answer = ask(arguments, variables=variables, verbose=verbose)
    if "error" in answer.data:
        raise error_from_json(answer.data["error"], answer.exit_code)
    ops = answer.data.get("ops", [])
    if len(ops) != 1:
        raise DcuopError(f"{arguments[1]} is {len(ops)} operators; load_op loads one", "", answer.exit_code)
    op: Dict[str, Any] = ops[0]
    if op.get("error") is not None:
        raise error_from_json(op["error"], answer.exit_code)
    if answer.exit_code != 0 or not op.get("path"):
        raise BuildError(f"{op.get('name', arguments[1])}: dcuop named no file", "", answer.exit_code)
    return op


def _lock(op: Mapping[str, Any]) -> Optional[int]:
    """None when there is no lock to be had: a system cache without a lock file that we can read, or a file system
    without locks, where the store's own "used within the hour" has to do."""
    wanted = op.get("use_lock")
    if not wanted or not wanted.get("file"):
        return None
    try:
        return lock_for_use(wanted["file"], int(wanted["offset"]))
    except OSError:
        return None


def _unlock(use_lock: Optional[int]) -> None:
    if use_lock is not None:
        os.close(use_lock)


def _import(op: Mapping[str, Any], variables: Mapping[str, str]) -> Any:
    try:
        if op.get("abi", "none") != "none":
            # Its libraries have to be in the process before a file that needs them without a RUNPATH.
            import torch  # noqa: F401  pylint: disable=unused-import,import-outside-toplevel
        return _LOADERS[op["kind"]](op)
    except (ImportError, OSError) as error:
        raise _explain(op, error, variables) from error


def _import_pybind(op: Mapping[str, Any]) -> Any:
    # Python looks for PyInit_<what follows the last dot>. The rest keeps it apart from a package of the op's
    # name, which is how operators are commonly laid out, and from other builds of the same op.
    name = f"dcuop._loaded.{op['entry']}.{op['module']}"
    loader = importlib.machinery.ExtensionFileLoader(name, op["path"])
    spec = importlib.util.spec_from_file_location(name, op["path"], loader=loader)
    if spec is None:
        raise ImportError(f"no import spec for {op['path']}", name=name, path=op["path"])
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def _import_torch_library(op: Mapping[str, Any]) -> Any:
    import torch  # pylint: disable=import-outside-toplevel

    torch.ops.load_library(op["path"])
    return getattr(torch.ops, op["name"])


def _import_plain(op: Mapping[str, Any]) -> Any:
    return ctypes.CDLL(op["path"])


_LOADERS = {"pybind": _import_pybind, "torch-library": _import_torch_library, "plain": _import_plain}


def _explain(op: Mapping[str, Any], error: Exception, variables: Mapping[str, str]) -> OpLoadError:
    name, path = op["name"], op["path"]
    more = f"more: dcuop doctor {path}"
    try:
        report = ask(
            ["doctor", "--json", "--python", sys.executable, path], variables=variables, timeout=_DOCTOR_SECONDS
        ).data
    except (DcuopError, subprocess.TimeoutExpired):
        # The doctor is help; without it the loader's own words have to do.
        return OpLoadError(f"{name} does not load: {error}\n{more}", name=name, path=path)
    findings = [Finding.from_json(finding) for finding in report.get("findings", [])]
    errors = [finding for finding in findings if finding.severity == "error"]
    if not errors:
        # The doctor sees no fault: then its verdict would only contradict what has just happened.
        return OpLoadError(f"{name} does not load: {error}\n{more}", name=name, path=path, findings=findings)
    return OpLoadError(_message(name, report, errors, more), name=name, path=path, findings=findings)


def _message(name: str, report: Mapping[str, Any], errors: Sequence[Finding], more: str) -> str:
    headline = str(report.get("headline") or errors[0].cause).rstrip(". ")
    if not headline.startswith(name):
        headline = f"{name} {headline}"
    rules = ", ".join(dict.fromkeys(finding.rule for finding in errors))
    lines = [f"{headline} [{rules}]."]
    lines += [f"{finding.cause.rstrip('. ')}." for finding in errors if finding.cause not in headline]
    fix = next((finding.fix for finding in errors if finding.fix), "")
    lines.append(f"Fix: {fix}    ·  {more}" if fix else more)
    return "\n".join(lines)
