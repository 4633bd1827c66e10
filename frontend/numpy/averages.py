"""Define NumPy's `average` with its weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir.dtypes import F64
from ...ir.errors import DivisionByZero, ShapeProblem, TypeProblem
from ...ir.graph import Value
from ...ir.ops import BROADCAST, DEMAND, TABLE
from ...ir.rules import promote, shown
from ...ir.types import Sizes
from ..maker import Maker, Operand
from ..sizes import equal
from .arrays import array_of, strong_array
from .axes import flag, ordered_axes
from .elementwise import Make
from .reduce import MUL, PLUS, reduced
from .reduction_arguments import has_elements
from .shapes import reshaped, transpose
from .statistics import DIV, averaged, counted

NOT_EQUAL = TABLE["ne"]


def average(m: Maker, a: Operand, axis: object = None, weights: object = None, returned: object = False, *,
            keepdims: object = False) -> Value | tuple[Value, ...]:  # fmt: skip
    x = array_of(m, a)
    axes = None if axis is None else ordered_axes(m, axis, x.type.rank)
    found, scale = _plain(m, x, axes, keepdims) if weights is None else _weighted(m, x, axes, weights, keepdims)
    if not flag(m, returned, "returned"):
        return found
    if scale.type.shape != found.type.shape:
        scale = m.builder.op(BROADCAST, scale, span=m.span, shape=Sizes(found.type.shape))
    return found, scale


def _plain(m: Maker, x: Value, axes: Sequence[int] | None, keepdims: object) -> tuple[Value, Value]:
    over = sorted(range(x.type.rank) if axes is None else axes)
    found = averaged(m, x, over, None, keepdims, True)
    if not has_elements(m, found, range(found.type.rank)):
        raise DivisionByZero("division by zero", m.span, "there is no row to take the average of")
    return found, m.op(TABLE["positive"], m.cast(counted(m, x, over, False, True), found.type.dtype))


def _weighted(m: Maker, x: Value, axes: Sequence[int] | None, weights: object, keepdims: object) -> tuple[Value, Value]:
    wanted, weight = x.type.dtype, _fitting(m, x, strong_array(m, weights), axes)
    dtype = promote((wanted, weight.type.dtype, *(() if wanted.kind in ("float", "complex") else (F64,))))
    over = None if axes is None else tuple(axes)
    scale = reduced(m, PLUS, weight, over, dtype, keepdims)
    scale = m.op(
        DEMAND, scale, m.op(NOT_EQUAL, scale, 0), error=DivisionByZero.__name__,
        message="Weights sum to zero, can't be normalized",
    )  # fmt: skip
    total = reduced(m, PLUS, m.op(MUL, m.cast(x, dtype), m.cast(weight, dtype)), over, None, keepdims)
    return m.op(DIV, total, scale), scale


def _fitting(m: Maker, x: Value, weight: Value, axes: Sequence[int] | None) -> Value:
    """Weights of all elements, or those along the named axes, so that they broadcast."""
    shape, facts = x.type.shape, m.builder.facts
    if len(weight.type.shape) == len(shape) and all(
        equal(facts, a, b) for a, b in zip(weight.type.shape, shape, strict=True)
    ):
        return weight
    if axes is None:
        hint = f"the array has shape {shown(shape)}, the weights {shown(weight.type.shape)}"
        raise TypeProblem("Axis must be specified when shapes of a and weights differ.", m.span, hint)
    along = tuple(shape[axis] for axis in axes)
    if len(along) != weight.type.rank or not all(
        equal(facts, a, b) for a, b in zip(weight.type.shape, along, strict=True)
    ):
        hint = f"the weights have shape {shown(weight.type.shape)} and should have {shown(along)}"
        raise ShapeProblem("Shape of weights must be consistent with shape of a along specified axis.", m.span, hint)
    turned = transpose(m, weight, tuple(sorted(range(len(axes)), key=lambda k: axes[k])))
    return reshaped(m, turned, [size if k in axes else 1 for k, size in enumerate(shape)])


AVERAGES: Mapping[str, Make] = {"average": average}
