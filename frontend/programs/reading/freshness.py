"""Tell which expressions make a new object each time, and how much work that is."""

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


def work(node: ast.AST, scope: PythonScope) -> int:
    """Count the operations of an expression that may be over arrays, except those that only NumPy can run."""
    if isinstance(node, (ast.Slice, ast.Constant, ast.Name)) or _is_size(node):
        return 0
    own = 1 if isinstance(node, (*OPERATIONS, ast.Call)) else 0
    if isinstance(node, ast.Subscript):
        return work(node.value, scope)
    if isinstance(node, ast.Call) and purity.is_run_by_numpy(scope.meaning(node.func)):
        own = 0
    return own + sum(work(part, scope) for part in ast.iter_child_nodes(node))


def _is_size(node: ast.AST) -> bool:
    """Whether an expression consists of sizes of variables and literals, so that it is certainly a number."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Call):
        is_len = isinstance(node.func, ast.Name) and node.func.id == "len"
        return is_len and len(node.args) == 1 and not node.keywords and isinstance(node.args[0], ast.Name)
    if isinstance(node, ast.Attribute):
        return node.attr in ("size", "ndim") and isinstance(node.value, ast.Name)
    if isinstance(node, ast.Subscript):
        is_shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        return is_shape and isinstance(node.slice, ast.Constant)
    if isinstance(node, (*OPERATIONS, ast.BoolOp)):
        return all(_is_size(n) for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr))
    return False
