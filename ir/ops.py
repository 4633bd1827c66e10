"""The op table: every operation is one `OpDef`.

    >>> TABLE["add"].doc
    'Sum of two numbers.'

Backends keep a table from `OpDef` to what they make of it; a test demands that the tables are complete.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from types import MappingProxyType
from typing import Any

import numpy as np

from . import complexes, rules, structure
from .dtypes import WEAK_INT
from .rules import DTypeRule, ShapeRule


class Trait(Enum):
    """What passes and backends may rely on."""

    ELEMENTWISE = auto()  # an element of the result needs the elements at the same index
    REDUCTION = auto()
    VIEW = auto()  # an element of the result is an element of the operand
    COMMUTATIVE = auto()
    EXPENSIVE = auto()  # not worth computing twice
    SCALAR = auto()  # NumPy gives a scalar where the result has no dimensions
    BARRIER = auto()  # never part of a fused region
    STRUCTURAL = auto()  # passes and backends know this op by itself


@dataclass(frozen=True, eq=False)
class OpDef:
    """One operation. `numpy` is its meaning, on arrays and with the attributes as keywords."""

    name: str
    arity: int | None
    dtypes: DTypeRule
    shapes: ShapeRule
    traits: frozenset[Trait]
    doc: str
    numpy: Callable[..., Any] | None = None

    def __repr__(self) -> str:
        return f"OpDef({self.name})"


def _op(
    name: str,
    arity: int | None,
    dtypes: DTypeRule,
    shapes: ShapeRule,
    traits: str,
    doc: str,
    numpy: Callable[..., Any] | None = None,
) -> OpDef:
    return OpDef(name, arity, dtypes, shapes, frozenset(Trait[t.upper()] for t in traits.split()), doc, numpy)


def _ufunc(name: str, ufunc: np.ufunc, doc: str, traits: str = "") -> OpDef:
    return _op(
        name, ufunc.nin, rules.ufunc_dtypes(ufunc), rules.elementwise, f"elementwise scalar {traits}", doc, ufunc
    )


def _logical(name: str, ufunc: np.ufunc, doc: str, traits: str = "") -> OpDef:
    return _op(name, ufunc.nin, rules.logical_dtypes, rules.elementwise, f"elementwise scalar {traits}", doc, ufunc)


def _reduction(name: str, ufunc: np.ufunc, dtypes: DTypeRule, shapes: ShapeRule, doc: str) -> OpDef:
    def meaning(x: Any, axes: tuple[int, ...], keepdims: bool = False, **plan: Any) -> Any:
        return ufunc.reduce(x, axis=axes, keepdims=keepdims)

    return _op(name, 1, dtypes, shapes, "reduction scalar expensive", doc, meaning)


ELEMENTWISE = (
    _ufunc("add", np.add, "Sum of two numbers.", "commutative"),
    _ufunc("sub", np.subtract, "Difference of two numbers."),
    _ufunc("mul", np.multiply, "Product of two numbers.", "commutative"),
    _ufunc("div", np.true_divide, "Quotient; integers give floats."),
    _ufunc("floor_divide", np.floor_divide, "Largest whole number not above the quotient.", "expensive"),
    _ufunc("remainder", np.remainder, "What floor_divide leaves, with the sign of the divisor.", "expensive"),
    _ufunc("power", np.power, "First number to the power of the second.", "expensive"),
    _ufunc("neg", np.negative, "The number with its sign changed."),
    _ufunc("positive", np.positive, "The number itself."),
    _ufunc("abs", np.absolute, "Absolute value."),
    _ufunc("sign", np.sign, "-1, 0 or 1 by the sign of the number."),
    _ufunc("square", np.square, "The number times itself."),
    _ufunc("reciprocal", np.reciprocal, "One divided by the number."),
    _ufunc("sqrt", np.sqrt, "Square root.", "expensive"),
    _ufunc("exp", np.exp, "e to the power of the number.", "expensive"),
    _ufunc("exp2", np.exp2, "Two to the power of the number.", "expensive"),
    _ufunc("expm1", np.expm1, "e to the power of the number, minus 1, also near 0.", "expensive"),
    _ufunc("log", np.log, "Natural logarithm.", "expensive"),
    _ufunc("log2", np.log2, "Logarithm to base 2.", "expensive"),
    _ufunc("log10", np.log10, "Logarithm to base 10.", "expensive"),
    _ufunc("log1p", np.log1p, "Natural logarithm of 1 plus the number, also near 0.", "expensive"),
    _ufunc("cbrt", np.cbrt, "Cube root.", "expensive"),
    _ufunc("hypot", np.hypot, "Length of the vector with these two coordinates.", "expensive commutative"),
    _ufunc("sin", np.sin, "Sine of an angle in radians.", "expensive"),
    _ufunc("cos", np.cos, "Cosine of an angle in radians.", "expensive"),
    _ufunc("tan", np.tan, "Tangent of an angle in radians.", "expensive"),
    _ufunc("arcsin", np.arcsin, "Angle whose sine is the number.", "expensive"),
    _ufunc("arccos", np.arccos, "Angle whose cosine is the number.", "expensive"),
    _ufunc("arctan", np.arctan, "Angle whose tangent is the number.", "expensive"),
    _ufunc("arctan2", np.arctan2, "Angle of the point with this y and this x.", "expensive"),
    _ufunc("sinh", np.sinh, "Hyperbolic sine.", "expensive"),
    _ufunc("cosh", np.cosh, "Hyperbolic cosine.", "expensive"),
    _ufunc("tanh", np.tanh, "Hyperbolic tangent.", "expensive"),
    _ufunc("arcsinh", np.arcsinh, "Inverse hyperbolic sine.", "expensive"),
    _ufunc("arccosh", np.arccosh, "Inverse hyperbolic cosine.", "expensive"),
    _ufunc("arctanh", np.arctanh, "Inverse hyperbolic tangent.", "expensive"),
    _ufunc("floor", np.floor, "Largest whole number not above the number."),
    _ufunc("ceil", np.ceil, "Smallest whole number not below the number."),
    _ufunc("trunc", np.trunc, "Whole number towards zero."),
    _ufunc("rint", np.rint, "Nearest whole number, ties to even."),
    _ufunc("minimum", np.minimum, "The smaller number; NaN if one is NaN.", "commutative"),
    _ufunc("maximum", np.maximum, "The larger number; NaN if one is NaN.", "commutative"),
    _ufunc("eq", np.equal, "Whether two numbers are equal.", "commutative"),
    _ufunc("ne", np.not_equal, "Whether two numbers differ.", "commutative"),
    _ufunc("lt", np.less, "Whether the first number is smaller."),
    _ufunc("le", np.less_equal, "Whether the first number is not larger."),
    _ufunc("gt", np.greater, "Whether the first number is larger."),
    _ufunc("ge", np.greater_equal, "Whether the first number is not smaller."),
    _logical("logical_and", np.logical_and, "Whether both are true.", "commutative"),
    _logical("logical_or", np.logical_or, "Whether one is true.", "commutative"),
    _logical("logical_xor", np.logical_xor, "Whether exactly one is true.", "commutative"),
    _logical("logical_not", np.logical_not, "Whether it is not true."),
    _ufunc("bitwise_and", np.bitwise_and, "Bits set in both.", "commutative"),
    _ufunc("bitwise_or", np.bitwise_or, "Bits set in one of them.", "commutative"),
    _ufunc("bitwise_xor", np.bitwise_xor, "Bits set in exactly one.", "commutative"),
    _ufunc("invert", np.invert, "Every bit turned over."),
    _ufunc("left_shift", np.left_shift, "Bits moved to higher places."),
    _ufunc("right_shift", np.right_shift, "Bits moved to lower places."),
    _ufunc("isnan", np.isnan, "Whether it is NaN."),
    _ufunc("isinf", np.isinf, "Whether it is infinite."),
    _ufunc("isfinite", np.isfinite, "Whether it is neither infinite nor NaN."),
)

WHOLE_POWER = _op(
    "whole_power", 1, rules.whole_power_dtypes, rules.elementwise, "elementwise scalar",
    "The number to a small whole power, by multiplying.",
    lambda x, exponent: np.power(x, np.asarray(exponent, np.asarray(x).dtype)),
)  # fmt: skip
WHERE = _op(
    "where", 3, rules.where_dtypes, rules.elementwise, "elementwise",
    "The second where the first is true, else the third.", np.where,
)  # fmt: skip
CAST = _op(
    "cast", 1, rules.cast_dtypes, rules.elementwise, "elementwise", "The number as another dtype, as NumPy's astype.",
    lambda x, to: np.asarray(x).astype(to),
)  # fmt: skip

REDUCTIONS = (
    _reduction("sum", np.add, rules.accumulate_dtypes, rules.reduced, "Sum over axes."),
    _reduction("prod", np.multiply, rules.accumulate_dtypes, rules.reduced, "Product over axes."),
    _reduction("min", np.minimum, rules.keep_dtypes, rules.ordered, "Smallest over axes; NaN if one is NaN."),
    _reduction("max", np.maximum, rules.keep_dtypes, rules.ordered, "Largest over axes; NaN if one is NaN."),
    _reduction("any", np.logical_or, rules.logical_dtypes, rules.reduced, "Whether one over the axes is true."),
    _reduction("all", np.logical_and, rules.logical_dtypes, rules.reduced, "Whether all over the axes are true."),
    _reduction("reduce_fmin", np.fmin, rules.keep_dtypes, rules.ordered, "Smallest over axes that is not NaN."),
    _reduction("reduce_fmax", np.fmax, rules.keep_dtypes, rules.ordered, "Largest over axes that is not NaN."),
    _reduction("reduce_and", np.bitwise_and, rules.bitwise_dtypes, rules.reduced, "Bits set in all over the axes."),
    _reduction("reduce_or", np.bitwise_or, rules.bitwise_dtypes, rules.reduced, "Bits set in one over the axes."),
    _reduction("reduce_xor", np.bitwise_xor, rules.bitwise_dtypes, rules.reduced, "Bits set in an odd number of them."),
)
ARGMIN, ARGMAX = POSITIONS = (
    _op(
        "argmin", 1, structure.index_dtypes, structure.positions, "reduction scalar expensive",
        "Where the first smallest over axes is, in C order; the first NaN wins.",
        structure.position(np.argmin),
    ),
    _op(
        "argmax", 1, structure.index_dtypes, structure.positions, "reduction scalar expensive",
        "Where the first largest over axes is, in C order; the first NaN wins.",
        structure.position(np.argmax),
    ),
)  # fmt: skip


def _slice(x: Any, starts: tuple[int, ...], steps: tuple[int, ...], sizes: tuple[int, ...]) -> Any:
    index = []
    for start, step, size in zip(starts, steps, sizes, strict=True):
        stop = start + step * size
        index.append(slice(start, stop if stop >= 0 else None, step) if size else slice(0, 0))
    return np.asarray(x)[tuple(index)]


TRANSPOSE = _op(
    "transpose", 1, rules.same_dtypes, rules.transposed, "view", "Axes in another order.",
    lambda x, order: np.transpose(x, order),
)  # fmt: skip
SLICE = _op(
    "slice", 1, rules.same_dtypes, rules.sliced, "view", "Every step-th element from a start, on each axis.", _slice
)
RESHAPE = _op(
    "reshape", 1, rules.same_dtypes, rules.reshaped, "view", "The same elements in C order with another shape.",
    lambda x, shape, element=False, order=None: np.reshape(x, shape),
)  # fmt: skip
BROADCAST = _op(
    "broadcast", 1, rules.same_dtypes, rules.broadcast_to, "view", "Axes of size 1 repeated.",
    lambda x, shape: np.broadcast_to(x, shape),
)  # fmt: skip
CONSTANT = _op(
    "constant", 0, rules.own_dtype, rules.scalar, "elementwise", "A literal.",
    lambda value, dtype: np.asarray(value, dtype)[()],
)  # fmt: skip

IOTA = _op(
    "iota", 0, structure.index_dtypes, structure.numbered, "elementwise", "The index along an axis.", structure.iota
)
CONCATENATE = _op(
    "concatenate", None, structure.joined_dtypes, structure.joined, "structural", "Arrays one behind another.",
    lambda *pieces, axis: np.concatenate(pieces, axis),
)  # fmt: skip
GATHER = _op(
    "gather", None, structure.looked_up_dtypes, structure.looked_up, "structural scalar",
    "Elements looked up by index arrays; negative indices count from the end.", structure.gather,
)  # fmt: skip
SCAN = _op(
    "scan", 1, structure.scan_dtypes(lambda name: TABLE.get(name)), structure.scanned, "structural expensive",
    "Each element combined with all before it along an axis, one after another.",
    lambda x, combine, axis: structure.scan(x, TABLE[combine].numpy or _declared, axis),
)  # fmt: skip
STRUCTURAL = (CONCATENATE, GATHER, SCAN)


REAL = _op("real", 1, complexes.part_dtypes, rules.elementwise, "elementwise", "The real part.", np.real)
IMAG = _op("imag", 1, complexes.part_dtypes, rules.elementwise, "elementwise", "The imaginary part.", np.imag)
COMPLEX = _op(
    "complex", 2, complexes.whole_dtypes, rules.elementwise, "elementwise", "The number with these two parts.",
    complexes.whole,
)  # fmt: skip
COMPLEX_FUNCTION = _op(
    "complex_function", None, complexes.function_dtypes, rules.elementwise, "elementwise expensive",
    "One part of a function of numbers that are given by their parts.",
    complexes.function_part(lambda name: TABLE[name].numpy if name in TABLE else None),
)  # fmt: skip
IN_PARTS = (REAL, IMAG, COMPLEX, COMPLEX_FUNCTION)


def _size_dtype(operands: rules.DTypes, attrs: rules.Attrs) -> tuple[rules.DTypes, rules.DTypes]:
    return (), (WEAK_INT,)


SIZE = _op("size", 0, _size_dtype, rules.scalar, "elementwise", "A size as a number.", lambda size: np.int64(size[0]))


def _declared(operands: rules.DTypes, attrs: rules.Attrs) -> tuple[rules.DTypes, rules.DTypes]:
    raise TypeError("the maker of this node gives its types")


REGION = OpDef(
    "region", None, _declared, rules.scalar, frozenset({Trait.BARRIER}), "Operations that run as one loop nest."
)
NUMPY = OpDef(
    "numpy", None, _declared, rules.scalar, frozenset({Trait.BARRIER}), "A NumPy function without an op of ours."
)
DECLARED = frozenset((REGION, NUMPY))  # their maker gives the types, there is no rule for them

VIEWS = (TRANSPOSE, SLICE, RESHAPE, BROADCAST)

TABLE: Mapping[str, OpDef] = MappingProxyType(
    {
        op.name: op
        for op in (
            *ELEMENTWISE, WHOLE_POWER, WHERE, CAST, *REDUCTIONS, *POSITIONS, *VIEWS, *STRUCTURAL, *IN_PARTS, IOTA,
            CONSTANT, SIZE, REGION, NUMPY,
        )
    }
)  # fmt: skip
