"""Of a program, the part that one call's arguments are made from.

Of each block around the call, the statements ahead of it are kept that bind or change a name that is needed, and of a
loop or an `if` among them those within it that do, too. A loop around the call stays a loop; the branch of an `if` or a
`try` that the call is in is taken. A function is taken out of its `def` when what it needs of its parameters has
defaults; else it is kept, and called as the program calls it.
"""

from __future__ import annotations

import ast
import copy
from typing import Iterator, List, NamedTuple, Set, Tuple, Union

_CHANGING_METHODS = {
    *("append", "extend", "insert", "remove", "pop", "update", "setdefault", "add", "sort", "reverse", "clear"),
    *("add_argument", "set_defaults"),  # of argparse
}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_COMPOUND = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)
# What the rest of a loop or a branch depends on.
_LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Raise)
_Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]


class Call(NamedTuple):
    """One call of a loader."""

    function: str  #: "load", "load_inline" or "load_op"
    node: ast.Call
    path: Tuple[ast.AST, ...]  #: from the module through the statements down to the call's
    is_torchs: bool  #: torch's function, with the order of its parameters

    @property
    def stand_in(self) -> str:
        """What is called in its place."""
        return "__dcuop_collect__"

    def is_at(self, other: "Call") -> bool:
        return (self.node.lineno, self.node.col_offset) == (other.node.lineno, other.node.col_offset)


def programs_for(call: Call, tree: ast.Module) -> List[ast.Module]:
    """Programs that call `call.stand_in` with the call's arguments: one, or one for each place that calls the function
    around it. Raises RecursionError when such functions go in circles."""
    stand_in = ast.copy_location(
        ast.Call(func=ast.Name(id=call.stand_in, ctx=ast.Load()), args=call.node.args, keywords=call.node.keywords),
        call.node,
    )
    return [
        ast.fix_missing_locations(ast.Module(body=body, type_ignores=[]))
        for body in _bodies(_Site(call.node, call.path), stand_in, [], tree, 0)
    ]


class WithoutChangesOfModules(ast.NodeTransformer):
    """Takes os.environ["X"] = x, sys.path.append(x) and their like out of a program: what they are made from may be
    what only a run can tell, and few arguments depend on them."""

    def __init__(self, tree: ast.Module) -> None:
        imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
        self._modules = set().union(*map(_names_bound, imports))

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        return self._without(node) if all(map(self._is_of_module, node.targets)) else node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        return self._without(node) if self._is_of_module(node.target) else node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        bound = _names_bound(node)
        return ast.copy_location(ast.Pass(), node) if bound and bound <= self._modules else node

    def _is_of_module(self, target: ast.AST) -> bool:
        while isinstance(target, (ast.Attribute, ast.Subscript)):
            target = target.value
            if isinstance(target, ast.Name):
                return target.id in self._modules
        return False

    @staticmethod
    def _without(node: "Union[ast.Assign, ast.AugAssign]") -> ast.stmt:
        # The value stays: it may be the call.
        return ast.copy_location(ast.Expr(value=node.value), node)


class _Site(NamedTuple):
    node: ast.Call
    path: Tuple[ast.AST, ...]


_MOST_FUNCTIONS = 8  # around one another


def _bodies(
    site: _Site, stand_in: ast.expr, ahead: List[ast.stmt], tree: ast.Module, depth: int
) -> Iterator[List[ast.stmt]]:
    if depth > _MOST_FUNCTIONS:
        raise RecursionError("the functions around it call one another")
    body: List[ast.stmt] = [*ahead, ast.Expr(value=_in_comprehension(site, stand_in))]
    ast.copy_location(body[-1], site.node)
    wanted = set().union(*map(_names_read, body)) - _names_bound(body[-1])
    for parent, statement in reversed(list(zip(site.path, site.path[1:]))):
        block = next((block for block in _blocks(parent) if statement in block), [])
        before = block[: block.index(statement)] if isinstance(statement, ast.stmt) and block else []
        body = _needed_of(before, wanted, body) + body
        if isinstance(parent, (ast.For, ast.AsyncFor)):
            wanted -= _names_bound(parent.target)
            wanted |= _names_read(parent.iter)
            body = [ast.copy_location(ast.For(target=parent.target, iter=parent.iter, body=body, orelse=[]), parent)]
        elif isinstance(parent, (ast.If, ast.While)) and _walrus_names(parent.test) & wanted:
            wanted |= _names_read(parent.test)
            body = [ast.copy_location(ast.Expr(value=parent.test), parent), *body]
        elif isinstance(parent, ast.With) and _names_bound_by_items(parent) & wanted:
            wanted |= set().union(*(_names_read(item.context_expr) for item in parent.items))
            body = [ast.copy_location(ast.With(items=parent.items, body=body), parent)]
        elif isinstance(parent, _FUNCTIONS):
            without_default = _parameters(parent) - set(_defaults(parent))
            if without_default & wanted:
                yield from _bodies_of_callers(parent, body, tree, depth)
                return
            body = _assigned_defaults(parent, wanted) + body
    yield body


def _bodies_of_callers(
    function: _Function, body: List[ast.stmt], tree: ast.Module, depth: int
) -> Iterator[List[ast.stmt]]:
    kept = copy.copy(function)
    kept.body = body
    kept.decorator_list = []
    kept.returns = None
    for site in _sites_of(function.name, tree, (tree,)):
        if function not in site.path:
            yield from _bodies(site, site.node, [kept], tree, depth + 1)


def _sites_of(name: str, node: ast.AST, path: Tuple[ast.AST, ...]) -> Iterator[_Site]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id == name:
            yield _Site(child, path)
        yield from _sites_of(name, child, (*path, child) if isinstance(child, ast.stmt) else path)


def _in_comprehension(site: _Site, stand_in: ast.expr) -> ast.expr:
    """With the loops of the comprehensions around the call, which bind names too."""
    result = stand_in
    for around in _comprehensions_around(site.path[-1], site.node):
        result = ast.copy_location(ast.ListComp(elt=result, generators=around.generators), around)
    return result


def _comprehensions_around(statement: ast.AST, call: ast.Call) -> List[ast.ListComp]:
    """The innermost first."""
    found = [
        node
        for node in ast.walk(statement)
        if isinstance(node, _COMPREHENSIONS) and any(child is call for child in ast.walk(node))
    ]
    return found[::-1]  # type: ignore[return-value]


def _needed_of(earlier: List[ast.stmt], wanted: Set[str], body: List[ast.stmt]) -> List[ast.stmt]:
    """In their order; what they need themselves is added to `wanted`."""
    replaced = {statement.name for statement in body if isinstance(statement, _FUNCTIONS)}
    kept: List[ast.stmt] = []
    for statement in reversed(earlier):
        if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
            is_needed = statement.name in wanted - replaced
        else:
            is_needed = bool(_names_bound(statement) & wanted)
        if is_needed:
            kept.append(_pruned(statement, wanted))
    return kept[::-1]


def _pruned(statement: ast.stmt, wanted: Set[str]) -> ast.stmt:
    """Without what in its blocks is not needed either; what the rest reads is added to `wanted`."""
    while True:
        pruned = _with_needed_alone(statement, wanted)
        missing = _names_read(pruned) - wanted
        if not missing:
            return pruned
        wanted |= missing  # something in it may bind them, for the next turn of a loop


def _with_needed_alone(statement: ast.stmt, wanted: Set[str]) -> ast.stmt:
    if not isinstance(statement, _COMPOUND):
        return statement
    result = copy.copy(statement)
    for field in ("body", "orelse", "finalbody"):
        block = getattr(statement, field, [])
        # Which way a `try` goes, any statement in it may decide.
        if block and not (field == "body" and isinstance(statement, ast.Try)):
            setattr(result, field, _block_of_needed(block, wanted))
    if isinstance(result, ast.Try):
        result.handlers = [copy.copy(handler) for handler in result.handlers]
        for handler in result.handlers:
            handler.body = _block_of_needed(handler.body, wanted)
    return result


def _block_of_needed(block: List[ast.stmt], wanted: Set[str]) -> List[ast.stmt]:
    kept = [
        _with_needed_alone(statement, wanted)
        for statement in block
        if isinstance(statement, (ast.Import, ast.ImportFrom))
        or _names_bound(statement) & wanted
        or any(isinstance(node, _LEAVES) for node in _walk_own(statement))
    ]
    return kept or [ast.copy_location(ast.Pass(), block[0])]


def _walk_own(node: ast.AST) -> Iterator[ast.AST]:
    """The node and what is below it, without the bodies of functions and classes."""
    yield node
    if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        for child in ast.iter_child_nodes(node):
            yield from _walk_own(child)


def _walrus_names(node: ast.AST) -> Set[str]:
    return {child.target.id for child in ast.walk(node) if isinstance(child, ast.NamedExpr)}


def _blocks(statement: ast.AST) -> List[List[ast.stmt]]:
    blocks = [getattr(statement, field, []) for field in ("body", "orelse", "finalbody")]
    blocks += [handler.body for handler in getattr(statement, "handlers", [])]
    blocks += [case.body for case in getattr(statement, "cases", [])]
    return blocks


def _names_read(node: ast.AST) -> Set[str]:
    return {child.id for child in ast.walk(node) if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load)}


def _names_bound(node: ast.AST) -> Set[str]:
    """Names that running the statement binds or changes: x = 1, x += 1, x.append(1), x[0] = 1, import x."""
    bound: Set[str] = set()
    for child in ast.walk(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, (ast.Store, ast.Del)):
            bound.add(child.id)
        elif isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
            bound.add(child.name)
        elif isinstance(child, (ast.Import, ast.ImportFrom)):
            bound.update(alias.asname or alias.name.partition(".")[0] for alias in child.names)
        elif isinstance(child, (ast.Attribute, ast.Subscript)) and isinstance(child.ctx, ast.Store):
            bound |= _names_read(child.value)
        elif isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute):
            if child.func.attr in _CHANGING_METHODS:
                bound |= _names_read(child.func.value)
    return bound


def _names_bound_by_items(statement: ast.With) -> Set[str]:
    return set().union(*(_names_bound(item.optional_vars) for item in statement.items if item.optional_vars))


def _parameters(function: _Function) -> Set[str]:
    arguments = function.args
    names = {parameter.arg for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    return names | {extra.arg for extra in (arguments.vararg, arguments.kwarg) if extra is not None}


def _defaults(function: _Function) -> "dict[str, ast.expr]":
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    found = {}
    if arguments.defaults:
        found = dict(zip((parameter.arg for parameter in positional[-len(arguments.defaults) :]), arguments.defaults))
    found.update({key.arg: value for key, value in zip(arguments.kwonlyargs, arguments.kw_defaults) if value})
    return found


def _assigned_defaults(function: _Function, wanted: Set[str]) -> List[ast.stmt]:
    statements: List[ast.stmt] = []
    for name, value in _defaults(function).items():
        if name in wanted:
            wanted |= _names_read(value)
            assignment = ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=value)
            statements.append(ast.copy_location(assignment, value))
    return statements
