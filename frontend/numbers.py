"""Evaluate a value that depends on sizes and literals alone to its number in the call at hand."""

from __future__ import annotations

import numpy as np

from ..ir.facts import Facts
from ..ir.graph import Node, Value
from ..ir.ops import CONSTANT, SIZE
from ..ir.types import sizes
from .maker import Number


def number_behind(facts: Facts, value: Value) -> Number | None:
    """The number, with the graph specialised on the sizes that it comes from; None for what the arguments decide."""
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
    """The nodes behind a value in order, if all of them are literals, sizes and arithmetic on such."""
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
    """The inputs of the graph that decide a value, but for their sizes."""
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
