"""Define NumPy's reductions by a ufunc, with NumPy's dtypes.

An `Algebra` describes how a ufunc reduces. Elements that `where` leaves out are replaced by the identity, and `initial`
is combined with the result. A ufunc without identity uses `initial` in place of these elements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...ir.dims import Size
from ...ir.dtypes import BOOL, WEAK, DType
from ...ir.errors import OverflowProblem, ShapeProblem, TypeProblem, ValueProblem
from ...ir.graph import Value
from ...ir.ops import BROADCAST, TABLE, WHERE, OpDef
from ...ir.records import record
from ...ir.rules import shown
from ...ir.types import Sizes
from ..maker import ABSENT, Maker, Operand, as_dtype, number_of
from ..memory import converted
from ..sizes import guard_at_least
from ..weak import take
from .arrays import array_of
from .axes import axes_of, flag
from .complex_order import ORDERED, extreme
from .conversion import assigned
from .elementwise import Make

ADD, MUL, SUB, POSITIVE, LOGICAL_OR, LOGICAL_NOT, NOT_EQUAL, SIGNBIT = (
    TABLE[n] for n in ("add", "mul", "sub", "positive", "logical_or", "logical_not", "ne", "signbit")
)


@record
class Algebra:
    """How a ufunc reduces: its op over axes, its op on two numbers, and its identity."""

    ufunc: str
    over: OpDef
    combine: OpDef
    identity: int | None

    @property
    def is_logical(self) -> bool:
        return self.ufunc.startswith("logical")


def _algebra(ufunc: str, over: str, combine: str, identity: int | None) -> Algebra:
    return Algebra(ufunc, TABLE[over], TABLE[combine], identity)


ALGEBRAS: Mapping[str, Algebra] = {
    a.ufunc: a
    for a in (
        _algebra("add", "sum", "add", 0), _algebra("multiply", "prod", "mul", 1),
        _algebra("minimum", "min", "minimum", None), _algebra("maximum", "max", "maximum", None),
        _algebra("fmin", "reduce_fmin", "fmin", None), _algebra("fmax", "reduce_fmax", "fmax", None),
        _algebra("logical_or", "any", "logical_or", 0), _algebra("logical_and", "all", "logical_and", 1),
        _algebra("logical_xor", "reduce_xor", "logical_xor", 0),
        _algebra("bitwise_or", "reduce_or", "bitwise_or", 0), _algebra("bitwise_and", "reduce_and", "bitwise_and", -1),
        _algebra("bitwise_xor", "reduce_xor", "bitwise_xor", 0),
    )
}  # fmt: skip
PLUS, TIMES, LEAST, MOST = (ALGEBRAS[name] for name in ("add", "multiply", "minimum", "maximum"))


def reduced(m: Maker, algebra: Algebra, a: Operand, axis: object = None, dtype: object = None,
            keepdims: object = False, initial: object = ABSENT, where: object = True) -> Value:  # fmt: skip
    """Apply `ufunc.reduce`."""
    x = array_of(m, a)
    axes, keep = axes_of(m, axis, x.type.rank), flag(m, keepdims, "keepdims")
    algebra, x, wanted = in_dtype(m, algebra, x, dtype)
    start = None if initial is ABSENT or initial is None else scalar_in(m, initial, wanted)
    if algebra is PLUS and _may_be_negative_zero(initial, wanted):
        return _signed_sum(m, x, axes, keep, wanted, start, where)
    if where is not True:
        x = _masked(m, algebra, x, where, start)
    if (algebra.identity is None or initial is None) and not guard_nonempty(m, x, axes):
        if start is None:
            raise _without_identity(m, algebra)
        return _filled(m, algebra, start, _kept_shape(x, axes, keep))
    total = m.cast(over_axes(m, algebra.over, x, axes, keep), wanted)
    return total if start is None else m.op(algebra.combine, total, start)


def _signed_sum(m: Maker, x: Value, axes: Sequence[int], keepdims: bool, wanted: DType, start: Value | None,
                where: object) -> Value:  # fmt: skip
    """Sum up from a start that may be -0.0, or from the first element.

    Elements that are all -0.0 leave the start as it is.
    """
    if wanted.kind == "complex":
        raise m.refuse("a complex sum whose result may be -0.0")
    if start is None and not guard_nonempty(m, x, axes):
        raise _without_identity(m, PLUS)
    zero = take(m, -0.0, wanted)
    if where is not True:
        x = m.op(WHERE, mask_in(m, where, x.type.shape), x, zero)
    changes = m.op(LOGICAL_OR, m.op(NOT_EQUAL, x, zero), m.op(LOGICAL_NOT, m.op(SIGNBIT, x)))
    total = m.cast(over_axes(m, PLUS.over, x, axes, keepdims), wanted)
    signed = m.op(WHERE, over_axes(m, ALGEBRAS["logical_or"].over, changes, axes, keepdims), total, zero)
    return m.op(ADD, signed, zero if start is None else start)


def _without_identity(m: Maker, algebra: Algebra) -> ValueProblem:
    return ValueProblem(
        f"zero-size array to reduction operation {algebra.ufunc} which has no identity", m.span,
        "give a start value: initial=...",
    )  # fmt: skip


def over_axes(m: Maker, op: OpDef, x: Value, axes: Sequence[int], keepdims: bool) -> Value:
    """Reduce over axes. Without axes only the dtype changes, and the result is a new array, as in NumPy."""
    if axes and op in ORDERED and x.type.dtype.kind == "complex":
        return extreme(m, op, x, axes, keepdims)
    if axes:
        return m.builder.op(op, x, span=m.span, axes=tuple(axes), keepdims=keepdims)
    (dtype,), _ = op.dtypes((x.type.dtype,), {})
    same = m.cast(x, dtype)
    if op is PLUS.over and not dtype.is_integer:
        return m.op(ADD, same, 0.0)  # a sum starts from 0.0, which turns -0.0 into 0.0
    if op is TIMES.over and dtype.kind == "complex":
        return m.op(MUL, same, 1.0)  # a product starts from 1, which changes complex infinities
    return m.op(LOGICAL_OR, same, same) if dtype == BOOL else m.op(POSITIVE, same)


def in_dtype(m: Maker, algebra: Algebra, x: Value, asked: object) -> tuple[Algebra, Value, DType]:
    """Return the algebra for a `dtype` argument, the array in that dtype, and the dtype of the result.

    Small integers are summed in 64 bits unless another dtype is requested. If bool is requested, the sum is a logical
    or.
    """
    wanted = None if asked is None else as_dtype(asked, m.span)
    if algebra.is_logical:
        if wanted not in (None, BOOL):
            hint = f"{algebra.ufunc} gives bool; convert the result"
            raise TypeProblem(
                f"No loop matching the specified signature and casting was found for ufunc {algebra.ufunc}",
                m.span, hint,
            )  # fmt: skip
        return algebra, m.cast(x, BOOL), BOOL
    if wanted is None:
        return algebra, x, algebra.over.dtypes((x.type.dtype,), {})[1][0]
    if wanted == BOOL and algebra in (PLUS, TIMES):
        algebra = ALGEBRAS["logical_or" if algebra is PLUS else "logical_and"]
    return algebra, m.cast(x, wanted), wanted


def _masked(m: Maker, algebra: Algebra, x: Value, where: object, start: Value | None) -> Value:
    if algebra.identity is not None:
        return m.op(WHERE, mask_in(m, where, x.type.shape), x, identity_in(m, algebra, x.type.dtype.strong))
    if start is None:
        raise ValueProblem(
            f"reduction operation '{algebra.ufunc}' does not have an identity, so to use a where mask one has to "
            "specify 'initial'", m.span,
        )  # fmt: skip
    return m.op(WHERE, mask_in(m, where, x.type.shape), x, start)


def identity_in(m: Maker, algebra: Algebra, dtype: DType) -> Value:
    """Return the identity in a dtype; -1 means all bits."""
    assert algebra.identity is not None
    number = (1 << dtype.bits) - 1 if algebra.identity == -1 and dtype.kind == "uint" else algebra.identity
    return take(m, number, dtype)


def _filled(m: Maker, algebra: Algebra, start: Value, shape: tuple[Size, ...]) -> Value:
    same = m.op(algebra.combine, start, start)  # a scalar where the result has no dimensions
    return m.builder.op(BROADCAST, same, span=m.span, shape=Sizes(shape)) if shape else same


def _kept_shape(x: Value, axes: Sequence[int], keepdims: bool) -> tuple[Size, ...]:
    pairs = enumerate(x.type.shape)
    return tuple(1 if i in axes else size for i, size in pairs if keepdims or i not in axes)


def _may_be_negative_zero(start: object, dtype: DType) -> bool:
    """Tell whether a sum from this start may be -0.0; None means that it starts from the first element."""
    if start is ABSENT or dtype.kind not in ("float", "complex"):
        return False
    number = number_of(start)
    if number is None:
        return start is None or (isinstance(start, Value) and start.type.dtype.kind in ("float", "complex"))
    parts = (number.real, number.imag) if isinstance(number, complex) else (number,)
    return any(isinstance(part, float) and part == 0 and bool(np.signbit(part)) for part in parts)


# -- the arguments `initial` and `where`


def scalar_in(m: Maker, x: object, dtype: DType) -> Value:
    """Convert an argument that is one number to a dtype; a Python integer must fit."""
    if type(x) is float and dtype.is_integer:
        x = _truncated(m, x)
    if type(x) is complex and dtype.kind not in ("complex", "bool"):
        raise TypeProblem(f"'initial' must be a real number for a result of {dtype}, not {x}", m.span)
    if type(x) is int:
        return assigned(m, x, dtype)
    if type(x) in (bool, float, complex):
        return take(m, x, dtype)  # type: ignore[arg-type]
    value = m.lift(x)  # type: ignore[arg-type]
    if value.type.rank:
        raise ValueProblem("setting an array element with a sequence.", m.span, "'initial' must be a single number")
    if value.type.dtype == WEAK["complex"] and dtype.kind not in ("complex", "bool"):
        raise TypeProblem(f"'initial' must be a real number for a result of {dtype}, not a complex one", m.span)
    return assigned(m, value, dtype)


def _truncated(m: Maker, x: float) -> int:
    try:
        return int(x)
    except ValueError as error:
        raise ValueProblem(str(error), m.span) from error
    except OverflowError as error:
        raise OverflowProblem(str(error), m.span) from error


def mask_in(m: Maker, where: object, shape: Sequence[Size]) -> Value:
    """Convert a `where` argument to bools that broadcast to a shape."""
    if where is None or isinstance(where, (bool, int, float, complex)):
        return m.builder.constant(bool(where), span=m.span)
    mask = array_of(m, where)  # type: ignore[arg-type]
    have = mask.type.dtype
    if have != BOOL and not have.weak and not isinstance(where, (tuple, list)):
        raise TypeProblem(
            f"Cannot cast array data from dtype('{have.numpy}') to dtype('bool') according to the rule 'safe'",
            m.span, "compare it with 0",
        )  # fmt: skip
    broadcast = m.builder.facts.broadcast([tuple(shape), mask.type.shape], m.span)
    if len(broadcast) != len(shape) or not all(map(m.builder.facts.same, broadcast, shape)):
        raise ShapeProblem(
            f"'where' has shape {shown(mask.type.shape)}, which can't be broadcast to {shown(shape)}", m.span,
            "give it a shape that broadcasts to the array's",
        )  # fmt: skip
    return m.cast(mask, BOOL)


def guard_nonempty(m: Maker, x: Value, axes: Sequence[int]) -> bool:
    """Tell whether there is something to reduce over these axes. A graph that relies on an empty axis gets a guard."""
    facts = m.builder.facts
    for axis in axes:
        if not guard_at_least(facts, x.type.shape[axis], 1):
            facts.assume_equal(x.type.shape[axis], 0)
            return False
    return True


# -- the functions


def _total(algebra: Algebra) -> Make:
    def make(m: Maker, a: Operand, axis: object = None, dtype: object = None, out: None = None,
             keepdims: object = False, initial: object = ABSENT, where: object = True) -> Value:  # fmt: skip
        return reduced(m, algebra, a, axis, dtype, keepdims, initial, where)

    return make


def extreme_by(algebra: Algebra) -> Make:
    """Define a function such as `min` by the algebra of its ufunc."""

    def make(m: Maker, a: Operand, axis: object = None, out: None = None, keepdims: object = False,
             initial: object = ABSENT, where: object = True) -> Value:  # fmt: skip
        return reduced(m, algebra, a, axis, None, keepdims, initial, where)

    return make


def _truth(algebra: Algebra) -> Make:
    def make(m: Maker, a: Operand, axis: object = None, out: None = None, keepdims: object = False, *,
             where: object = True) -> Value:  # fmt: skip
        return reduced(m, algebra, a, axis, None, keepdims, ABSENT, where)

    return make


def ptp(m: Maker, a: Operand, axis: object = None, out: None = None, keepdims: object = False) -> Value:
    most, least = (reduced(m, algebra, a, axis, None, keepdims) for algebra in (MOST, LEAST))
    return m.op(SUB, most, least)


def count_nonzero(m: Maker, a: Operand, axis: object = None, *, keepdims: object = False) -> Value:
    return reduced(m, PLUS, converted(m, a, BOOL), axis, None, keepdims)


REDUCTIONS: Mapping[str, Make] = {
    "sum": _total(PLUS), "prod": _total(TIMES), "min": extreme_by(LEAST), "max": extreme_by(MOST),
    "any": _truth(ALGEBRAS["logical_or"]), "all": _truth(ALGEBRAS["logical_and"]), "ptp": ptp,
    "count_nonzero": count_nonzero,
}  # fmt: skip
ALIASES = {"amin": "min", "amax": "max"}
