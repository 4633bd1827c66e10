"""A value in, the number that it is in the call at hand out, where it depends on sizes and literals alone."""

from __future__ import annotations

import numpy as np

from ..ir.facts import Facts
from ..ir.graph import Value
from ..ir.ops import CONSTANT, SIZE
from ..ir.types import sizes
from .maker import Number


def number_behind(facts: Facts, value: Value) -> Number | None:
    """The number, with the graph specialised on the sizes that it comes from; None for what the arguments decide."""
    return _computed(facts, value) if _is_fixed(value) else None


def _is_fixed(value: Value) -> bool:
    node = value.node
    if node is None or value.type.rank:
        return False
    if node.op in (CONSTANT, SIZE):
        return True
    return isinstance(node.op.numpy, np.ufunc) and all(map(_is_fixed, node.operands))


def _computed(facts: Facts, value: Value) -> Number | None:
    node = value.node
    assert node is not None
    if node.op is CONSTANT:
        found = node.attrs["value"]
        assert isinstance(found, (bool, int, float, complex))
        return found
    if node.op is SIZE:
        return facts.specialize(sizes(node.attrs, "size")[0])
    numbers = [_computed(facts, operand) for operand in node.operands]
    if any(n is None for n in numbers):
        return None
    assert node.op.numpy is not None
    with np.errstate(all="ignore"):
        return node.op.numpy(*numbers).item()  # type: ignore[no-any-return]
