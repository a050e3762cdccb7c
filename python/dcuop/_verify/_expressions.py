"""Arithmetic of the contract ("2 * n * size"), evaluated without Python's eval."""

from __future__ import annotations

import ast
import math
import operator
from typing import Any, Callable, Dict, Mapping, Type

_OPERATORS: Dict[Type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
_MOST_CHARACTERS = 1000


def evaluate(text: str, names: Mapping[str, float]) -> float:
    """The value of `text`: numbers, `names`, + - * / // **. ValueError for anything else, and for a value that is no
    finite number."""
    if len(text) > _MOST_CHARACTERS:
        raise ValueError(f"{text[:20]}...: too long")
    try:
        value = _value(ast.parse(text.strip(), mode="eval").body, names)
    except (SyntaxError, ArithmeticError, TypeError, RecursionError, MemoryError) as error:
        raise ValueError(f"{text}: {error}") from error
    if not math.isfinite(value):
        raise ValueError(f"{text} gives {value}, which is no finite number")
    return value


def _value(node: ast.AST, names: Mapping[str, float]) -> float:
    # All in float64: a power of large numbers overflows at once, where integers would fill the memory.
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return float(node.value)
    if isinstance(node, ast.Name):
        if node.id not in names:
            raise ValueError(f"there is no {node.id}; there are {', '.join(sorted(names))}")
        return float(names[node.id])
    if isinstance(node, (ast.BinOp, ast.UnaryOp)) and type(node.op) in _OPERATORS:
        operands = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.operand]
        return _real(_OPERATORS[type(node.op)](*(_value(operand, names) for operand in operands)))
    raise ValueError(f"{type(node).__name__} is no arithmetic")


def _real(value: Any) -> float:
    if isinstance(value, complex):
        raise ValueError("not a real number")
    return float(value)
