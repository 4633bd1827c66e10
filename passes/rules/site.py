"""Define what a rule of `canonicalize` sees: the operation about to be made, and a function to make another one.

A rule maps a `Site` to the value that replaces the operation's result, or to None if it does not apply.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Protocol

from ...ir.dtypes import DType
from ...ir.errors import Span
from ...ir.graph import Value
from ...ir.ops import BROADCAST, CONSTANT, OpDef
from ...ir.records import record
from ...ir.types import Attr, Sizes, TensorType
from .literals import Number


class Make(Protocol):
    """Makes an operation in the new graph; rules apply to it in turn."""

    def __call__(
        self, op: OpDef, operands: tuple[Value, ...], attrs: Mapping[str, Attr], span: Span | None
    ) -> Value: ...


@record
class Site:
    """An operation with one result: its op, operands in the new graph, attributes, type and span."""

    op: OpDef
    operands: tuple[Value, ...]
    attrs: Mapping[str, Attr]
    type: TensorType
    span: Span | None
    make_node: Make

    @property
    def dtype(self) -> DType:
        """The dtype of the first operand; after promotion also that in which the op computes."""
        return self.operands[0].type.dtype

    def make(self, op: OpDef, *operands: Value, **attrs: Attr) -> Value:
        return self.make_node(op, operands, attrs, self.span)

    def number(self, value: Number) -> Value:
        """Make a constant of the dtype in which this op computes."""
        return self.make(CONSTANT, value=value, dtype=self.dtype)

    def filled(self, value: Number) -> Value:
        """Make an array of the result's shape that is filled with this number."""
        return self.shaped(self.make(CONSTANT, value=value, dtype=self.type.dtype))

    def shaped(self, value: Value) -> Value:
        """The value, broadcast to the result's shape."""
        if value.type.shape == self.type.shape:
            return value
        return self.make(BROADCAST, value, shape=Sizes(self.type.shape))


Rule = Callable[[Site], Value | None]


def constant_of(value: Value) -> Number | None:
    """The number of a strong constant."""
    node = value.node
    if node is None or node.op is not CONSTANT or value.type.dtype.weak:
        return None
    found = node.attrs["value"]
    assert isinstance(found, (bool, int, float, complex))
    return found


def made_by(value: Value, op: OpDef) -> bool:
    return value.node is not None and value.node.op is op


def is_exactly(value: Value, number: float) -> bool:
    """Whether a value is the constant `number`, the sign of a zero included."""
    found = constant_of(value)
    if found is None or isinstance(found, complex) or found != number:
        return False
    return number != 0 or math.copysign(1, found) == math.copysign(1, number)
