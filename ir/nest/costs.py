"""Estimate how long the bodies of nests take, in picoseconds: for the split between threads, and for Ctrl-C."""

from __future__ import annotations

from collections.abc import Sequence

from .. import dims
from ..dims import LOOP, Size
from ..graph import Graph, Node
from ..opdef import Trait
from ..types import integer
from . import ops
from .scopes import LoopVariable, variables

STEP = 1000  # of a step of a loop
OP, COSTLY = 300, 4000  # of an op on one number
LANES = 4  # that a vector loop is faster by, at least


def unit_cost(loop: Node) -> Size:
    """The time of one step of a loop, as the nest says or as its ops suggest."""
    assert loop.body is not None
    return integer(loop.attrs, "cost") if "cost" in loop.attrs else body_cost(loop.body)


def middle_cost(loops: Sequence[Node]) -> Size:
    """The time of the step in the middle of loops around one another: triangular ones have shorter and longer steps."""
    cost = unit_cost(loops[-1])
    for loop in reversed(loops):
        cost = _in_the_middle(cost, *variables(loop))
    return cost


def _in_the_middle(cost: Size, variable: LoopVariable) -> Size:
    middle = dims.floordiv(variable.first + variable.end - 1, 2)
    return dims.substitute(cost, {LOOP + variable.name: middle})


def body_cost(body: Graph) -> Size:
    """The time of a body. Ranges that depend on a loop inside count as they are in the middle of that loop."""
    total: Size = STEP
    for node in body:
        if node.body is None:
            total = total + (COSTLY if Trait.EXPENSIVE in node.op.traits else OP)
            continue
        cost = body_cost(node.body)
        for variable in reversed(variables(node)):
            cost = _in_the_middle(cost, variable)
            cost = cost * dims.maximum(variable.end - variable.first, 0)
        total = total + (dims.floordiv(cost, LANES) if node.attrs.get("kind") == "vector" else cost)
    return total


def depth(body: Graph) -> int:
    """How many loops of unknown length are nested in a body."""
    found = 0
    for node in body:
        if node.body is not None:
            is_long = node.op is ops.WHILE or any(not isinstance(v.end - v.first, int) for v in variables(node))
            found = max(found, depth(node.body) + (is_long and node.op in ops.LOOPS))
    return found
