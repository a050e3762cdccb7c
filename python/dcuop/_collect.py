"""python -m dcuop._collect FILE.py: the extensions that a program loads, as a description on stdout (docs/json.md).

The program is read, not run. A call of load(), load_inline() or load_op() needs its arguments; what these are made from
(imports, assignments, functions and loops above it that assign what they use) is run, as if the program had no
arguments, and nothing else. A call whose arguments depend on what only a run can tell is named on stderr and left out.
"""

from __future__ import annotations

import ast
import copy
import functools
import importlib
import inspect
import json
import os
import signal
import sys
from typing import Any, Callable, Dict, Iterator, List, Tuple

import dcuop

from . import _interpreter
from ._description import describe, label_of_caller
from ._load import load_op
from ._slice import Call, WithoutChangesOfModules, programs_for
from ._torch_loader import bind, extension_of_load, extension_of_load_inline

# Where the functions may be imported from, and what they are called there.
_SOURCES = {
    "dcuop": ("load", "load_inline", "load_op"),
    "torch.utils.cpp_extension": ("load", "load_inline"),
}

# For what the arguments of one call are made from, with its imports. A slow disk may need a minute for those.
_LONGEST_SECONDS = 120.0


class _TakesTooLong(BaseException):
    """Apart from Exception, which the program may catch."""


class _Unbuilt:
    """What a module has instead of an extension that it loads: whatever it asks of it, and calls, is this again."""

    def __getattr__(self, name: str) -> "_Unbuilt":
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_: Any, **__: Any) -> "_Unbuilt":
        return self


class Aliases(ast.NodeVisitor):
    """What the loaders are called in this file: {"load": "dcuop.load", ...}."""

    def __init__(self) -> None:
        self.functions: Dict[str, str] = {}

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            for source, functions in _SOURCES.items():
                if alias.name == source or source.startswith(alias.name + "."):
                    # `import torch` makes torch.utils.cpp_extension reachable, `import x.y as z` names x.y alone.
                    name = source if alias.asname is None else alias.asname + source[len(alias.name) :]
                    self.functions.update({f"{name}.{function}": f"{source}.{function}" for function in functions})

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            here = alias.asname or alias.name
            for source, functions in _SOURCES.items():
                if node.module == source and alias.name in functions:
                    self.functions[here] = f"{source}.{alias.name}"
                elif f"{node.module}.{alias.name}" == source:
                    self.functions.update({f"{here}.{function}": f"{source}.{function}" for function in functions})


def dotted(node: ast.AST) -> str:
    """ "a.b.c" for such an expression, else ""."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


def calls_in(tree: ast.Module) -> List[Call]:
    aliases = Aliases()
    aliases.visit(tree)
    return list(_calls_below(tree, aliases.functions, (tree,)))


def _calls_below(node: ast.AST, functions: Dict[str, str], path: Tuple[ast.AST, ...]) -> Iterator[Call]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call) and dotted(child.func) in functions:
            source = functions[dotted(child.func)]
            yield Call(source.rpartition(".")[2], child, path, source.startswith("torch."))
        below = (*path, child) if isinstance(child, ast.stmt) else path
        yield from _calls_below(child, functions, below)


class Collector:
    """Runs the programs; takes what the calls in them are given."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.ops: List[Dict[str, Any]] = []
        self.left_out: List[str] = []

    def collect(self, call: Call, tree: ast.Module) -> None:
        collected = len(self.ops)
        try:
            try:
                self.run_all(call, tree)
            except (Exception, SystemExit) as error:  # pylint: disable=broad-except
                self.run_simpler(call, tree, error)
            if len(self.ops) == collected:
                self.leave_out(call, "nothing in this file calls the function that it stands in")
        except _TakesTooLong:
            self.leave_out(call, f"what its arguments are made from takes more than {_LONGEST_SECONDS:g} s")
        except (Exception, SystemExit) as error:  # pylint: disable=broad-except
            self.leave_out(call, f"{type(error).__name__}: {error}".splitlines()[0])

    def leave_out(self, call: Call, reason: str) -> None:
        self.left_out.append(f"{self.file}:{call.node.lineno}: {call.function}() is left out: {reason}")

    def run_all(self, call: Call, tree: ast.Module) -> None:
        def stop(*_: Any) -> None:
            raise _TakesTooLong

        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, _LONGEST_SECONDS)
        try:
            for program in programs_for(call, tree):
                self.run(call, program)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def run_simpler(self, call: Call, tree: ast.Module, error: BaseException) -> None:
        simpler = WithoutChangesOfModules(tree).visit(copy.deepcopy(tree))
        try:
            self.run_all(next(other for other in calls_in(simpler) if other.is_at(call)), simpler)
        except (Exception, SystemExit):
            raise error from None

    def run(self, call: Call, program: ast.Module) -> None:
        def loader(*args: Any, **kwargs: Any) -> None:
            self.take(call.function, call.is_torchs, f"{self.file}:{call.node.lineno}", args, kwargs)

        namespace: Dict[str, Any] = {
            "__name__": "__dcuop_collect__",
            "__file__": self.file,
            "__builtins__": __builtins__,
            call.stand_in: loader,
        }
        exec(compile(program, self.file, "exec"), namespace)  # pylint: disable=exec-used

    def stand_in_for_loaders(self) -> None:
        """A module that is imported for an argument may load extensions itself: they are collected too, not built."""
        homes = [(dcuop, function, False) for function in _SOURCES["dcuop"]]
        cpp_extension = sys.modules.get("torch.utils.cpp_extension")
        if cpp_extension is not None:
            homes += [(cpp_extension, function, True) for function in _SOURCES["torch.utils.cpp_extension"]]
        for home, function, is_torchs in homes:
            setattr(home, function, self.stand_in(getattr(home, function), function, is_torchs))

    def stand_in(self, original: Callable[..., Any], function: str, is_torchs: bool) -> Callable[..., Any]:
        @functools.wraps(original)  # with its signature
        def loader(*args: Any, **kwargs: Any) -> Any:
            self.take(function, is_torchs, label_of_caller(), args, kwargs)
            return _Unbuilt()

        return loader

    def take(
        self, function: str, is_torchs: bool, label: str, args: Tuple[Any, ...], kwargs: Dict[str, Any]
    ) -> None:
        if function == "load_op":
            given = inspect.signature(load_op).bind(*args, **kwargs).arguments
            op = {"label": label, "manifest": os.path.abspath(os.fspath(given["path"]))}
            if given.get("backend") is not None:
                op["backend"] = given["backend"]
            self.add(op)
            if given.get("arch") is not None:
                self.left_out.append(f"{label}: the arch of load_op() is left out: name it with --arch")
            return
        extension_of = extension_of_load if function == "load" else extension_of_load_inline
        arguments = bind(function, is_torchs, args, kwargs)
        description, archs = describe(extension_of(arguments, label))
        op = description["ops"][0]
        wished = arguments.get("arch") or archs
        if wished:
            op["build"]["archs"] = [wished] if isinstance(wished, str) else list(wished)
        self.add(op)

    def add(self, op: Dict[str, Any]) -> None:
        if op not in self.ops:
            self.ops.append(op)


def _import_torch() -> None:
    """Ahead of the time limit: an import that is broken off spoils those to come."""
    try:
        importlib.import_module("torch.utils.cpp_extension")
    except ImportError:
        pass  # each call says so


def main(arguments: List[str]) -> int:
    if len(arguments) != 1:
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    file = os.path.abspath(arguments[0])
    # A sum of a thousand terms is a thousand expressions deep.
    sys.setrecursionlimit(10000)
    try:
        with open(file, "rb") as stream:
            tree = ast.parse(stream.read(), file)
        calls = calls_in(tree)
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return 1
    # As python FILE would find the modules beside it.
    sys.path.insert(0, os.path.dirname(file))
    # It sees no argument of ours.
    sys.argv = [file]
    # What is imported, and the processes that it starts, may print; stdout is for the answer.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    collector = Collector(file)
    if calls:
        _import_torch()
    collector.stand_in_for_loaders()
    for call in calls:
        collector.collect(call, tree)
    for line in collector.left_out:
        print(line, file=sys.stderr)
    if not collector.ops:
        print(f"{file} has no call of load(), load_inline() or load_op() that can be read", file=sys.stderr)
        return 1
    with answer:
        json.dump({"schema": 1, "python": _interpreter.describe(), "ops": collector.ops}, answer)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
