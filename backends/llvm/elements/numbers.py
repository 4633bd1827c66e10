"""Emit one op of the main table on given values."""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.dtypes import DType
from ....ir.functions import function_name
from ....ir.graph import Node
from ....ir.ops import CAST, WHERE, WHOLE_POWER
from ..code.casts import cast
from ..code.text import Emitter, Val
from ..math import whole_power
from . import integers
from .joint import Joint, joint_of
from .ops import emit


def emit_number(e: Emitter, node: Node, dtypes: Sequence[DType], values: Sequence[Val]) -> Val:
    """Emits an op; `dtypes` are those of the operands."""
    joint = joint_of(node)
    if joint is not None:
        return emit_joint(e, node, joint, dtypes[0], values)[joint.place(node.attrs)]
    return emit_alone(e, node, dtypes, values)


def emit_joint(e: Emitter, node: Node, joint: Joint, dtype: DType, values: Sequence[Val]) -> Sequence[Val]:
    """Emits all values that are computed together."""

    def body(e: Emitter, *values: Val) -> Sequence[Val]:
        return joint.function(e, dtype, *values)

    name = function_name(node)
    return e.call_function(f"{name}.joint", values, body) if name in e.called else body(e, *values)


def emit_alone(e: Emitter, node: Node, dtypes: Sequence[DType], values: Sequence[Val]) -> Val:
    """Emit an op that shares its work with no other op."""
    have = dtypes[0]
    if node.op is CAST:
        return cast(e, values[0], have, node.result.type.dtype)
    if node.op is WHERE:
        return e.select(values[0], values[1], values[2])
    if node.op is WHOLE_POWER:
        exponent = node.attrs["exponent"]
        assert isinstance(exponent, int)
        multiply = whole_power.whole_power if have.kind == "float" else integers.whole_power
        return multiply(e, values[0], exponent)
    if function_name(node) in e.called:
        return e.call_function(node.op.name, values, lambda e, *values: [emit(e, node.op, dtypes, values)])[0]
    return emit(e, node.op, dtypes, values)
