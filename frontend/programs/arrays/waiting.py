"""Decide which array expressions are computed only where they are used, so that one loop computes several statements.

    t = a[1:] - a[:-1]
    s = abs(t)
    b[1:] += s * t          # neither s nor t is ever stored

An expression waits if it is a function of elements, its variable is only used as an operand, whole or in slices, by
later simple statements of the same block, and nothing in between calls a function of the user. If it is used more than
once, everything computed from it must end in one statement, because other statements would compute it again. Before a
store to memory that it reads, it is computed.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from ....ir.graph import Value
from ....ir.opdef import Trait
from ....ir.ops import SLICE, TRANSPOSE
from ...numpy.elementwise import ELEMENTWISE
from ..reading.names import Names

SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return)
BRANCHING = (ast.IfExp, ast.BoolOp)
OPERANDS = (ast.BinOp, ast.UnaryOp, ast.Compare)
MOST_NODES = 60


def is_simple(statement: ast.stmt) -> bool:
    """Whether a statement has no branch, no loop, and no call of a function that may be the user's."""
    if not isinstance(statement, SIMPLE):
        return False
    for node in ast.walk(statement):
        if isinstance(node, (*BRANCHING, ast.Lambda)) or (isinstance(node, ast.Compare) and len(node.ops) > 1):
            return False
        if isinstance(node, ast.Call) and not isinstance(node.func, ast.Attribute):
            return False
    return True


def count_uses(name: str, following: Sequence[ast.stmt], live: Mapping[int, Names], after: Names) -> int:
    """Count the uses of an expression if its variable may wait for all of them; otherwise return 0."""
    count, ends = 0, set()
    for k, statement in enumerate(following):
        if not is_simple(statement):
            return 0
        uses = [node for node in ast.walk(statement) if isinstance(node, ast.Name) and node.id == name]
        if not uses:
            continue
        if not all(isinstance(use.ctx, ast.Load) and _is_operand(statement, use) for use in uses):
            return 0
        count += len(uses)
        ends.add(_end(statement, following[k + 1 :], live, after))
        if name not in live.get(id(statement), frozenset()) | after:
            return count if count == 1 or len(ends) == 1 else 0
    return 0


def _end(statement: ast.stmt, following: Sequence[ast.stmt], live: Mapping[int, Names], after: Names) -> int:
    """Find the statement, by identity, that computes an expression that waits for this one: itself, or the one that
    uses its variable.
    """
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return id(statement)
    (target,) = statement.targets
    if not isinstance(target, ast.Name) or not _has_operands_only(statement.value):
        return id(statement)
    for k, later in enumerate(following):
        if not count_uses(target.id, following, live, after):
            break
        if any(isinstance(node, ast.Name) and node.id == target.id for node in ast.walk(later)):
            return _end(later, following[k + 1 :], live, after)
    return id(statement)


def _is_operand(statement: ast.stmt, use: ast.Name) -> bool:
    value = getattr(statement, "value", None)
    above = {child: node for node in ast.walk(statement) for child in ast.iter_child_nodes(node)}
    node: ast.AST = use
    if isinstance(part := above[use], ast.Subscript) and _is_sliced(part):
        node = part
    if value is node and isinstance(statement, ast.Assign):
        return all(isinstance(target, ast.Subscript) for target in statement.targets) and len(statement.targets) == 1
    if value is node:
        return isinstance(statement, ast.AugAssign)
    if value is None or not any(child is node for child in ast.walk(value)):
        return False
    around = above[node]
    return isinstance(around, OPERANDS) or (isinstance(around, ast.Call) and _is_elementwise(around))


def _is_sliced(node: ast.Subscript) -> bool:
    """Whether an index has slices and nothing else."""
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return all(isinstance(item, ast.Slice) for item in items)


def _has_operands_only(value: ast.expr) -> bool:
    """Whether an expression has only operators, elementwise functions, slices, names and constants."""
    if isinstance(value, (ast.Name, ast.Constant)):
        return True
    if isinstance(value, ast.Subscript):
        return isinstance(value.value, ast.Name) and _is_sliced(value)
    if isinstance(value, ast.Call):
        return _is_elementwise(value) and not value.keywords and all(map(_has_operands_only, value.args))
    if isinstance(value, ast.BinOp):
        is_product = isinstance(value.op, ast.MatMult)
        return not is_product and _has_operands_only(value.left) and _has_operands_only(value.right)
    if isinstance(value, ast.Compare):
        return all(map(_has_operands_only, (value.left, *value.comparators)))
    return isinstance(value, ast.UnaryOp) and _has_operands_only(value.operand)


def _is_elementwise(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in ELEMENTWISE


def is_function_of_elements(value: Value) -> bool:
    """Whether an expression has only elementwise functions, and views of memory below them."""
    seen: set[Value] = set()
    todo = [value]
    while todo:
        found = todo.pop()
        if found in seen or found.node is None:
            continue
        seen.add(found)
        op = found.node.op
        if found.node.body is not None or len(seen) > MOST_NODES:
            return False
        if Trait.ELEMENTWISE not in op.traits and op not in (SLICE, TRANSPOSE):
            return False
        todo += found.node.operands
    return True


def inputs_of(value: Value) -> set[Value]:
    """The inputs that an expression reads."""
    found: set[Value] = set()
    seen: set[Value] = set()
    todo = [value]
    while todo:
        one = todo.pop()
        if one in seen:
            continue
        seen.add(one)
        if one.node is None:
            found.add(one)
        else:
            todo += one.node.operands
    return found
