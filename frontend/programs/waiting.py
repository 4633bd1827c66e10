"""Say which array expressions wait for their only use, so that one loop computes both statements.

    t = a[1:] - a[:-1]
    b[1:] += 0.5 * t        # t is never stored

An expression waits if it is a function of elements, its variable is used once, as an operand, by a later simple
statement of the same block, and nothing in between calls a function of the user. A store to what it reads makes it be
computed before.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from ...ir.graph import Value
from ...ir.opdef import Trait
from ...ir.ops import SLICE, TRANSPOSE
from ..numpy.elementwise import ELEMENTWISE
from .names import Names

SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return)
BRANCHING = (ast.IfExp, ast.BoolOp)
OPERANDS = (ast.BinOp, ast.UnaryOp, ast.Compare)
MOST_NODES = 60


def is_simple(statement: ast.stmt) -> bool:
    """Whether a statement runs straight on: no branch, no loop, no call of a function that may be the user's."""
    if not isinstance(statement, SIMPLE):
        return False
    for node in ast.walk(statement):
        if isinstance(node, (*BRANCHING, ast.Lambda)) or (isinstance(node, ast.Compare) and len(node.ops) > 1):
            return False
        if isinstance(node, ast.Call) and not isinstance(node.func, ast.Attribute):
            return False
    return True


def waits_for(name: str, following: Sequence[ast.stmt], live: Mapping[int, Names], after: Names) -> bool:
    """Whether a variable is used once, as an operand, in a statement that follows."""
    for statement in following:
        if not is_simple(statement):
            return False
        uses = [node for node in ast.walk(statement) if isinstance(node, ast.Name) and node.id == name]
        if not uses:
            continue
        if len(uses) > 1 or not isinstance(uses[0].ctx, ast.Load):
            return False
        return name not in live.get(id(statement), frozenset()) | after and _is_operand(statement, uses[0])
    return False


def _is_operand(statement: ast.stmt, use: ast.Name) -> bool:
    value = getattr(statement, "value", None)
    if value is use and isinstance(statement, ast.Assign):
        return all(isinstance(target, ast.Subscript) for target in statement.targets) and len(statement.targets) == 1
    if value is use:
        return isinstance(statement, ast.AugAssign)
    for node in ast.walk(value) if value is not None else ():
        if any(child is use for child in ast.iter_child_nodes(node)):
            return isinstance(node, OPERANDS) or (isinstance(node, ast.Call) and _is_elementwise(node))
    return False


def _is_elementwise(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in ELEMENTWISE


def is_function_of_elements(value: Value) -> bool:
    """Whether an expression has only functions of elements, and views of memory below them."""
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
