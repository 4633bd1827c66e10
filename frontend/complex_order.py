"""Extremes of complex numbers by real ops: an array and axes in, the extreme or the places where it stands out.

Complex numbers are ordered by their real parts, and among equal ones by their imaginary parts. A number with a part
that is NaN is NaN; an extreme that is NaN is so in both parts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..ir.graph import Value
from ..ir.ops import ARGMIN, COMPLEX, IMAG, REAL, TABLE, WHERE, OpDef
from .maker import Maker
from .shaping import reshaped

ALL, MIN, MAX = (TABLE[name] for name in ("all", "min", "max"))
FMIN, FMAX = TABLE["reduce_fmin"], TABLE["reduce_fmax"]
EQUAL, IS_NAN, NOT, AND = (TABLE[name] for name in ("eq", "isnan", "logical_not", "logical_and"))
POSITIVE = TABLE["positive"]
ORDERED = frozenset((MIN, MAX, FMIN, FMAX))


@dataclass(frozen=True, slots=True)
class _Best:
    """The best real part, the best imaginary part beside it, and who has the first; all axes are kept."""

    real: Value
    imag: Value
    tied: Value
    nan: Value


def extreme(m: Maker, op: OpDef, x: Value, axes: Sequence[int], keepdims: bool) -> Value:
    """What `min`, `max`, `fmin` or `fmax` gives over axes."""
    skips = op in (FMIN, FMAX)
    best = _best(m, op in (MIN, FMIN), skips, x, axes)
    gone = _over(m, ALL, best.nan, axes) if skips else m.op(IS_NAN, best.real)
    whole = m.op(COMPLEX, *(m.op(WHERE, gone, math.nan, part) for part in (best.real, best.imag)))
    if not keepdims:
        whole = reshaped(m, whole, [size for k, size in enumerate(x.type.shape) if k not in axes])
    return m.op(POSITIVE, whole)  # a scalar where the result has no dimensions


def places(m: Maker, op: OpDef, x: Value, axes: Sequence[int]) -> Value:
    """Whether an element is what `argmin` or `argmax` looks for."""
    best = _best(m, op is ARGMIN, False, x, axes)
    found = m.op(AND, best.tied, m.op(EQUAL, m.op(IMAG, x), best.imag))
    return m.op(WHERE, m.op(IS_NAN, best.real), best.nan, found)


def _best(m: Maker, least: bool, skips: bool, x: Value, axes: Sequence[int]) -> _Best:
    over, worst = (MIN, math.inf) if least else (MAX, -math.inf)
    re, im, nan = m.op(REAL, x), m.op(IMAG, x), m.op(IS_NAN, x)
    real = _over(m, over, m.op(WHERE, nan, worst if skips else math.nan, re), axes)
    tied = m.op(AND, m.op(EQUAL, re, real), m.op(NOT, nan))
    return _Best(real, _over(m, over, m.op(WHERE, tied, im, worst), axes), tied, nan)


def _over(m: Maker, op: OpDef, x: Value, axes: Sequence[int]) -> Value:
    return m.builder.op(op, x, span=m.span, axes=tuple(axes), keepdims=True)
