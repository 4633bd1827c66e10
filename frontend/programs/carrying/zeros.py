"""Begin a sum of arrays with an array of zeros, where the program begins it with the number 0.

    y = 0                              y = np.zeros(shape of the terms)
    for k in range(1, n):              for k in range(1, n):
        y = y + np.sin(x * k)              y = y + np.sin(x * k)

The first step need not be peeled then, whose operations would be compiled once more. The bits are the same: 0 takes on
the dtype of what it is added to.
"""

from __future__ import annotations

import ast

from ..arrays.allocation import fill
from ..context import Lowering
from ..values import Number, View, constant


def begin_with_zeros(p: Lowering, node: ast.For, name: str, last: View) -> bool:
    """Replace a variable that is 0 before a loop by an array like `last`, its last value, if steps only add to it."""
    first = p.env.get(name)
    if not isinstance(first, Number) or type(first.known) is not int or first.known or not last.rank:
        return False
    if not _is_only_added_to(node, name) or not p.e.is_visible(*last.shape):
        return False
    array = p.e.allocate(last.dtype, last.shape, node, p.e.order_like(last))
    fill(p, array, constant(0.0) if last.dtype.kind == "float" else constant(0))
    p.env[name] = array
    return True


def _is_only_added_to(node: ast.For, name: str) -> bool:
    """Whether the only use of a variable is one `y = y + ...` or `y += ...` in every step."""
    uses = [part for part in ast.walk(node) if isinstance(part, ast.Name) and part.id == name]
    return any(_own_uses(statement, name) == len(uses) for statement in node.body)


def _own_uses(statement: ast.stmt, name: str) -> int:
    """How many uses of a variable `y = y + ...` has by itself."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        return int(_is_name(statement.target, name))
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or not _is_name(statement.targets[0], name):
        return 0
    value = statement.value
    return 2 if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) and _is_name(value.left, name) else 0


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
