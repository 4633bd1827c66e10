"""Tell which expressions make a new object each time, and how much work they are."""

from __future__ import annotations

import ast

from . import purity
from .allowed import PythonScope

OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.Compare)


def is_fresh(node: ast.AST, scope: PythonScope) -> bool:
    """Whether the value shares no memory with a variable: the result of an operation, not an array itself or a view."""
    if isinstance(node, OPERATIONS):
        return not isinstance(node, ast.Compare) or len(node.ops) == 1
    if not isinstance(node, ast.Call):
        return False
    function = scope.meaning(node.func)
    if purity.is_fresh(function):
        return True
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in purity.FRESH_METHODS:
        return False
    return not (node.func.attr in ("astype", "conj", "conjugate") and (node.keywords or node.func.attr != "astype"))


def work(node: ast.AST) -> int:
    """Count the operations of an expression that may be over arrays."""
    if isinstance(node, (ast.Slice, ast.Constant, ast.Name)):
        return 0
    own = 1 if isinstance(node, (*OPERATIONS, ast.Call)) else 0
    if isinstance(node, ast.Subscript):
        return work(node.value)
    return own + sum(map(work, ast.iter_child_nodes(node)))
