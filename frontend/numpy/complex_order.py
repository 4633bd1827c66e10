"""Find extremes of complex numbers and their positions with ops on real numbers.

Complex numbers are ordered by their real parts, and then by their imaginary parts. A number with a NaN part is NaN. As
in NumPy, the first of several equal extremes, or of several NaN, is the result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...ir import dims
from ...ir.dims import Size
from ...ir.graph import Value
from ...ir.ops import COMPLEX, IMAG, IOTA, REAL, TABLE, WHERE, OpDef
from ...ir.types import Sizes
from ..maker import Maker
from .shapes import reshaped

ALL, MIN, MAX = (TABLE[name] for name in ("all", "min", "max"))
FMIN, FMAX = TABLE["reduce_fmin"], TABLE["reduce_fmax"]
EQUAL, IS_NAN, NOT, AND = (TABLE[name] for name in ("eq", "isnan", "logical_not", "logical_and"))
POSITIVE = TABLE["positive"]
NOWHERE = (1 << 63) - 1
ORDERED = frozenset((MIN, MAX, FMIN, FMAX))


def extreme(m: Maker, op: OpDef, x: Value, axes: Sequence[int], keepdims: bool) -> Value:
    """Compute `min`, `max`, `fmin` or `fmax` over axes."""
    found = places(m, op in (MIN, FMIN), op in (FMIN, FMAX), x, axes)
    count = _counted(m, x, axes)
    first = m.op(EQUAL, count, _over(m, MIN, m.op(WHERE, found, count, NOWHERE), axes))
    parts = [m.op(WHERE, first, m.op(part, x), -math.inf) for part in (REAL, IMAG)]
    whole = m.op(COMPLEX, *(_over(m, MAX, part, axes) for part in parts))
    if not keepdims:
        whole = reshaped(m, whole, [size for k, size in enumerate(x.type.shape) if k not in axes])
    return m.op(POSITIVE, whole)  # a scalar where the result has no dimensions


def places(m: Maker, least: bool, skips: bool, x: Value, axes: Sequence[int]) -> Value:
    """Mark the smallest or largest elements; with `skips`, mark NaN only if there is nothing else."""
    over, worst = (MIN, math.inf) if least else (MAX, -math.inf)
    re, im, nan = m.op(REAL, x), m.op(IMAG, x), m.op(IS_NAN, x)
    best = _over(m, over, m.op(WHERE, nan, worst if skips else math.nan, re), axes)
    tied = m.op(AND, m.op(EQUAL, re, best), m.op(NOT, nan))
    second = _over(m, over, m.op(WHERE, tied, im, worst), axes)
    is_nan = _over(m, ALL, nan, axes) if skips else m.op(IS_NAN, best)
    return m.op(WHERE, is_nan, nan, m.op(AND, tied, m.op(EQUAL, im, second)))


def _over(m: Maker, op: OpDef, x: Value, axes: Sequence[int]) -> Value:
    return m.builder.op(op, x, span=m.span, axes=tuple(axes), keepdims=True)


def _counted(m: Maker, x: Value, axes: Sequence[int]) -> Value:
    """Number the elements over the axes in C order."""
    shape: list[Size] = [size if k in axes else 1 for k, size in enumerate(x.type.shape)]
    count = m.builder.op(IOTA, span=m.span, shape=Sizes((dims.product(shape),)), axis=0)
    return reshaped(m, count, shape)
