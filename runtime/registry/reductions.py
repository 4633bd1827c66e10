"""Build a user's reduction for the axes of a node.

The function takes NumPy's arguments: `f(x, axis, keepdims)`, with a tuple of axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ...ir.facts import Facts
from ...ir.ops import REDUCTIONS, TABLE
from ...ir.records import record, replace
from ...ir.types import Attr, ints
from .bodies import SourceBody
from .calls import PythonKernel
from .implementation import GraphBody


@record
class Reduction:
    """A reduction over some axes."""

    op: str
    axis: tuple[int, ...]
    keepdims: bool

    @staticmethod
    def of(op: str, attrs: Mapping[str, Attr]) -> Reduction | None:
        """Return the reduction that a node does, or None."""
        return Reduction(op, ints(attrs, "axes"), bool(attrs.get("keepdims"))) if is_reduction(op) else None

    def traced(self, body: GraphBody) -> SourceBody:
        """Return the body for these axes."""
        assert isinstance(body, SourceBody)
        return body.given({"axis": self.axis, "keepdims": self.keepdims})

    def called(self, body: PythonKernel) -> PythonKernel:
        """Return the function for these axes."""
        function = partial(body.function, axis=self.axis, keepdims=self.keepdims)
        return replace(body, function=function, shape=self.shape)

    def shape(self, shapes: list[tuple[int, ...]]) -> tuple[Any, ...]:
        """Return the shape of the result."""
        (found,) = TABLE[self.op].shapes(Facts(), list(shapes), {"axes": self.axis, "keepdims": self.keepdims})
        return found


def is_reduction(op: str) -> bool:
    return TABLE.get(op) in REDUCTIONS
