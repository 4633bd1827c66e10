"""Find the ranges that a graph's Python-number arguments must lie in.

NEP 50: a Python integer combined with an array of a narrower integer dtype must fit that dtype. `where`, `astype` and
comparisons accept any integer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..ir.dtypes import WEAK_INT, DType
from ..ir.errors import OverflowProblem, Span
from ..ir.graph import Graph, Value
from ..ir.ops import CAST, TABLE, WHERE, Trait
from ..ir.records import record

_COMPARISONS = frozenset(TABLE[name] for name in ("eq", "ne", "lt", "le", "gt", "ge"))


@record
class Bound:
    """The argument at `index` must fit `dtype`."""

    index: int
    name: str
    dtype: DType
    span: Span | None

    @property
    def range(self) -> tuple[int, int]:
        signed = self.dtype.kind == "int"
        highest = (1 << (self.dtype.bits - signed)) - 1
        return -highest - 1 if signed else 0, highest

    def check(self, number: int) -> None:
        lowest, highest = self.range
        if not lowest <= number <= highest:
            raise OverflowProblem(
                f"argument '{self.name}': Python integer {number} out of bounds for {self.dtype}",
                self.span,
                "pass a smaller number, or an array of a wider dtype",
            )


def bounds_of(graph: Graph) -> tuple[Bound, ...]:
    """Find the bounds of all arguments that are Python integers."""
    weak = {v: k for k, v in enumerate(graph.inputs) if v.type.dtype == WEAK_INT}
    found: dict[tuple[int, DType], Bound] = {}
    _find(graph, weak, found)
    return tuple(found.values())


def _find(graph: Graph, weak: Mapping[Value, int], found: dict[tuple[int, DType], Bound]) -> None:
    """Collect the bounds from a graph and from the bodies inside it."""
    for node in graph:
        if node.body is not None:
            given = zip(node.body.inputs, node.operands[len(node.operands) - len(node.body.inputs) :], strict=True)
            _find(node.body, {inner: weak[v] for inner, v in given if v in weak}, found)
            continue
        mixed = any(v in weak for v in node.operands) and not all(v.type.dtype.weak for v in node.operands)
        if not mixed or node.op in (WHERE, CAST) or Trait.ELEMENTWISE not in node.op.traits:
            continue
        compute, _ = node.op.dtypes(tuple(v.type.dtype for v in node.operands), node.attrs)
        for value, dtype in zip(node.operands, compute, strict=True):
            if value in weak and dtype.is_integer and node.op not in _COMPARISONS:
                index = weak[value]
                found.setdefault((index, dtype), Bound(index, value.name or "", dtype, node.span))


def check_bounds(bounds: Sequence[Bound], given: Sequence[Any]) -> None:
    """Refuse numbers that are out of bounds. `given` holds the original arguments, because an array may round."""
    for bound in bounds:
        bound.check(int(given[bound.index]))


def converted(graph: Graph, inputs: Sequence[np.ndarray[Any, Any]], given: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
    """Convert numbers to the dtypes that the kernel declares."""
    result = []
    for index, (x, value) in enumerate(zip(inputs, graph.inputs, strict=True)):
        dtype = value.type.dtype
        if x.dtype != dtype.numpy:
            if dtype.is_integer and x.dtype.isnative:
                Bound(index, value.name or "", dtype, None).check(int(given[index]))
            x = x.astype(dtype.numpy)
        result.append(x)
    return result
