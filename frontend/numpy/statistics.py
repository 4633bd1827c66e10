"""Define NumPy's means, averages, variances and standard deviations.

16-bit floats are computed in f32 and rounded once. A variance takes two passes: the mean, then the sum of the squared
distances d to it. From that, sum(d)**2 / n is subtracted, which corrects for the rounding of the mean. So the variance
is accurate even if the mean is large.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir import dims
from ...ir.complexes import PARTS
from ...ir.dims import Dim
from ...ir.dtypes import BF16, C64, C128, F16, F32, F64, DType
from ...ir.errors import DivisionByZero, ShapeProblem, TypeProblem, ValueProblem
from ...ir.graph import Value
from ...ir.ops import BROADCAST, DEMAND, IMAG, REAL, TABLE, WHERE
from ...ir.rules import promote, shown
from ...ir.types import Sizes
from ..maker import ABSENT, Maker, Operand, as_dtype, literal, number_of
from ..sizes import guard_equal
from .arrays import array_of, strong_array
from .axes import axes_of, flag, ordered_axes
from .elementwise import Make
from .reductions import ADD, MUL, PLUS, SUB, guard_nonempty, mask_in, reduced
from .shapes import reshaped, transpose

DIV, SQUARE, SQRT, MAXIMUM = (TABLE[name] for name in ("div", "square", "sqrt", "maximum"))
GREATER, NOT_EQUAL, IS_FINITE = TABLE["gt"], TABLE["ne"], TABLE["isfinite"]
HALVES = frozenset((F16, BF16))


def mean(m: Maker, a: Operand, axis: object = None, dtype: object = None, out: None = None,
         keepdims: object = False, *, where: object = True) -> Value:  # fmt: skip
    x = array_of(m, a)
    return averaged(m, x, axes_of(m, axis, x.type.rank, lenient=where is not True), dtype, keepdims, where)


def averaged(m: Maker, x: Value, axes: Sequence[int], dtype: object, keepdims: object, where: object) -> Value:
    """Compute the mean over valid axes."""
    inner = _inner(m, x.type.dtype, dtype)
    total = reduced(m, PLUS, x, tuple(axes), inner, keepdims, ABSENT, where)
    found = quotient(m, total, counted(m, x, axes, keepdims, where))
    return m.cast(found, x.type.dtype if dtype is None and x.type.dtype in HALVES else inner)


def counted(m: Maker, x: Value, axes: Sequence[int], keepdims: object, where: object) -> Operand:
    """Count the elements over the axes, or those that `where` keeps."""
    if where is True:
        return dims.product(x.type.shape[axis] for axis in axes)
    mask = m.builder.op(BROADCAST, mask_in(m, where, x.type.shape), span=m.span, shape=Sizes(x.type.shape))
    return reduced(m, PLUS, mask, tuple(axes), None, keepdims)


def quotient(m: Maker, total: Value, count: Operand) -> Value:
    """Divide a sum by a count. NumPy's count is an i64, so complex numbers are divided in c128."""
    return m.op(DIV, m.cast(total, C128) if total.type.dtype == C64 else total, count)


def _inner(m: Maker, have: DType, asked: object) -> DType:
    """Return the dtype that a mean is summed in: f64 for integers, f32 for halves."""
    if asked is not None:
        return as_dtype(asked, m.span)
    have = have.strong
    if have in HALVES:
        return F32
    return have if have.kind in ("float", "complex") else F64


# -- variances


def var(m: Maker, a: Operand, axis: object = None, dtype: object = None, out: None = None, ddof: Operand = 0,
        keepdims: object = False, *, where: object = True, mean: object = ABSENT,
        correction: object = ABSENT) -> Value:  # fmt: skip
    found, wanted = _variance(m, array_of(m, a), axis, dtype, ddof, keepdims, where, mean, correction)
    return m.cast(found, wanted)


def std(m: Maker, a: Operand, axis: object = None, dtype: object = None, out: None = None, ddof: Operand = 0,
        keepdims: object = False, *, where: object = True, mean: object = ABSENT,
        correction: object = ABSENT) -> Value:  # fmt: skip
    return root(m, *_variance(m, array_of(m, a), axis, dtype, ddof, keepdims, where, mean, correction))


def _variance(m: Maker, x: Value, axis: object, dtype: object, ddof: Operand, keepdims: object, where: object,
              mean: object, correction: object) -> tuple[Value, DType]:  # fmt: skip
    """Return a variance that is not yet rounded to the dtype of the result, and that dtype."""
    axes = axes_of(m, axis, x.type.rank, lenient=where is not True)
    lost = freedom_lost(m, ddof, correction)
    total, count, wanted = squared_distances(m, x, axes, dtype, keepdims, where, mean)
    return quotient(m, total, _freedom(m, count, lost)), wanted


def root(m: Maker, variance: Value, wanted: DType) -> Value:
    """Compute the standard deviation from an unrounded variance; NumPy refuses an integer dtype for arrays."""
    if wanted.kind not in ("float", "complex") and variance.type.rank:
        raise TypeProblem(
            f"Cannot cast ufunc 'sqrt' output from a float to dtype('{wanted.numpy}') with casting rule 'same_kind'",
            m.span, "pass a float dtype and convert the result",
        )  # fmt: skip
    return m.cast(m.op(SQRT, variance if wanted in HALVES else m.cast(variance, wanted)), wanted)


def freedom_lost(m: Maker, ddof: Operand, correction: object) -> Operand:
    """Read `ddof`, which the array API calls `correction`; a float is taken as f64, as in NumPy."""
    if correction is not ABSENT and number_of(ddof) != 0:
        raise ValueProblem("ddof and correction can't be provided simultaneously.", m.span, "leave one out")
    lost = ddof if correction is ABSENT else correction
    return m.cast(lost, F64) if isinstance(lost, float) else lost  # type: ignore[return-value]


def _freedom(m: Maker, count: Operand, lost: Operand) -> Operand:
    """Return the count minus the lost degrees of freedom, but at least 0."""
    if isinstance(count, (int, Dim)) and (number := literal(lost)) is not None:
        return dims.maximum(0, count - number)
    return m.op(MAXIMUM, m.op(SUB, count, lost), 0)


def squared_distances(m: Maker, x: Value, axes: Sequence[int], dtype: object, keepdims: object, where: object,
                      mean: object) -> tuple[Value, Operand, DType]:  # fmt: skip
    """Return the sum of the squared distances to the mean, the number of elements, and the dtype of their quotient."""
    have, own = x.type.dtype.strong, mean is ABSENT or mean is None
    inner = _inner(m, have, dtype)
    centre = averaged(m, x, axes, inner, True, where) if own else _fitting(m, x, mean)
    wanted = inner
    if dtype is None and have.kind in ("float", "complex"):
        together = have if own else promote((have, centre.type.dtype))
        wanted = PARTS[together] if have.kind == "complex" else together
    distances = m.op(SUB, m.cast(x, F32) if have in HALVES else x, centre)
    squares = _squares(m, distances) if have.kind == "complex" else m.op(SQUARE, distances)
    summed_in = F32 if wanted in HALVES and dtype is None else wanted
    total = reduced(m, PLUS, squares, tuple(axes), summed_in, keepdims, ABSENT, where)
    count = counted(m, x, axes, keepdims, where)
    if own and summed_in in (F32, F64) and have not in HALVES and (have.kind == "complex") == (inner.kind == "complex"):
        rest = reduced(m, PLUS, distances, tuple(axes), None, keepdims, ABSENT, where)
        total = _without_rest(m, total, rest, count)
    return total, count, wanted


def _fitting(m: Maker, x: Value, mean: object) -> Value:
    """Check a mean that the caller passes. NumPy would let its shape change that of the array, which is refused."""
    centre = array_of(m, mean)  # type: ignore[arg-type]
    shape = m.builder.facts.broadcast([x.type.shape, centre.type.shape], m.span)
    if len(shape) != x.type.rank or not all(map(m.builder.facts.same, shape, x.type.shape)):
        raise m.refuse(
            f"a mean of shape {shown(centre.type.shape)} can't be broadcast to an array of shape {shown(x.type.shape)}"
        )
    return centre


def _squares(m: Maker, distances: Value) -> Value:
    """Square the absolute values of complex numbers."""
    return m.op(ADD, *(m.op(SQUARE, m.op(part, distances)) for part in (REAL, IMAG)))


def _without_rest(m: Maker, total: Value, rest: Value, count: Operand) -> Value:
    """Subtract what the rounding of the mean has added to the sum of squares; infinities stay as they are."""
    parts = [m.op(part, rest) for part in (REAL, IMAG)] if rest.type.dtype.kind == "complex" else [rest]
    left = total
    for part in parts:
        left = m.op(SUB, left, m.op(MUL, m.op(DIV, part, count), part))
    left = m.cast(left, total.type.dtype)
    none = m.op(WHERE, m.op(IS_FINITE, total), 0.0, total)
    return m.op(WHERE, m.op(GREATER, left, 0.0), left, none)


# -- averages


def average(m: Maker, a: Operand, axis: object = None, weights: object = None, returned: object = False, *,
            keepdims: object = False) -> Value | tuple[Value, ...]:  # fmt: skip
    x = array_of(m, a)
    axes = None if axis is None else ordered_axes(m, axis, x.type.rank)
    found, scale = _unweighted(m, x, axes, keepdims) if weights is None else _weighted(m, x, axes, weights, keepdims)
    if not flag(m, returned, "returned"):
        return found
    if scale.type.shape != found.type.shape:
        scale = m.builder.op(BROADCAST, scale, span=m.span, shape=Sizes(found.type.shape))
    return found, scale


def _unweighted(m: Maker, x: Value, axes: Sequence[int] | None, keepdims: object) -> tuple[Value, Value]:
    over = sorted(range(x.type.rank) if axes is None else axes)
    found = averaged(m, x, over, None, keepdims, True)
    if not guard_nonempty(m, found, range(found.type.rank)):
        raise DivisionByZero("division by zero", m.span, "there are no rows to average")
    return found, m.op(TABLE["positive"], m.cast(counted(m, x, over, False, True), found.type.dtype))


def _weighted(m: Maker, x: Value, axes: Sequence[int] | None, weights: object, keepdims: object) -> tuple[Value, Value]:
    wanted, weight = x.type.dtype, _weights_for(m, x, strong_array(m, weights), axes)
    dtype = promote((wanted, weight.type.dtype, *(() if wanted.kind in ("float", "complex") else (F64,))))
    over = None if axes is None else tuple(axes)
    scale = reduced(m, PLUS, weight, over, dtype, keepdims)
    scale = m.op(
        DEMAND, scale, m.op(NOT_EQUAL, scale, 0), error=DivisionByZero.__name__,
        message="Weights sum to zero, can't be normalized",
    )  # fmt: skip
    total = reduced(m, PLUS, m.op(MUL, m.cast(x, dtype), m.cast(weight, dtype)), over, None, keepdims)
    return m.op(DIV, total, scale), scale


def _weights_for(m: Maker, x: Value, weight: Value, axes: Sequence[int] | None) -> Value:
    """Reshape weights of all elements, or those along the named axes, so that they broadcast."""
    shape, facts = x.type.shape, m.builder.facts
    if len(weight.type.shape) == len(shape) and all(
        guard_equal(facts, a, b) for a, b in zip(weight.type.shape, shape, strict=True)
    ):
        return weight
    if axes is None:
        hint = f"the array has shape {shown(shape)}, the weights {shown(weight.type.shape)}"
        raise TypeProblem("Axis must be specified when shapes of a and weights differ.", m.span, hint)
    along = tuple(shape[axis] for axis in axes)
    if len(along) != weight.type.rank or not all(
        guard_equal(facts, a, b) for a, b in zip(weight.type.shape, along, strict=True)
    ):
        hint = f"the weights have shape {shown(weight.type.shape)} but must have {shown(along)}"
        raise ShapeProblem("Shape of weights must be consistent with shape of a along specified axis.", m.span, hint)
    turned = transpose(m, weight, tuple(sorted(range(len(axes)), key=lambda k: axes[k])))
    return reshaped(m, turned, [size if k in axes else 1 for k, size in enumerate(shape)])


STATISTICS: Mapping[str, Make] = {"mean": mean, "var": var, "std": std, "average": average}
