"""Evaluate a value that depends only on sizes and literals to its number in the current call."""

from __future__ import annotations

import numpy as np

from ..ir.facts import Facts
from ..ir.graph import Node, Value
from ..ir.ops import CONSTANT, SIZE
from ..ir.types import sizes
from .maker import Number


def number_behind(facts: Facts, value: Value) -> Number | None:
    """Return the number and specialise the graph on the sizes behind it; None if it depends on the arguments."""
    nodes = _fixed_nodes(value)
    if nodes is None:
        return None
    numbers: dict[Value, Number] = {}
    for node in nodes:
        found = _computed(facts, node, [numbers[operand] for operand in node.operands])
        if found is None:
            return None
        numbers[node.result] = found
    return numbers[value]


def _fixed_nodes(value: Value) -> list[Node] | None:
    """List the nodes behind a value in order, if they are only literals, sizes and arithmetic on them."""
    found: dict[Node, None] = {}
    stack: list[tuple[Value, bool]] = [(value, False)]
    while stack:
        current, expanded = stack.pop()
        node = current.node
        if node is None or current.type.rank:
            return None
        if expanded or node in found:
            found[node] = None
            continue
        if node.op not in (CONSTANT, SIZE) and not isinstance(node.op.numpy, np.ufunc):
            return None
        stack.append((current, True))
        stack.extend((operand, False) for operand in node.operands)
    return list(found)


def _computed(facts: Facts, node: Node, operands: list[Number]) -> Number | None:
    if node.op is CONSTANT:
        found = node.attrs["value"]
        assert isinstance(found, (bool, int, float, complex))
        return found
    if node.op is SIZE:
        return facts.specialize(sizes(node.attrs, "size")[0])
    assert node.op.numpy is not None
    with np.errstate(all="ignore"):
        return node.op.numpy(*operands).item()  # type: ignore[no-any-return]


def inputs_behind(value: Value) -> list[Value]:
    """Find the inputs whose elements a value depends on; sizes do not count."""
    found: dict[Value, None] = {}
    seen: set[Node] = set()
    queue = [value]
    while queue:
        current = queue.pop()
        if current.node is None:
            found[current] = None
        elif current.node not in seen:
            seen.add(current.node)
            queue.extend(current.node.operands)
    return list(found)
