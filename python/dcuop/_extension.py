"""From a build to what it is for: the program builds, this process keeps the result, imports it, or says why not."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
import threading
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Sequence, Tuple

from ._errors import BuildError, DcuopError, Finding, OpLoadError, UsageProblem, error_from_json
from ._program import ask, find_program
from ._ranks import speaks
from ._recall import Question
from ._use_lock import lock_for_use

# How often a result may vanish between the build's answer and the lock on it before something else is wrong.
_ATTEMPTS = 3
_DOCTOR_SECONDS = 60.0

Built = Mapping[str, Any]  #: an element of "ops" in the answer of `dcuop build --json` (docs/json.md)


class Order(NamedTuple):
    """One run of `dcuop build` for one op."""

    arguments: Sequence[str]  #: behind "build"
    variables: Mapping[str, str]  #: beside this process's own
    verbose: bool = False  #: progress on stderr; of a job's ranks only the first shows it
    description: Optional[Mapping[str, Any]] = None  #: for `--from -`


class _Loaded(NamedTuple):
    result: Any
    use_lock: Optional[int]  # descriptor; open for as long as the process lives


_loaded: Dict[Tuple[str, str], _Loaded] = {}
# Re-entrant: an extension's init may load another op.
_loading = threading.RLock()


def _after_fork() -> None:
    # Another thread of the parent may have held it.
    global _loading  # pylint: disable=global-statement
    _loading = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)


def load(order: Order, use: Callable[[Built], Any], name: str = "") -> Tuple[Built, Any]:
    """Builds what `order` asks for, unless it is in the cache; returns the op, and what `use` makes of it. It stays in
    the cache as long as this process lives. The same file is used once under a name: its first result is returned
    again."""
    for _ in range(_ATTEMPTS):
        op = build(order)
        with _loading:
            known = _loaded.get((op["path"], name))
            if known is not None:
                return op, known.result
            use_lock = _lock(op)
            try:
                if os.path.exists(op["path"]):
                    result = _use(op, use, order.variables)
                    _loaded[op["path"], name] = _Loaded(result, use_lock)
                    return op, result
            except BaseException:
                _unlock(use_lock)
                raise
            _unlock(use_lock)
    raise DcuopError(
        f"{op['name']}: {op['path']} vanished {_ATTEMPTS} times between the build and its use",
        "Does something delete the cache? `dcuop cache stats` shows where it is.",
    )


def use_built(op: Built, use: Callable[[Built], Any], variables: Mapping[str, str]) -> Any:
    """What `use` makes of an op that was built before; it stays in the cache as long as this process lives. Raises
    OpLoadError, or DcuopError when the file is gone."""
    with _loading:
        use_lock = _lock(op)
        if not os.path.exists(op["path"]):
            _unlock(use_lock)
            raise DcuopError(f"{op['name']}: {op['path']} is gone", "Something deleted it from the cache; try again.")
        result = _use(op, use, variables)
        _loaded[op["path"], ""] = _Loaded(result, use_lock)
        return result


def build(order: Order) -> Dict[str, Any]:
    """The op that was built, or found."""
    shown = order.verbose and speaks()
    arguments = ["build", *order.arguments, "--json", *([] if shown else ["--quiet"])]
    stdin = None if order.description is None else _json_of(order.description)
    question = None
    if not shown and "--force" not in arguments:
        program = find_program()
        question = Question.of([program, *arguments], stdin, order.variables)
        recalled = question and question.recall(program)
        if recalled:
            return recalled
    answer = ask(
        [*arguments, *(question.options() if question else [])], variables=order.variables, verbose=shown, stdin=stdin
    )
    if "error" in answer.data:
        raise _of_this_rank(error_from_json(answer.data["error"], answer.exit_code))
    ops = answer.data.get("ops", [])
    if len(ops) != 1:
        raise DcuopError(f"{order.arguments[0]} is {len(ops)} operators; one is loaded at a time", "", answer.exit_code)
    op: Dict[str, Any] = ops[0]
    if op.get("error") is not None:
        raise _of_this_rank(error_from_json(op["error"], answer.exit_code))
    if answer.exit_code != 0 or not op.get("path"):
        raise BuildError(f"{op.get('name', order.arguments[0])}: dcuop named no file", "", answer.exit_code)
    return op


def _json_of(description: Mapping[str, Any]) -> str:
    text = json.dumps(description, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        around = text[max(0, error.start - 60) : error.start + 20].encode("utf-8", "backslashreplace").decode()
        raise UsageProblem(
            f"a path, flag or source of the extension is no UTF-8 text: ...{around}...",
            "Rename the directory or file, or correct the text.",
            2,
        ) from error
    return text


def _of_this_rank(error: DcuopError) -> DcuopError:
    """In full from the first rank; of the others the line that names the error."""
    lines = error.message.splitlines()
    if speaks() or len(lines) < 2:
        return error
    line = next((line for line in lines if "error:" in line), lines[0])
    return type(error)(line.strip(), "Rank 0 says more.", error.exit_code, error.log)


def _use(op: Built, use: Callable[[Built], Any], variables: Mapping[str, str]) -> Any:
    try:
        if op.get("abi", "none") != "none":
            # Its libraries have to be in the process before a file that needs them without a RUNPATH.
            import torch  # noqa: F401  pylint: disable=unused-import,import-outside-toplevel
        return use(op)
    except (ImportError, OSError) as error:
        raise _explain(op, error, variables) from error


def import_module(op: Built, name: str) -> Any:
    """The extension module in the op's file. Python looks for PyInit_<what follows the last dot of `name`>."""
    loader = importlib.machinery.ExtensionFileLoader(name, op["path"])
    spec = importlib.util.spec_from_file_location(name, op["path"], loader=loader)
    if spec is None:
        raise ImportError(f"no import spec for {op['path']}", name=name, path=op["path"])
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def load_library(op: Built) -> None:
    """Registers the op's TORCH_LIBRARY operators."""
    import torch  # pylint: disable=import-outside-toplevel

    torch.ops.load_library(op["path"])


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
