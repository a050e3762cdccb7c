"""Reads from a setup.py which extensions it would make, without running it: python -m dcuop._setup_reader setup.py

Its syntax tree is gone through as the interpreter would, with values that are written down in it; whatever else
decides (another module, the environment, the machine) is "unread", and said to be. Prints JSON. The program runs this
text in an interpreter of its own (-I -S), so it imports nothing outside the standard library.
"""

from __future__ import annotations

import ast
import json
import os
import pathlib
import sys
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

EXTENSION_CLASSES = ("CUDAExtension", "CppExtension", "Extension", "HIPExtension")
LIST_FIELDS = (
    "sources",
    "include_dirs",
    "libraries",
    "library_dirs",
    "extra_link_args",
    "undef_macros",
)
# What a file could make this do is bounded: so many nodes, texts and lists so long, calls so deep.
MOST_STEPS, LONGEST_TEXT, LONGEST_LIST, DEEPEST_CALL = 200_000, 10_000, 10_000, 20


class Unread(NamedTuple):
    """A value that only running the file would give."""

    line: int
    text: str


class Maker(NamedTuple):
    """A class of extensions, under whatever name the file has for it."""

    name: str


class Function(NamedTuple):
    node: ast.FunctionDef


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class TooMuch(Exception):
    """The file is no setup.py that a person wrote."""


class Reader:
    def __init__(self, path: str, source: str) -> None:
        self._source = source
        self._scopes: List[Dict[str, Any]] = [{"__file__": path, "__name__": "__main__"}]
        self._steps = 0
        self._called: Set[str] = set()
        self._seen: Set[Tuple[int, str]] = set()
        self.extensions: List[Dict[str, Any]] = []
        self.assumed: Dict[int, str] = {}

    def read(self) -> None:
        tree = ast.parse(self._source)
        self._run(tree.body)
        # What only setuptools would call, such as a build_ext of the package's own.
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name not in self._called:
                self._call_function(Function(node), [], {})

    # Statements ------------------------------------------------------------------------------------------------------

    def _run(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self._step()
            method = getattr(self, "_run_" + type(statement).__name__.lower(), None)
            if method is not None:
                method(statement)

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise TooMuch

    def _run_expr(self, node: ast.Expr) -> None:
        self._value(node.value)

    def _run_return(self, node: ast.Return) -> None:
        raise _Return(self._value(node.value) if node.value else None)

    def _run_functiondef(self, node: ast.FunctionDef) -> None:
        self._scopes[-1][node.name] = Function(node)

    def _run_importfrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name in EXTENSION_CLASSES:
                self._scopes[-1][alias.asname or alias.name] = Maker(alias.name)

    def _run_assign(self, node: ast.Assign) -> None:
        value = self._value(node.value)
        for target in node.targets:
            self._assign(target, value)

    def _run_annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assign(node.target, self._value(node.value))

    def _run_augassign(self, node: ast.AugAssign) -> None:
        before, more = self._value(node.target), self._value(node.value)
        if isinstance(before, list) and isinstance(node.op, ast.Add):
            self._extend(before, more)
        else:
            value = self._sum(before, more, node) if isinstance(node.op, ast.Add) else self._unread(node)
            self._assign(node.target, value)

    def _run_if(self, node: ast.If) -> None:
        self._run(node.body if self._decide(node) else node.orelse)

    def _run_for(self, node: ast.For) -> None:
        items = self._value(node.iter)
        for item in items if isinstance(items, (list, tuple)) else [self._unread(node.iter)]:
            self._assign(node.target, item)
            self._run(node.body)

    def _run_while(self, node: ast.While) -> None:
        self._run(node.body)

    def _run_with(self, node: ast.With) -> None:
        for item in node.items:
            value = self._value(item.context_expr)
            if item.optional_vars is not None:
                self._assign(item.optional_vars, value)
        self._run(node.body)

    def _run_try(self, node: ast.Try) -> None:
        self._run(node.body)
        self._run(node.orelse)
        self._run(node.finalbody)

    def _assign(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self._scopes[-1][target.id] = value
        elif isinstance(target, ast.Subscript):
            owner, key = self._value(target.value), self._value(_index(target))
            if isinstance(owner, dict) and isinstance(key, str):
                owner[key] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            fits = isinstance(value, (list, tuple)) and len(value) == len(target.elts)
            for position, element in enumerate(target.elts):
                self._assign(element, value[position] if fits else self._unread(target))

    # Which way an `if` goes ------------------------------------------------------------------------------------------

    def _decide(self, node: Any) -> bool:
        """As the file says; where that is unread, the way that leads to device code, which is what is wanted here."""
        test = self._value(node.test)
        if not isinstance(test, Unread):
            return bool(test)
        ways = [node.body if isinstance(node.body, list) else [node.body]]
        ways.append(node.orelse if isinstance(node.orelse, list) else [node.orelse])
        words = ("cuda", "'nvcc", ".cu'")
        device = [any(word in ast.dump(part).lower() for part in way for word in words) for way in ways]
        taken = device[0] or not device[1]
        self.assumed[node.lineno] = f"`{self._text(node.test)}` was taken to be {'true' if taken else 'false'}"
        return taken

    # Values ----------------------------------------------------------------------------------------------------------

    def _value(self, node: ast.AST) -> Any:
        self._step()
        method: Optional[Callable[[Any], Any]] = getattr(self, "_value_" + type(node).__name__.lower(), None)
        if method is None:
            return self._unread(node)
        value = method(node)
        if isinstance(value, str) and len(value) > LONGEST_TEXT:
            raise TooMuch
        return value

    def _text(self, node: ast.AST) -> str:
        text = " ".join((ast.get_source_segment(self._source, node) or "?").split())
        return text if len(text) <= 80 else text[:77] + "..."

    def _unread(self, node: ast.AST) -> Unread:
        return Unread(getattr(node, "lineno", 0), self._text(node))

    def _value_constant(self, node: ast.Constant) -> Any:
        return node.value if isinstance(node.value, (str, int, float, bool, type(None))) else self._unread(node)

    def _value_name(self, node: ast.Name) -> Any:
        for scope in reversed(self._scopes):
            if node.id in scope:
                return scope[node.id]
        return Maker(node.id) if node.id in EXTENSION_CLASSES else self._unread(node)

    def _value_list(self, node: Any) -> List[Any]:
        items: List[Any] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                self._extend(items, self._value(element.value))
            else:
                items.append(self._value(element))
        return items

    _value_tuple = _value_set = _value_list

    def _value_dict(self, node: ast.Dict) -> Dict[Any, Any]:
        result: Dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values):
            name = self._value(key) if key is not None else None
            known = self._value(value)
            if isinstance(name, str):
                result[name] = known
            elif key is None and isinstance(known, dict):
                result.update(known)
        return result

    def _value_joinedstr(self, node: ast.JoinedStr) -> Any:
        parts = []
        for part in node.values:
            plain = not isinstance(part, ast.FormattedValue) or (part.format_spec is None and part.conversion == -1)
            value = self._value(part.value if isinstance(part, ast.FormattedValue) else part) if plain else None
            if not isinstance(value, (str, int, pathlib.PurePath)):
                return self._unread(node)
            parts.append(str(value))
        return "".join(parts)

    def _value_binop(self, node: ast.BinOp) -> Any:
        left, right = self._value(node.left), self._value(node.right)
        if isinstance(node.op, ast.Add):
            return self._sum(left, right, node)
        if isinstance(node.op, ast.Div) and isinstance(left, pathlib.PurePath):
            return left / right if isinstance(right, (str, pathlib.PurePath)) else self._unread(node)
        if isinstance(node.op, ast.Mod) and isinstance(left, str) and left.count("%") == left.count("%s"):
            values = right if isinstance(right, list) else [right]
            if all(isinstance(value, (str, int)) for value in values) and len(values) == left.count("%s"):
                return left % tuple(values)
        return self._unread(node)

    def _sum(self, left: Any, right: Any, node: ast.AST) -> Any:
        if isinstance(left, str) and isinstance(right, str):
            return left + right
        if isinstance(left, list) or isinstance(right, list):
            result: List[Any] = []
            self._extend(result, left)
            self._extend(result, right)
            return result
        return self._unread(node)

    def _extend(self, items: List[Any], more: Any) -> None:
        items.extend(list(more) if isinstance(more, list) else [more])
        if len(items) > LONGEST_LIST:
            raise TooMuch

    def _value_unaryop(self, node: ast.UnaryOp) -> Any:
        value = self._value(node.operand)
        if isinstance(node.op, ast.Not) and not isinstance(value, Unread):
            return not value
        return self._unread(node)

    def _value_boolop(self, node: ast.BoolOp) -> Any:
        decides = isinstance(node.op, ast.Or)
        values = [self._value(part) for part in node.values]
        for value in values:
            if not isinstance(value, Unread) and bool(value) == decides:
                return value
        return values[-1] if not any(isinstance(value, Unread) for value in values) else self._unread(node)

    def _value_compare(self, node: ast.Compare) -> Any:
        left, right = self._value(node.left), self._value(node.comparators[0])
        known = isinstance(left, (str, bool, type(None))) and isinstance(right, (str, bool, type(None)))
        if len(node.ops) == 1 and known and isinstance(node.ops[0], (ast.Eq, ast.Is)):
            return left == right
        if len(node.ops) == 1 and known and isinstance(node.ops[0], (ast.NotEq, ast.IsNot)):
            return left != right
        return self._unread(node)

    def _value_ifexp(self, node: ast.IfExp) -> Any:
        return self._value(node.body if self._decide(node) else node.orelse)

    def _value_listcomp(self, node: Any) -> Any:
        loop = node.generators[0]
        items = self._value(loop.iter)
        if len(node.generators) > 1 or loop.ifs or not isinstance(items, list):
            return [self._unread(node)]
        result = []
        self._scopes.append({})
        for item in items:
            if isinstance(item, Unread):
                result.append(item)
                continue
            self._assign(loop.target, item)
            result.append(self._value(node.elt))
        self._scopes.pop()
        return result

    _value_generatorexp = _value_setcomp = _value_listcomp

    def _value_subscript(self, node: ast.Subscript) -> Any:
        owner, key = self._value(node.value), self._value(_index(node))
        try:
            if isinstance(owner, dict) and isinstance(key, str):
                return owner[key]
            if isinstance(owner, list) and isinstance(key, int):
                return owner[key]
        except LookupError:
            pass
        return self._unread(node)

    def _value_attribute(self, node: ast.Attribute) -> Any:
        if node.attr in EXTENSION_CLASSES:
            return Maker(node.attr)
        owner = self._value(node.value)
        if isinstance(owner, pathlib.PurePath) and node.attr in ("parent", "name", "stem"):
            return getattr(owner, node.attr)
        return self._unread(node)

    # Calls -----------------------------------------------------------------------------------------------------------

    def _value_call(self, node: ast.Call) -> Any:
        arguments = self._value_list(ast.List(elts=node.args))
        named: Dict[str, Any] = {}
        for keyword in node.keywords:
            value = self._value(keyword.value)
            if keyword.arg is not None:
                named[keyword.arg] = value
            elif isinstance(value, dict):
                named.update(value)
        if isinstance(node.func, ast.Attribute) and node.func.attr not in EXTENSION_CLASSES:
            # Its owner is asked for once: else a chain of calls would be gone through 2^n times.
            return self._call_method(node, node.func, arguments)
        function = self._value(node.func)
        if isinstance(function, Maker):
            self._record(function, arguments, named, node)
            return self._unread(node)
        if isinstance(function, Function):
            return self._call_function(function, arguments, named)
        return self._call_named(_dotted(node.func), arguments, node)

    def _call_function(self, function: Function, arguments: List[Any], named: Dict[str, Any]) -> Any:
        node = function.node
        self._called.add(node.name)
        if len(self._scopes) > DEEPEST_CALL:
            raise TooMuch
        parameters = [argument.arg for argument in node.args.args]
        scope = {parameter: self._unread(node) for parameter in parameters}
        for parameter, default in zip(reversed(parameters), reversed(node.args.defaults)):
            scope[parameter] = self._value(default)
        scope.update(zip(parameters, arguments))
        scope.update({name: value for name, value in named.items() if name in scope})
        self._scopes.append(scope)
        try:
            self._run(node.body)
        except _Return as returned:
            return returned.value
        finally:
            self._scopes.pop()
        return None

    def _call_method(self, node: ast.Call, function: ast.Attribute, arguments: List[Any]) -> Any:
        owner, name = self._value(function.value), function.attr
        only = arguments[0] if len(arguments) == 1 else None
        if isinstance(owner, list) and name == "append" and arguments:
            owner.append(only)
        elif isinstance(owner, list) and name == "extend" and arguments:
            self._extend(owner, only)
        elif isinstance(owner, list) and name == "insert" and len(arguments) == 2:
            owner.append(arguments[1])
        elif isinstance(owner, dict) and name == "update" and isinstance(only, dict):
            owner.update(only)
        elif isinstance(owner, dict) and name == "get" and arguments and isinstance(arguments[0], str):
            return owner.get(arguments[0], arguments[1] if len(arguments) > 1 else None)
        elif isinstance(owner, str) and name in ("split", "strip", "lower", "startswith", "endswith"):
            if all(isinstance(argument, str) for argument in arguments):
                return getattr(owner, name)(*arguments)
        elif isinstance(owner, pathlib.PurePath) and name in ("resolve", "absolute"):
            return owner
        elif isinstance(owner, pathlib.PurePath) and name in ("as_posix", "__str__"):
            return str(owner)
        elif isinstance(owner, pathlib.PurePath) and name in ("glob", "rglob") and isinstance(only, str):
            return [str(owner / "**" / only if name == "rglob" else owner / only)]
        else:
            return self._call_named(_dotted(function), arguments, node)
        return self._unread(node) if isinstance(owner, str) else None

    def _call_named(self, name: str, arguments: List[Any], node: ast.Call) -> Any:
        texts = [str(item) for item in arguments if isinstance(item, (str, pathlib.PurePath))]
        all_texts = bool(texts) and len(texts) == len(arguments)
        short = name.rsplit(".", 1)[-1]
        if short in ("join", "dirname", "abspath", "realpath", "relpath", "normpath", "basename") and all_texts:
            if "path" in name.split(".") or name == short:
                # The file names itself absolutely, so what is left relative is so to its directory.
                return texts[0] if short in ("abspath", "realpath", "relpath") else getattr(os.path, short)(*texts)
        if short in ("glob", "iglob") and texts:
            return [texts[0]]  # a pattern here, and in dcuop.toml too
        if name in ("Path", "PurePath", "pathlib.Path", "pathlib.PurePath") and all_texts:
            return pathlib.PurePosixPath(*texts)
        if name in ("str", "os.fspath", "fspath") and all_texts:
            return texts[0]
        if name in ("list", "sorted", "tuple", "set") and arguments and isinstance(arguments[0], list):
            return list(arguments[0])
        if name in ("list", "tuple", "set") and not arguments:
            return []
        if name == "dict" and not arguments:
            return {word.arg: self._value(word.value) for word in node.keywords if word.arg is not None}
        if name in ("os.getcwd", "getcwd") and not arguments:
            return os.path.dirname(self._scopes[0]["__file__"])
        return self._unread(node)

    # Extensions ------------------------------------------------------------------------------------------------------

    def _record(self, maker: Maker, arguments: List[Any], named: Dict[str, Any], node: ast.Call) -> None:
        named = {**dict(zip(("name", "sources"), arguments)), **named}
        name = named.get("name")
        key = (node.lineno, str(name))
        if key in self._seen:
            return
        self._seen.add(key)
        unread: List[Dict[str, Any]] = []
        result: Dict[str, Any] = {"class": maker.name, "line": node.lineno, "unread": unread}
        result["name"] = name if isinstance(name, str) else None
        for field in LIST_FIELDS:
            result[field] = self._texts(field, named.pop(field, []), unread)
        result["macros"] = self._macros(named.pop("define_macros", []), unread)
        compile_args = named.pop("extra_compile_args", [])
        by_language = compile_args if isinstance(compile_args, dict) else {"cxx": compile_args, "nvcc": compile_args}
        for language in ("cxx", "nvcc"):
            result[language] = self._texts("extra_compile_args", by_language.get(language, []), unread)
        for field in sorted(set(named) - {"name", "language", "py_limited_api", "optional"}):
            unread.append({"field": field, "line": node.lineno, "text": field})
        self.extensions.append(result)

    def _texts(self, field: str, value: Any, unread: List[Dict[str, Any]]) -> List[str]:
        texts = []
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, (str, pathlib.PurePath)):
                texts.append(str(item))
            elif isinstance(item, list):
                texts += self._texts(field, item, unread)
            elif isinstance(item, Unread):
                unread.append({"field": field, "line": item.line, "text": item.text})
        return texts

    def _macros(self, value: Any, unread: List[Dict[str, Any]]) -> List[str]:
        macros = []
        for item in value if isinstance(value, list) else [value]:
            pair = item if isinstance(item, list) and len(item) == 2 else [None, None]
            if isinstance(pair[0], str) and isinstance(pair[1], (str, int, type(None))):
                macros.append(pair[0] if pair[1] is None else f"{pair[0]}={pair[1]}")
            else:
                at = next((part for part in [item, *pair] if isinstance(part, Unread)), Unread(0, "define_macros"))
                unread.append({"field": "define_macros", "line": at.line, "text": at.text})
        return macros


def _index(node: ast.Subscript) -> ast.AST:
    # Python 3.8 has an ast.Index between.
    return getattr(node.slice, "value", node.slice) if type(node.slice).__name__ == "Index" else node.slice


def _dotted(node: ast.AST) -> str:
    parts: List[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join(reversed(parts + ([node.id] if isinstance(node, ast.Name) else ["?"])))


def describe(path: str) -> Dict[str, Any]:
    """The extensions of the setup.py at `path`, which is absolute, and what had to be assumed."""
    with open(path, "rb") as file:
        content = file.read()
    reader: Optional[Reader] = None
    problem = None
    try:
        reader = Reader(path, content.decode("utf-8"))
        reader.read()
    except (SyntaxError, ValueError) as fault:
        line = getattr(fault, "lineno", None)
        problem = f"line {line}: {fault.msg}" if isinstance(fault, SyntaxError) and line else str(fault)
    except (TooMuch, RecursionError, MemoryError):
        problem = "it computes more than can be followed"
    except _Return:
        problem = "it returns outside of a function"
    return {
        "extensions": reader.extensions if reader else [],
        "assumed": [{"line": line, "text": text} for line, text in sorted(reader.assumed.items())] if reader else [],
        "problem": problem,
    }


if __name__ == "__main__":
    json.dump(describe(os.path.abspath(sys.argv[1])), sys.stdout)
